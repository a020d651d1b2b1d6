//! Small models for tests, built in Rust.

use coreach_model::iosts::TransitionOrigin;
use coreach_model::{Action, ActionId, ActionKind, Datum, Iosts, Location, Term, Transition, Type};

/// A model in the making. Its actions are `in(p)`, an input with an integer, and `step`, an internal one.
#[derive(Clone)]
pub(crate) struct Build(Iosts);

pub(crate) fn int(name: &str) -> Term {
    Term::datum(&Datum::new(name, Type::Int))
}

pub(crate) const INPUT: ActionId = ActionId(0);
pub(crate) const STEP: ActionId = ActionId(1);

impl Build {
    pub fn new(locations: &[&str]) -> Self {
        let parameters = vec![Datum::new("p", Type::Int)];
        Build(Iosts {
            name: "example".to_owned(),
            locations: locations.iter().map(|name| Location::named(*name)).collect(),
            actions: vec![
                Action { name: "in".to_owned(), kind: ActionKind::Input, parameters },
                Action { name: "step".to_owned(), kind: ActionKind::Internal, parameters: Vec::new() },
            ]
            .into(),
            ..Iosts::default()
        })
    }

    pub fn constant(mut self, name: &str, ty: Type) -> Self {
        self.0.constants.push(Datum::new(name, ty));
        self
    }

    pub fn variable(mut self, name: &str, ty: Type) -> Self {
        self.0.variables.push(Datum::new(name, ty));
        self
    }

    pub fn initially(mut self, condition: Term) -> Self {
        self.0.initial_condition = condition;
        self
    }

    pub fn step<const N: usize>(self, from: &str, to: &str, guard: Term, assign: [(&str, Term); N]) -> Self {
        self.on(STEP, from, to, guard, assign)
    }

    pub fn on<const N: usize>(
        mut self,
        action: ActionId,
        from: &str,
        to: &str,
        guard: Term,
        assign: [(&str, Term); N],
    ) -> Self {
        let location = |name: &str| self.0.find_location(name).unwrap();
        let assignments = assign
            .into_iter()
            .map(|(name, value)| (self.0.find_datum(name).unwrap().clone(), value))
            .collect();
        let transition = Transition {
            source: location(from),
            action,
            guard,
            assignments,
            target: location(to),
            origin: TransitionOrigin::default(),
        };
        self.0.transitions.push(transition);
        self
    }

    pub fn done(self) -> Iosts {
        self.0
    }
}
