//! Functions over terms cost what is shared, not what is written: each is given a term of sixty levels, of
//! which written out there are 2^60 nodes. One that forgets what it has seen does not come back.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use coreach_analyses::solver::smtlib;
use coreach_model::iosts::{Iosts, Transition, TransitionOrigin};
use coreach_model::obligation::{defined, enabling_condition, obligations};
use coreach_model::reader::read_specification;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::Operator;
use coreach_model::term::{Substitution, substitute};
use coreach_model::types::{RecordType, Type};
use coreach_model::writer::write_yaml;
use coreach_model::{Datum, SourceFile, Term, TransitionId, Value};
use coreach_pipeline::Stage;
use coreach_pipeline::export::{self, Format, View};
use coreach_pipeline::stop::{ShownTransition, Stop, check_writable};

const LEVELS: usize = 60;

fn x() -> Datum {
    Datum::new("x", Type::Int)
}

fn y() -> Datum {
    Datum::new("y", Type::Int)
}

/// Sixty levels of an operation on a term and itself.
fn levels(first: &Term, step: impl Fn(&Term, usize) -> Term) -> Term {
    (0..LEVELS).fold(first.clone(), |term, level| step(&term, level))
}

/// A number; each level takes both of its operands from the one below.
fn shared_number() -> Term {
    levels(&Term::datum(&x()), |term, _| Term::subtract(&Term::multiply(term, &Term::datum(&y())), term))
}

/// A condition; each level is a choice between the one below and its negation.
fn shared_condition() -> Term {
    let first = Term::equal(&Term::datum(&x()), &Term::datum(&y()));
    levels(&first, |term, level| {
        let flag = Term::datum(&Datum::new(format!("b{level}"), Type::Bool));
        Term::if_then_else(
            &flag,
            &Term::and([term.clone(), Term::equal(&Term::datum(&x()), &Term::int(level as i64))]),
            &term.not(),
        )
    })
}

/// A number under divisions, each of which must be defined.
fn shared_quotient() -> Term {
    levels(&Term::datum(&x()), |term, _| {
        Term::arithmetic(Operator::IntegerDivide, term, &Term::add(term, &Term::datum(&y())))
    })
}

fn terms() -> Vec<Term> {
    vec![shared_number(), shared_condition(), shared_quotient()]
}

fn transition(term: &Term) -> Transition {
    let value = (*term.sort() == Type::Int).then(|| (x(), term.clone()));
    let guard = match *term.sort() == Type::Bool {
        true => term.clone(),
        false => Term::equal(term, &Term::int(7)),
    };
    Transition {
        source: coreach_model::LocationId(0),
        action: coreach_model::ActionId(0),
        guard,
        assignments: value.into_iter().collect::<Substitution>(),
        target: coreach_model::LocationId(0),
        origin: TransitionOrigin::default(),
    }
}

fn machine(transition: Transition) -> Iosts {
    let text = "iosts: m\nvariables: { x: int, y: int }\ninitial: { location: l, condition: x == 0 && y == 0 }\n\
                outputs: { done: {} }\ntransitions:\n  - { from: l, to: l, on: done }\n";
    let file = std::sync::Arc::new(SourceFile { name: "m".to_owned(), text: text.to_owned() });
    let mut iosts = read_specification(file).unwrap().0.iosts;
    iosts.transitions = vec![transition].into();
    iosts
}

#[test]
fn terms_are_walked_by_what_they_share() {
    for term in terms() {
        assert!(term.written_size() > 1 << 50, "not shared enough");
        assert!(term.to_string().len() < 1_000 && format!("{term:?}").len() < 1_000, "text is cut");
        assert!(term.data().len() >= 2);
        assert!(term.mentions(&x()) && !term.mentions(&Datum::new("z", Type::Int)));
        let swapped: Substitution = [(x(), Term::datum(&y())), (y(), Term::datum(&x()))].into();
        let there = substitute(&term, &swapped);
        assert_ne!(there, term);
        assert_eq!(substitute(&there, &swapped), term);
        assert_eq!(there.cmp(&term), term.cmp(&there).reverse());
        let mut valuation: Valuation = [(x(), Value::int(1)), (y(), Value::int(1))].into();
        valuation.extend(
            (0..LEVELS)
                .map(|level| (Datum::new(format!("b{level}"), Type::Bool), Value::Bool(level % 2 == 0))),
        );
        evaluate(&term, &valuation).unwrap();
        if *term.sort() == Type::Bool {
            assert_eq!(term.not().not(), term);
            assert_ne!(holds(&term, &valuation), holds(&term.not(), &valuation));
        }
    }
}

#[test]
fn a_field_of_shared_cases() {
    let record = Type::Record(std::sync::Arc::new(RecordType {
        name: "r".to_owned(),
        fields: vec![("f".to_owned(), Type::Int)],
        form: coreach_model::types::RecordForm::Plain,
    }));
    let first = Term::datum(&Datum::new("r", record.clone()));
    let second = Term::datum(&Datum::new("s", record));
    let cases = |one: &Term, other: &Term, level: usize| {
        Term::if_then_else(&Term::datum(&Datum::new(format!("b{level}"), Type::Bool)), one, other)
    };
    let (mut a, mut b) = (first, second);
    for level in 0..LEVELS {
        (a, b) = (cases(&a, &b, 2 * level), cases(&b, &a, 2 * level + 1));
    }
    assert!(Term::field(&a, 0).written_size() > 1 << 50);
}

#[test]
fn obligations_are_stated_by_what_is_shared() {
    for term in terms() {
        defined(&term);
        let transition = transition(&term);
        enabling_condition(&transition);
        obligations(&transition);
    }
    assert!(!defined(&shared_quotient()).is_true());
}

#[test]
fn smt_lib_binds_what_is_shared() {
    for term in terms() {
        assert!(smtlib::term_to_smtlib(&term).len() < 20_000);
        let condition = transition(&term).guard;
        assert!(smtlib::script(&[condition]).len() < 40_000);
        smtlib::declarations(std::slice::from_ref(&term));
        smtlib::type_constraints(&[term]);
    }
}

#[test]
fn exports_and_messages_are_cut() {
    for term in terms() {
        let transition = transition(&term);
        assert!(matches!(
            check_writable(Stage::Close, &transition, &Default::default()),
            Err(Stop::TooMany { stage: Stage::Close, .. })
        ));
        let iosts = machine(transition);
        assert!(ShownTransition::transition(&iosts, &iosts.transitions[TransitionId(0)]).text.len() < 3_000);
        assert!(write_yaml(&iosts, &[]).len() < 10_000);
        let view = View::of_specification(&iosts);
        for format in [Format::Dot, Format::Json, Format::Yaml] {
            let text =
                export::export(&view, format, export::ExportOptions { facts: true, ..Default::default() })
                    .unwrap();
            assert!(text.len() < 100_000, "{format}: {}", text.len());
        }
    }
}
