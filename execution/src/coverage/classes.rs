//! Finds the class of a parameter's value, at a transition that an event has taken.
//!
//! **Problem.** A parameter ranges over more values than can be tried, and faults are often at the ends of
//! the range that a guard allows. Those ends depend on the state: `vSum + n <= 10` ends elsewhere each time.
//!
//! **Method.** So the ends are not computed; the neighbours of the value are tried. With the state and the
//! other parameters as they are, an integer is at the low end if the guard refuses (or the type lacks) the
//! number below it, at the high end if it refuses the one above, the *only* value if it refuses both, and
//! *inside* otherwise. That is right for ranges with holes, and for guards of any form. A real number has no
//! neighbours: it is at an edge if a comparison of the guard in which the parameter occurs has two equal
//! sides. Each truth value and each value of an enumeration is a class. Arrays and records have none.
//!
//! **Costs** two evaluations of the guard.

use std::collections::HashSet;

use coreach_model::iosts::Transition;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::Node;
use coreach_model::types::Type;
use coreach_model::{Datum, Term, Value};
use dashu_int::IBig;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum BoundClass {
    /// The number below it is refused, the one above is not.
    Low,
    /// The number above it is refused, the one below is not.
    High,
    Only,
    /// Neither neighbour is refused. For a real number: it is at no edge.
    Inside,
    /// A real number at which two sides of a comparison are equal.
    Edge,
    Is(Value),
}

impl BoundClass {
    pub fn name(&self) -> String {
        match self {
            BoundClass::Low => "low".to_owned(),
            BoundClass::High => "high".to_owned(),
            BoundClass::Only => "only".to_owned(),
            BoundClass::Inside => "inside".to_owned(),
            BoundClass::Edge => "edge".to_owned(),
            BoundClass::Is(value) => value.to_string(),
        }
    }

    /// Lists the classes that values of a type may have.
    pub fn of_type(ty: &Type) -> Vec<BoundClass> {
        match ty {
            Type::Int | Type::Nat | Type::Range(..) => {
                vec![BoundClass::Low, BoundClass::High, BoundClass::Only, BoundClass::Inside]
            }
            Type::Real => vec![BoundClass::Edge, BoundClass::Inside],
            Type::Bool | Type::Enum(_) => {
                // Enumerations with more values have no classes.
                let values = Value::enumerate(ty, 64).unwrap_or_default();
                values.into_iter().map(BoundClass::Is).collect()
            }
            // There would be as many classes as values.
            Type::String | Type::Id(_) | Type::Array(_) | Type::Record(_) => Vec::new(),
        }
    }
}

/// Finds the class of a parameter's value in a valuation in which the guard holds, if its type has classes.
pub fn class_of(transition: &Transition, parameter: &Datum, valuation: &Valuation) -> Option<BoundClass> {
    let guard = &transition.guard;
    match valuation.get(parameter)? {
        Value::Int(number) => {
            let mut with_neighbour = valuation.clone();
            let mut is_refused = |number: IBig| {
                let value = Value::Int(number);
                let is_in_type = value.is_in(parameter.ty());
                with_neighbour.insert(parameter.clone(), value);
                !(is_in_type && holds(guard, &with_neighbour) == Ok(true))
            };
            let (below, above) = (is_refused(number - IBig::ONE), is_refused(number + IBig::ONE));
            Some(match (below, above) {
                (true, true) => BoundClass::Only,
                (true, false) => BoundClass::Low,
                (false, true) => BoundClass::High,
                (false, false) => BoundClass::Inside,
            })
        }
        Value::Real(_) => {
            let is_equal = |(a, b): &(Term, Term)| match (evaluate(a, valuation), evaluate(b, valuation)) {
                (Ok(a), Ok(b)) => a == b,
                _ => false,
            };
            let is_at_an_edge = comparison_sides(guard, parameter).iter().any(is_equal);
            Some(if is_at_an_edge { BoundClass::Edge } else { BoundClass::Inside })
        }
        value @ (Value::Bool(_) | Value::Enum(..)) => Some(BoundClass::Is(value.clone()))
            .filter(|class| BoundClass::of_type(parameter.ty()).contains(class)),
        Value::String(_) | Value::Id(..) | Value::Array(_) | Value::Record(..) => None,
    }
}

/// Lists the sides of the comparisons of numbers in which the parameter occurs.
pub fn comparison_sides(guard: &Term, parameter: &Datum) -> Vec<(Term, Term)> {
    let mut sides = Vec::new();
    let mut seen = HashSet::new();
    let mut unvisited = vec![guard.clone()];
    while let Some(term) = unvisited.pop() {
        if !term.mentions(parameter) || !seen.insert(term.clone()) {
            continue;
        }
        if let Node::Compare(_, a, b) = term.node()
            && a.sort().is_number()
        {
            sides.push((a.clone(), b.clone()));
        }
        unvisited.extend(term.children().into_iter().cloned());
    }
    sides
}
