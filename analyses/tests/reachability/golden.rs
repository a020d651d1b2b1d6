//! The examples of the thesis.

use coreach_analyses::reachability::Facts;
use coreach_analyses::{Analysis, DomainKind, analyse};
use coreach_model::{Datum, Iosts, Term, Type};

use super::build::{Builder, cmp, coffee, t};

fn facts(iosts: &Iosts, accepting: &[bool], domain: DomainKind) -> Facts {
    analyse(iosts, accepting, &Analysis { domain, ..Analysis::default() })
}

fn at(iosts: &Iosts, facts: &[Term], location: &str) -> String {
    let id = iosts.find_location(location).expect("a location of the model");
    facts[id.0 as usize].to_string()
}

/// Fig. 7.8: exact iteration diverges.
fn counter() -> (Iosts, Datum) {
    let v = Datum::new("v", Type::Int);
    let mut model = Builder::new(&[], &[&v], cmp(t(&v), "==", Term::int(0)), &["l0"]);
    let a = model.action("A", &[]);
    model.transition("l0", a, Term::yes(), &[(&v, Term::add(&t(&v), &Term::int(2)))], "l0");
    (model.0, v)
}

#[test]
fn precise_counter() {
    let (model, _) = counter();
    for domain in [DomainKind::Interval, DomainKind::Polyhedra] {
        assert_eq!(at(&model, &facts(&model, &[true], domain).reach, "l0"), "v >= 0", "{domain}");
    }
    assert_eq!(at(&model, &facts(&model, &[true], DomainKind::Location).reach, "l0"), "true");
}

#[test]
fn precise_coffee_polyhedra() {
    let (model, accepting) = coffee();
    let facts = facts(&model, &accepting, DomainKind::Polyhedra);
    let expected = [
        ("Begin", "vBeverage == TEA && vPaid == 0 && cPrice >= 1"),
        ("Idle", "vBeverage == TEA && vPaid == 0 && cPrice >= 1"),
        ("Pay", "vBeverage == TEA && cPrice >= 1 && vPaid >= cPrice"),
        ("Choose", "vBeverage == TEA && vPaid == cPrice && cPrice >= 1"),
        ("Delivery", "vBeverage == COFFEE && vPaid == cPrice && cPrice >= 1"),
        ("Accept", "vBeverage == COFFEE && vPaid == cPrice && cPrice >= 1"),
        ("BeginReject", "false"),
        ("IdleReject", "false"),
        ("ChooseReject", "false"),
        ("ReturnReject", "false"),
    ];
    for (location, text) in expected {
        assert_eq!(at(&model, &facts.coreach, location), text, "{location}");
    }
    assert_eq!(at(&model, &facts.reach, "IdleReject"), "vBeverage == TEA && vPaid >= 1 && cPrice > vPaid");
    assert_eq!(at(&model, &facts.reach, "ChooseReject"), "false");
    assert_eq!(facts.imprecisions, []);
}

#[test]
fn precise_coffee_interval() {
    let (model, accepting) = coffee();
    let facts = facts(&model, &accepting, DomainKind::Interval);
    assert_eq!(at(&model, &facts.coreach, "Delivery"), "vBeverage == COFFEE && vPaid >= 1 && cPrice >= 1");
    assert_eq!(at(&model, &facts.coreach, "Pay"), "vBeverage == TEA && vPaid >= 1 && cPrice >= 1");
    assert_eq!(facts.imprecisions, []);
}

#[test]
fn precise_coffee_location() {
    let (model, accepting) = coffee();
    let facts = facts(&model, &accepting, DomainKind::Location);
    let all: Vec<String> = facts.coreach.iter().map(Term::to_string).collect();
    assert_eq!(all, ["true", "true", "true", "true", "true", "true", "false", "false", "false", "false"]);
    // A guard with a part and its negation is the literal `false` already.
    let unreached: Vec<String> = facts
        .reach
        .iter()
        .zip(&model.locations)
        .filter(|(fact, _)| !fact.is_true())
        .map(|(_, location)| location.name.clone())
        .collect();
    assert_eq!(unreached, ["ChooseReject"]);
    assert_eq!(facts.imprecisions, []);
}
