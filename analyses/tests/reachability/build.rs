//! Models in a few words.

use std::sync::Arc;

use coreach_model::iosts::{
    Action, ActionId, ActionKind, Iosts, Location, LocationId, Transition, TransitionOrigin,
};
use coreach_model::term::node::Comparison;
use coreach_model::types::EnumType;
use coreach_model::{Datum, Term, Type, Value};

/// A model under construction.
pub struct Builder(pub Iosts);

impl Builder {
    pub fn new(constants: &[&Datum], variables: &[&Datum], initial: Term, locations: &[&str]) -> Self {
        let own = |data: &[&Datum]| data.iter().map(|datum| (*datum).clone()).collect();
        Builder(Iosts {
            name: "test".to_owned(),
            constants: own(constants),
            variables: own(variables),
            initial_condition: initial,
            locations: locations.iter().map(|name| Location::named(*name)).collect(),
            initial: LocationId(0),
            actions: Default::default(),
            transitions: Default::default(),
            origin: None,
        })
    }

    pub fn action(&mut self, name: &str, parameters: &[&Datum]) -> ActionId {
        self.0.actions.push(Action {
            name: name.to_owned(),
            kind: ActionKind::Input,
            parameters: parameters.iter().map(|datum| (*datum).clone()).collect(),
        })
    }

    pub fn transition(
        &mut self,
        source: &str,
        action: ActionId,
        guard: Term,
        assign: &[(&Datum, Term)],
        target: &str,
    ) {
        let find = |name: &str| self.0.find_location(name).expect("a location of the model");
        let transition = Transition {
            source: find(source),
            action,
            guard,
            assignments: assign.iter().map(|(datum, value)| ((*datum).clone(), value.clone())).collect(),
            target: find(target),
            origin: TransitionOrigin::default(),
        };
        self.0.transitions.push(transition);
    }
}

pub fn t(datum: &Datum) -> Term {
    Term::datum(datum)
}

pub fn cmp(a: Term, comparison: &str, b: Term) -> Term {
    let comparison = match comparison {
        "==" => Comparison::Equal,
        "!=" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::AtMost,
        ">" => Comparison::Greater,
        ">=" => Comparison::AtLeast,
        other => panic!("no comparison {other}"),
    };
    Term::compare(comparison, &a, &b)
}

pub fn beverages() -> Arc<EnumType> {
    Arc::new(EnumType { name: "Beverage".to_owned(), literals: vec!["TEA".to_owned(), "COFFEE".to_owned()] })
}

pub fn beverage(position: usize) -> Term {
    Term::literal(Value::Enum(beverages(), position))
}

/// The product of the thesis' coffee machine with its purpose, cut behind Accept and Reject (Example 7.2,
/// Fig. 7.3).
pub fn coffee() -> (Iosts, Vec<bool>) {
    let price = Datum::new("cPrice", Type::Nat);
    let paid = Datum::new("vPaid", Type::Nat);
    let drink = Datum::new("vBeverage", Type::Enum(beverages()));
    let coin = Datum::new("pCoinValue", Type::Nat);
    let rest = Datum::new("pRemainingValue", Type::Nat);
    let wanted = Datum::new("pBeverage", Type::Enum(beverages()));
    let initial = Term::and([
        cmp(t(&price), ">", Term::int(0)),
        cmp(t(&paid), "==", Term::int(0)),
        cmp(t(&drink), "==", beverage(0)),
    ]);
    let names = [
        "Begin",
        "Idle",
        "Pay",
        "Choose",
        "Delivery",
        "Accept",
        "BeginReject",
        "IdleReject",
        "ChooseReject",
        "ReturnReject",
    ];
    let mut model = Builder::new(&[&price], &[&paid, &drink], initial, &names);
    let tau = model.action("tau", &[]);
    let insert = model.action("Coin", &[&coin]);
    let back = model.action("Return", &[&rest]);
    let choose = model.action("ChooseBeverage", &[&wanted]);
    let deliver = model.action("Deliver", &[&wanted]);
    let cancel = model.action("Cancel", &[]);
    model.transition("Begin", tau, Term::yes(), &[(&paid, Term::int(0))], "Idle");
    model.transition(
        "Idle",
        insert,
        cmp(t(&coin), ">", Term::int(0)),
        &[(&paid, Term::add(&t(&paid), &t(&coin)))],
        "Pay",
    );
    let few = cmp(t(&paid), "<", t(&price));
    let enough = cmp(t(&paid), ">=", t(&price));
    let missing = cmp(t(&rest), "==", Term::subtract(&t(&price), &t(&paid)));
    let change = cmp(t(&rest), "==", Term::subtract(&t(&paid), &t(&price)));
    let guard = |parts: &[&Term]| Term::and(parts.iter().map(|part| (*part).clone()));
    model.transition("Pay", back, guard(&[&few, &missing]), &[], "IdleReject");
    model.transition("Pay", back, guard(&[&few, &missing, &enough]), &[], "Idle");
    model.transition("Pay", back, guard(&[&enough, &change]), &[(&paid, t(&price))], "Choose");
    model.transition("Pay", back, guard(&[&enough, &change, &few]), &[(&paid, t(&price))], "ChooseReject");
    model.transition("Choose", choose, Term::yes(), &[(&drink, t(&wanted))], "Delivery");
    model.transition("Choose", cancel, Term::yes(), &[], "ReturnReject");
    let same = cmp(t(&wanted), "==", t(&drink));
    let is_coffee = cmp(t(&wanted), "==", beverage(1));
    model.transition("Delivery", deliver, guard(&[&same, &is_coffee]), &[], "Accept");
    model.transition("Delivery", deliver, guard(&[&same, &is_coffee.not()]), &[], "BeginReject");
    model.transition("Idle", cancel, Term::yes(), &[], "ReturnReject");
    let accepting = names.iter().map(|name| *name == "Accept").collect();
    (model.0, accepting)
}
