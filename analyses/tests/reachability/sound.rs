//! *Soundness*: every concrete state is in the abstract value that should contain it, on random models.
//!
//! A model is decoded from random numbers, so that the property tester can shrink it. It has every kind of
//! datum and of operation, those that no domain understands included.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coreach_analyses::domains::any::AnyDomain;
use coreach_analyses::domains::both::Both;
use coreach_analyses::domains::interval::Intervals;
use coreach_analyses::domains::octagon::Octagons;
use coreach_analyses::facts::FactWriter;
use coreach_analyses::places::Arrays;
use coreach_analyses::reachability::{Facts, Thresholds, analyse_in};
use coreach_analyses::summaries::for_all;
use coreach_analyses::transfer::Abstraction;
use coreach_analyses::{Analysis, DomainKind, analyse};
use coreach_model::iosts::Iosts;
use coreach_model::semantics::{State, fire};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::Operator;
use coreach_model::types::{ArrayType, EnumType, RecordType};
use coreach_model::value::tuples;
use coreach_model::{Datum, LocationId, Term, Type, Value};
use proptest::prelude::*;

use super::build::{Builder, cmp, t};

/// Decisions, drawn from a list of numbers; zeros when it is used up.
struct Choices<'a>(std::slice::Iter<'a, u16>);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next().map_or(0, |number| usize::from(*number) % bound)
    }
}

struct Data {
    constants: Vec<Datum>,
    variables: Vec<Datum>,
    parameters: Vec<Datum>,
}

fn data() -> Data {
    let colour = Type::Enum(Arc::new(EnumType {
        name: "Colour".to_owned(),
        literals: ["RED", "GREEN", "BLUE"].map(str::to_owned).to_vec(),
    }));
    let pair = RecordType {
        name: "Pair".to_owned(),
        fields: vec![("number".to_owned(), Type::Nat), ("flag".to_owned(), Type::Bool)],
        form: coreach_model::types::RecordForm::Plain,
    };
    let array = ArrayType { index: Type::Range(0.into(), 1.into()), element: Type::Int };
    let flags = ArrayType { index: Type::Range(0.into(), 2.into()), element: Type::Bool };
    // Its cells are no places of an analysis.
    let large = ArrayType { index: Type::Nat, element: Type::Range(0.into(), 3.into()) };
    Data {
        constants: vec![Datum::new("c", Type::Range(0.into(), 2.into())), Datum::new("k", Type::Bool)],
        variables: vec![
            Datum::new("x", Type::Int),
            Datum::new("n", Type::Nat),
            Datum::new("b", Type::Bool),
            Datum::new("e", colour.clone()),
            Datum::new("r", Type::Record(Arc::new(pair))),
            Datum::new("a", Type::Array(Arc::new(array))),
            Datum::new("g", Type::Array(Arc::new(large))),
            Datum::new("y", Type::Real),
            Datum::new("h", Type::Array(Arc::new(flags))),
        ],
        parameters: vec![
            Datum::new("p", Type::Range((-2).into(), 2.into())),
            Datum::new("q", Type::Bool),
            Datum::new("s", colour),
        ],
    }
}

struct Terms<'a> {
    data: &'a Data,
    with_parameters: bool,
}

impl Terms<'_> {
    fn datum(&self, name: &str) -> Term {
        let d = self.data;
        let all = d.constants.iter().chain(&d.variables).chain(&d.parameters);
        t(all.into_iter().find(|datum| datum.name() == name).expect("a datum of the model"))
    }

    fn number(&self, from: &mut Choices, depth: usize) -> Term {
        let kinds = if depth == 0 { 6 } else { 13 };
        match from.below(kinds) {
            0 => Term::int(from.below(5) as i64 - 1),
            1 => self.datum("x"),
            2 => self.datum("n"),
            3 => self.datum("c"),
            4 if self.with_parameters => self.datum("p"),
            4 | 5 => Term::field(&self.datum("r"), 0),
            6 | 7 => Term::add(&self.number(from, depth - 1), &self.number(from, depth - 1)),
            8 => Term::subtract(&self.number(from, depth - 1), &self.number(from, depth - 1)),
            9 => Term::multiply(&self.number(from, depth - 1), &self.number(from, depth - 1)),
            10 => {
                let operator = if from.below(2) == 0 { Operator::IntegerDivide } else { Operator::Modulo };
                Term::arithmetic(operator, &self.number(from, depth - 1), &self.number(from, depth - 1))
            }
            11 => Term::if_then_else(
                &self.truth(from, depth - 1),
                &self.number(from, depth - 1),
                &self.number(from, depth - 1),
            ),
            _ => Term::select(&self.datum(["a", "g"][from.below(2)]), &self.number(from, depth - 1)),
        }
    }

    fn real(&self, from: &mut Choices) -> Term {
        let half = Term::arithmetic(Operator::Divide, &Term::int(1), &Term::int(2));
        match from.below(4) {
            0 => self.datum("y"),
            1 => Term::add(&self.datum("y"), &half),
            2 => self.number(from, 1).to_real(),
            _ => Term::multiply(&half, &self.datum("y")),
        }
    }

    fn colour(&self, from: &mut Choices, depth: usize) -> Term {
        let Type::Enum(colour) = self.data.parameters[2].ty() else { unreachable!("`s` is a colour") };
        match from.below(if depth == 0 { 3 } else { 4 }) {
            0 => self.datum("e"),
            1 if self.with_parameters => self.datum("s"),
            1 | 2 => Term::literal(Value::Enum(colour.clone(), from.below(3))),
            _ => Term::if_then_else(
                &self.truth(from, depth - 1),
                &self.colour(from, depth - 1),
                &self.colour(from, depth - 1),
            ),
        }
    }

    fn truth(&self, from: &mut Choices, depth: usize) -> Term {
        let kinds = if depth == 0 { 6 } else { 12 };
        match from.below(kinds) {
            0 => Term::yes(),
            11 => {
                let (index, flag) =
                    (self.number(from, 0), Term::select(&self.datum("h"), &self.number(from, 0)));
                match from.below(3) {
                    0 => flag,
                    1 => cmp(
                        self.datum("h"),
                        "==",
                        Term::store(&self.datum("h"), &index, &self.truth(from, 0)),
                    ),
                    _ => cmp(
                        self.datum("a"),
                        "!=",
                        Term::store(&self.datum("a"), &index, &self.number(from, 0)),
                    ),
                }
            }
            1 => self.datum(["b", "k"][from.below(2)]),
            2 if self.with_parameters => self.datum("q"),
            2 => Term::field(&self.datum("r"), 1),
            3 | 4 => {
                let comparison = ["==", "!=", "<", "<=", ">", ">="][from.below(6)];
                cmp(self.number(from, depth), comparison, self.number(from, depth))
            }
            5 => cmp(self.colour(from, depth), ["==", "!="][from.below(2)], self.colour(from, depth)),
            6 => Term::and([self.truth(from, depth - 1), self.truth(from, depth - 1)]),
            7 => Term::or([self.truth(from, depth - 1), self.truth(from, depth - 1)]),
            8 => self.truth(from, depth - 1).not(),
            9 => cmp(self.real(from), [">", "<=", "=="][from.below(3)], self.real(from)),
            _ => cmp(self.truth(from, depth - 1), "==", self.truth(from, depth - 1)),
        }
    }

    fn value(&self, from: &mut Choices, variable: &Datum) -> Term {
        match variable.name() {
            "x" | "n" => self.number(from, 2),
            "b" => self.truth(from, 2),
            "e" => self.colour(from, 2),
            "y" => self.real(from),
            "a" | "g" => Term::store(&t(variable), &self.number(from, 0), &self.number(from, 1)),
            "h" => Term::store(&t(variable), &self.number(from, 0), &self.truth(from, 0)),
            _ => t(variable),
        }
    }
}

const LOCATIONS: [&str; 4] = ["l0", "l1", "l2", "l3"];

fn model(data: &Data, from: &mut Choices) -> Iosts {
    let terms = Terms { data, with_parameters: true };
    let initial = Terms { data, with_parameters: false };
    let initial = Term::and([
        cmp(initial.datum("x"), "==", Term::int(0)),
        cmp(initial.datum("n"), "<=", Term::int(1)),
        initial.truth(from, 1),
    ]);
    let mut builder = Builder::new(
        &data.constants.iter().collect::<Vec<_>>(),
        &data.variables.iter().collect::<Vec<_>>(),
        initial,
        &LOCATIONS,
    );
    let action = builder.action("A", &data.parameters.iter().collect::<Vec<_>>());
    for _ in 0..2 + from.below(5) {
        let guard = terms.truth(from, 2);
        let mut assigned: Vec<(&Datum, Term)> = Vec::new();
        for variable in &data.variables {
            if from.below(3) == 0 {
                assigned.push((variable, terms.value(from, variable)));
            }
        }
        let (source, target) = (LOCATIONS[from.below(4)], LOCATIONS[from.below(4)]);
        builder.transition(source, action, guard, &assigned, target);
    }
    builder.0
}

/// Some states, with small values.
fn valuations(data: &Data, from: &mut Choices, count: usize) -> Vec<Valuation> {
    let mut found = Vec::new();
    for _ in 0..count {
        let mut valuation = Valuation::new();
        for datum in data.variables.iter().chain(&data.constants) {
            valuation.insert(datum.clone(), sample(datum.ty(), from));
        }
        found.push(valuation);
    }
    found
}

fn sample(ty: &Type, from: &mut Choices) -> Value {
    match ty {
        Type::Int => Value::int(from.below(7) as i64 - 3),
        Type::Nat => Value::int(from.below(4) as i64),
        Type::Real => {
            let halves =
                Term::arithmetic(Operator::Divide, &Term::int(from.below(9) as i64 - 4), &Term::int(2));
            halves.as_literal().cloned().expect("a quotient of literals")
        }
        Type::Record(record) => {
            let fields = record.fields.iter().map(|(_, ty)| sample(ty, from)).collect();
            Value::Record(record.clone(), fields)
        }
        _ => {
            let values = Value::enumerate(ty, 100).unwrap_or_else(|| vec![Value::any(ty)]);
            values[from.below(values.len())].clone()
        }
    }
}

fn inputs(data: &Data) -> Vec<Vec<Value>> {
    let lists: Vec<Vec<Value>> = data
        .parameters
        .iter()
        .map(|parameter| Value::enumerate(parameter.ty(), 100).expect("parameters are finite"))
        .collect();
    tuples(&lists)
}

fn is_in(term: &Term, valuation: &Valuation) -> bool {
    holds(term, valuation) == Ok(true)
}

/// The states and steps that a bounded exploration finds.
fn explore(model: &Iosts, data: &Data, initial: Vec<Valuation>) -> BTreeMap<State, BTreeSet<State>> {
    let inputs = inputs(data);
    let mut steps = BTreeMap::new();
    let mut work: Vec<State> =
        initial.into_iter().map(|valuation| State { location: LocationId(0), valuation }).collect();
    while let Some(state) = work.pop() {
        if steps.len() > 120 || steps.contains_key(&state) {
            continue;
        }
        let mut next = BTreeSet::new();
        for transition in model.transitions.iter().filter(|transition| transition.source == state.location) {
            for values in &inputs {
                next.extend(fire(model, transition, &state, values));
            }
        }
        work.extend(next.iter().take(8).cloned());
        steps.insert(state, next);
    }
    steps
}

fn check_model(choices: &[u16]) {
    let data = data();
    let mut from = Choices(choices.iter());
    let delay = from.below(3);
    let thresholds = if from.below(2) == 0 { Thresholds::Auto } else { Thresholds::List(vec![]) };
    let descending_steps = from.below(3);
    let partition_limit = [256, 5, 1][from.below(3)];
    // Each of the arrays cell by cell, or by one cell that stands for all.
    let arrays = Arrays { cells: from.below(5), ..Arrays::default() };
    let initial = valuations(&data, &mut from, 10);
    let model = model(&data, &mut from);
    let start: Vec<Valuation> = initial
        .into_iter()
        .map(|mut valuation| {
            valuation.insert(data.variables[0].clone(), Value::int(0));
            valuation
        })
        .filter(|valuation| is_in(&model.initial_condition, valuation))
        .collect();
    let steps = explore(&model, &data, start);
    let accepting = [false, false, false, true];
    // Explored states from which an explored step leads to the accepting location.
    let mut coreachable: BTreeSet<&State> = steps.keys().filter(|state| state.location.0 == 3).collect();
    loop {
        let leads = |(state, next): (&'_ State, &BTreeSet<State>)| {
            !coreachable.contains(state)
                && next.iter().any(|next| next.location.0 == 3 || coreachable.contains(next))
        };
        let more: Vec<&State> = steps.iter().filter(|(s, n)| leads((s, n))).map(|(state, _)| state).collect();
        if more.is_empty() {
            break;
        }
        coreachable.extend(more);
    }
    for &domain in DomainKind::ALL {
        let options = Analysis {
            domain,
            delay,
            thresholds: thresholds.clone(),
            descending_steps,
            rounds: 3,
            partition_limit,
            arrays,
            ..Analysis::default()
        };
        let of_list = (domain.to_string(), analyse(&model, &accepting, &options));
        // What is made of domains is tried where they are.
        let composed = (domain == DomainKind::Polyhedra).then(|| {
            ("both".to_owned(), analyse_in::<Both<Intervals, Octagons>>(&model, &accepting, &options))
        });
        for (domain, Facts { reach, coreach, .. }) in std::iter::once(of_list).chain(composed) {
            for (state, next) in &steps {
                for state in std::iter::once(state).chain(next) {
                    let fact = &reach[state.location.0 as usize];
                    assert!(
                        is_in(fact, &state.valuation),
                        "{domain}: {state:?} reached, not in {fact}\n{model:#?}"
                    );
                }
            }
            for state in &coreachable {
                let fact = &coreach[state.location.0 as usize];
                assert!(
                    is_in(fact, &state.valuation),
                    "{domain}: {state:?} coreachable, not in {fact}\n{model:#?}"
                );
            }
        }
    }
}

/// `post` and `pre` of one transition between two random conditions, against single steps.
struct OneStep<'a> {
    model: &'a Iosts,
    arrays: Arrays,
    from: &'a Term,
    to: &'a Term,
    steps: &'a [(usize, State, State)],
}

impl OneStep<'_> {
    fn check(&self, domain: AnyDomain) {
        let frame = Abstraction::frame_for(domain, self.model, 256, self.arrays);
        let mut abstraction = Abstraction::new(domain, self.model, 256, Vec::new(), frame);
        let mut writer = FactWriter::new(usize::MAX);
        let (from, to) = (abstraction.satisfying(self.from), abstraction.satisfying(self.to));
        let top = abstraction.top();
        for (transition, before, after) in self.steps {
            if is_in(self.from, &before.valuation) {
                let post = abstraction.post(*transition, &from, false);
                let fact =
                    for_all(&abstraction.frame, &writer.term(&abstraction.frame, &abstraction.store, &post));
                assert!(is_in(&fact, &after.valuation), "post: {after:?} not in {fact}\n{:#?}", self.model);
            }
            if is_in(self.to, &after.valuation) {
                let pre = abstraction.pre(*transition, &to, &top, false);
                let fact =
                    for_all(&abstraction.frame, &writer.term(&abstraction.frame, &abstraction.store, &pre));
                assert!(is_in(&fact, &before.valuation), "pre: {before:?} not in {fact}\n{:#?}", self.model);
            }
        }
    }
}

fn check_steps(choices: &[u16]) {
    let data = data();
    let mut from = Choices(choices.iter());
    let arrays = Arrays { cells: from.below(5), ..Arrays::default() };
    let states = valuations(&data, &mut from, 6);
    let conditions = Terms { data: &data, with_parameters: false };
    let (before, after) = (conditions.truth(&mut from, 1), conditions.truth(&mut from, 1));
    let model = model(&data, &mut from);
    let mut steps = Vec::new();
    for (number, transition) in model.transitions.iter().enumerate() {
        for valuation in &states {
            let state = State { location: transition.source, valuation: valuation.clone() };
            let next =
                inputs(&data).into_iter().filter_map(|values| fire(&model, transition, &state, &values));
            steps.extend(
                next.collect::<BTreeSet<_>>().into_iter().take(3).map(|next| (number, state.clone(), next)),
            );
        }
    }
    let step = OneStep { model: &model, arrays, from: &before, to: &after, steps: &steps };
    for domain in DomainKind::ALL {
        step.check(domain.implementation());
    }
    step.check(AnyDomain::new::<Both<Intervals, Octagons>>());
}

/// Few in `scripts/test`, which has to end soon, and many in `scripts/test --thorough`.
fn cases() -> u32 {
    if std::env::var_os("COREACH_THOROUGH").is_some() { 120 } else { 30 }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn sound_reach_and_coreach(choices in prop::collection::vec(any::<u16>(), 40..260)) {
        check_model(&choices);
    }

    #[test]
    fn sound_post_and_pre(choices in prop::collection::vec(any::<u16>(), 60..260)) {
        check_steps(&choices);
    }
}
