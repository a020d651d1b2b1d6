//! What is written is read as the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_artifact::terms::{TermTable, read_terms};
use coreach_artifact::types::{TypeTable, read_types};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::{Comparison, Operator};
use coreach_model::term::{Substitution, substitute};
use coreach_model::types::{ArrayType, EnumType, RecordType};
use coreach_model::{Datum, Term, Type, Value};
use std::sync::Arc;

/// A term of each kind of node, over data of each type.
pub fn one_of_each() -> Vec<Term> {
    let colour = Type::Enum(Arc::new(EnumType {
        name: "Colour".to_owned(),
        literals: vec!["RED".to_owned(), "BLUE".to_owned()],
    }));
    let floor = Type::Range((-2).into(), 9.into());
    let cells = Type::Array(Arc::new(ArrayType { index: floor.clone(), element: Type::Nat }));
    let fields = vec![
        ("kind".to_owned(), colour.clone()),
        ("load".to_owned(), Type::Real),
        ("on".to_owned(), Type::Bool),
    ];
    let parcel = Type::Record(Arc::new(RecordType {
        name: "Parcel".to_owned(),
        fields,
        form: coreach_model::types::RecordForm::Plain,
    }));
    let datum = |name: &str, ty: &Type| Term::datum(&Datum::new(name, ty.clone()));
    let (b, i, n, r) =
        (datum("b", &Type::Bool), datum("i", &Type::Int), datum("n", &Type::Nat), datum("r", &Type::Real));
    let (c, f, a, p) = (datum("c", &colour), datum("f", &floor), datum("a", &cells), datum("p", &parcel));
    let big = Term::literal(Value::Int("170141183460469231731687303715884105729".parse().unwrap()));
    let third = Term::arithmetic(Operator::Divide, &Term::int(1), &Term::int(3));
    let mut terms = vec![
        Term::equal(&i, &big),
        Term::compare(Comparison::Less, &r, &third),
        Term::equal(&c, &Term::literal(Value::any(&colour))),
        Term::equal(&a, &Term::literal(Value::any(&cells))),
        Term::equal(&p, &Term::literal(Value::any(&parcel))),
        b.not(),
        Term::or_with_premises([b.not(), Term::equal(&i, &n)], 1),
        Term::field(&p, 2).not(),
        Term::compare(Comparison::NotEqual, &Term::select(&a, &f), &n),
        Term::equal(&Term::store(&a, &f, &n), &a),
        Term::compare(Comparison::Greater, &Term::field(&p, 1), &i.to_real()),
        Term::equal(&Term::if_then_else(&b, &i, &n).negate(), &f),
    ];
    for operator in
        [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::IntegerDivide, Operator::Modulo]
    {
        terms.push(Term::compare(Comparison::AtMost, &Term::arithmetic(operator, &i, &n), &f));
    }
    terms.push(Term::compare(
        Comparison::AtLeast,
        &Term::arithmetic(Operator::Divide, &r, &Term::field(&p, 1)),
        &r,
    ));
    if let Type::Record(of) = &parcel {
        terms.push(Term::equal(&p, &Term::record(of, [c, Term::add(&r, &third), b.clone()])));
    }
    let fields = vec![("on".to_owned(), Type::Bool), ("at".to_owned(), floor.clone())];
    let alternatives = [("SOME".to_owned(), fields), ("NONE".to_owned(), Vec::new())];
    for (name, of) in [
        ("q", RecordType::list(2, &floor)),
        ("o", RecordType::option(&parcel)),
        ("v", RecordType::variant("V", &alternatives)),
    ] {
        let ty = Type::Record(Arc::new(of));
        terms.push(Term::equal(&datum(name, &ty), &Term::literal(Value::any(&ty))));
    }
    terms.push(Term::or([Term::and(terms[..4].to_vec()), Term::and(terms[5..8].to_vec()), b]));
    terms
}

#[test]
fn each_kind_of_term_is_read_as_it_was_written() {
    let terms = one_of_each();
    let (mut table, mut types) = (TermTable::default(), TypeTable::default());
    let numbers: Vec<usize> = terms.iter().map(|term| table.number(term)).collect();
    let text = serde_json::to_string(&(table.nodes(&mut types), types.nodes())).unwrap();
    let (nodes, types): (Vec<_>, Vec<_>) = serde_json::from_str(&text).unwrap();
    let read = read_terms(&nodes, &read_types(&types).unwrap()).unwrap();
    let same: Vec<Term> = numbers.into_iter().map(|number| read[number].clone()).collect();
    assert_eq!(same, terms);
}

/// Forty doublings: as text this is a million million letters.
#[test]
fn what_is_shared_is_written_once() {
    let mut term = Term::datum(&Datum::new("x", Type::Int));
    for _ in 0..40 {
        term = Term::multiply(&term, &term);
    }
    let mut table = TermTable::default();
    table.number(&term);
    assert_eq!((table.terms().len(), table.height()), (41, 40));
}

#[test]
fn a_term_that_is_too_deep_for_a_stack_is_refused() {
    let datum = Term::datum(&Datum::new("x", Type::Int));
    let mut term = datum.clone();
    for _ in 0..5_000 {
        term = Term::multiply(&datum, &term.negate());
    }
    let (mut table, mut types) = (TermTable::default(), TypeTable::default());
    table.number(&term);
    let nodes = table.nodes(&mut types);
    let error = read_terms(&nodes, types.types()).unwrap_err();
    assert!(error.to_string().contains("deep"), "{error}");
}

/// Whoever runs a test case walks its terms on a stack, which is 8 MB in a program's first thread.
#[test]
fn the_highest_term_that_is_read_can_be_walked() {
    let datum = Datum::new("x", Type::Int);
    let mut term = Term::datum(&datum);
    for step in 0..490 {
        term = match step % 2 {
            0 => Term::multiply(&Term::datum(&datum), &term),
            _ => term.negate(),
        };
    }
    let term = Term::compare(Comparison::Greater, &term, &Term::int(-1));
    let (mut table, mut types) = (TermTable::default(), TypeTable::default());
    table.number(&term);
    let read = read_terms(&table.nodes(&mut types), types.types()).unwrap().pop().unwrap();
    let walk = move || {
        let one = Substitution::from([(datum.clone(), Term::add(&Term::datum(&datum), &Term::int(1)))]);
        let valuation: Valuation = [(datum.clone(), Value::int(1))].into();
        let text = read.to_string();
        (evaluate(&substitute(&read, &one).not(), &valuation).is_ok(), read.data().len(), text.len())
    };
    let walked = std::thread::Builder::new().stack_size(8 << 20).spawn(walk).unwrap();
    let (has_value, data, length) = walked.join().unwrap();
    assert!(has_value && data == 1 && length > 490, "{has_value} {data} {length}");
}
