//! The question whether some run to an accepting location takes a transition, as Horn clauses in SMT-LIB's
//! words for Z3's fixed points.
//!
//! A predicate over variables and constants stands for each location on a path of the graph: `P!l` before the
//! transition, `Q!l` after it, so that the shape of the graph has its say before the engine. Every datum is
//! called `x!n`: names of a model may be words of the language, and those of two actions' parameters alike.

use std::collections::BTreeMap;

use coreach_model::obligation::enabling_condition;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Iosts, LocationId, Number, Numbered, Term, TransitionId};

use crate::solver::horn::REACHED;
use crate::solver::smtlib::{declarations, sort_to_smtlib, term_to_smtlib, type_constraints};

/// Where a run is, as to the transition that is asked about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Side {
    Before,
    /// It was; or none is asked about.
    After,
}

/// Facts that prove that there is no run: `reach` is inductive forward and `coreach` backward, within what
/// the domains found; by location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// Contains what is reached, before the transition in question was taken.
    pub reach: Vec<Term>,
    /// Contains all from which an accepting location is reached after it.
    pub coreach: Vec<Term>,
}

pub(super) struct Problem<'a> {
    iosts: &'a Iosts,
    accepting: &'a [bool],
    within: &'a [Term],
    through: Option<TransitionId>,
    /// Variables and constants: the predicates' arguments.
    pub data: Vec<Datum>,
    names: Substitution,
    /// Does a path lead there from the initial location?
    reached: Numbered<LocationId, bool>,
    /// Does a path lead from there to an accepting one?
    leading: Numbered<LocationId, bool>,
    before: Numbered<LocationId, bool>,
    after: Numbered<LocationId, bool>,
}

impl<'a> Problem<'a> {
    /// Within facts that are proved of all runs, by location.
    pub fn new(
        iosts: &'a Iosts,
        accepting: &'a [bool],
        within: &'a [Term],
        through: Option<TransitionId>,
    ) -> Self {
        let data: Vec<Datum> = iosts.variables.iter().chain(&iosts.constants).cloned().collect();
        let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
        let mut names = Substitution::new();
        for datum in data.iter().chain(parameters) {
            let number = names.len();
            names
                .entry(datum.clone())
                .or_insert_with(|| Term::datum(&Datum::new(format!("x!{number}"), datum.ty().clone())));
        }
        let from = |start: Vec<LocationId>, forward: bool| closure(iosts, within, start, forward);
        let accepted = iosts.location_ids().filter(|location| accepting[location.place()]).collect();
        let reached = from(vec![iosts.initial], true);
        let leading = from(accepted, false);
        let (to_source, from_target) = match through {
            None => (Numbered::filled(false, accepting.len()), reached.clone()),
            Some(number) => {
                let transition = &iosts.transitions[number];
                (from(vec![transition.source], false), from(vec![transition.target], true))
            }
        };
        let both = |a: &Numbered<LocationId, bool>, b: &Numbered<LocationId, bool>| -> Numbered<_, bool> {
            a.iter().zip(b).map(|(a, b)| *a && *b).collect()
        };
        let (before, mut after) = (both(&reached, &to_source), both(&from_target, &leading));
        let is_cut = match through {
            None => !after[iosts.initial],
            Some(number) => {
                let transition = &iosts.transitions[number];
                !before[transition.source] || !after[transition.target]
            }
        };
        if is_cut {
            after = after.map(|_| false);
        }
        Problem { iosts, accepting, within, through, data, names, reached, leading, before, after }
    }

    /// Is there no path of the graph to begin with?
    pub fn is_cut(&self) -> bool {
        !self.after.iter().any(|after| *after)
    }

    pub fn text(&self) -> String {
        let mut rules = Vec::new();
        let initial = self.iosts.initial;
        let entry = match self.through {
            None => Side::After,
            Some(_) => Side::Before,
        };
        if self.is_there(entry, initial) {
            let conditions = [&self.iosts.initial_condition, &self.within[initial.place()]];
            let conditions = conditions.into_iter().flat_map(Term::conjuncts).collect();
            rules.push(HornRule {
                conditions,
                from: None,
                to: Some((entry, initial)),
                effects: self.state(),
            });
        }
        for (number, transition) in self.iosts.transitions.numbered() {
            let (source, target) = (transition.source, transition.target);
            let behind = |term: &Term| substitute(term, &transition.assignments);
            let parts = [
                self.within[source.place()].clone(),
                enabling_condition(transition),
                behind(&self.within[target.place()]),
            ];
            let crossing = (self.through == Some(number)).then_some((Side::Before, Side::After));
            let sides =
                [(Side::Before, Side::Before), (Side::After, Side::After)].into_iter().chain(crossing);
            for (from, to) in sides {
                if self.is_there(from, source) && self.is_there(to, target) {
                    let parameters = &self.iosts.action(transition.action).parameters;
                    let effects = self.data.iter().map(|datum| Iosts::effect(transition, datum)).collect();
                    let mut conditions: Vec<Term> = parts.iter().flat_map(Term::conjuncts).collect();
                    // A condition that holds always, but for the types of its data.
                    conditions.extend(parameters.iter().map(Term::datum).map(|p| Term::equal(&p, &p)));
                    let rule =
                        HornRule { conditions, from: Some((from, source)), to: Some((to, target)), effects };
                    rules.push(rule);
                }
            }
        }
        for location in self.iosts.location_ids() {
            if self.accepting[location.place()] && self.is_there(Side::After, location) {
                let (from, effects) = (Some((Side::After, location)), Vec::new());
                rules.push(HornRule { conditions: Vec::new(), from, to: None, effects });
            }
        }
        self.written(rules)
    }

    fn written(&self, rules: Vec<HornRule>) -> String {
        let renamed = |term: &Term| substitute(term, &self.names);
        let state: Vec<Term> = self.state().iter().map(renamed).collect();
        let mut terms: Vec<Term> = self.names.values().cloned().collect();
        let mut lines = Vec::new();
        for HornRule { conditions, from, to, effects } in rules {
            let conditions: Vec<Term> = conditions.iter().map(renamed).collect();
            let effects: Vec<Term> = effects.iter().map(renamed).collect();
            let all: Vec<Term> = conditions.iter().chain(&effects).chain(&state).cloned().collect();
            let mut body = type_constraints(&all);
            body.extend(conditions.iter().map(term_to_smtlib));
            body.extend(from.map(|at| atom(at, &state)));
            let head = to.map_or_else(|| REACHED.to_owned(), |at| atom(at, &effects));
            lines.push(match &body[..] {
                [] => format!("(rule {head})"),
                body => format!("(rule (=> (and true {}) {head}))", body.join(" ")),
            });
            terms.extend(all);
        }
        let sorts: Vec<String> = self.data.iter().map(|datum| sort_to_smtlib(datum.ty())).collect();
        let sorts = sorts.join(" ");
        let mut script: Vec<String> = declarations(&terms)
            .into_iter()
            .map(|line| line.replacen("(declare-const ", "(declare-var ", 1))
            .collect();
        for side in [Side::Before, Side::After] {
            for location in self.iosts.location_ids().filter(|location| self.is_there(side, *location)) {
                script.push(format!("(declare-rel {} ({sorts}))", predicate((side, location))));
            }
        }
        script.push(format!("(declare-rel {REACHED} ())"));
        script.extend(lines);
        script.join("\n")
    }

    fn state(&self) -> Vec<Term> {
        self.data.iter().map(Term::datum).collect()
    }

    fn is_there(&self, side: Side, location: LocationId) -> bool {
        match side {
            Side::Before => self.before[location],
            Side::After => self.after[location],
        }
    }

    pub fn named(&self, name: &str) -> Option<(Side, LocationId)> {
        let (side, number) = name.split_once('!')?;
        let side = match side {
            "P" => Side::Before,
            "Q" => Side::After,
            _ => return None,
        };
        let location = LocationId(number.parse().ok()?);
        (self.iosts.locations.has(location) && self.is_there(side, location)).then_some((side, location))
    }

    /// The facts that definitions of the predicates are; where one is `missing`, that.
    pub fn refutation(&self, claimed: &BTreeMap<(Side, LocationId), Term>, missing: &Term) -> Refutation {
        let defined = |side, at| claimed.get(&(side, at)).unwrap_or(missing).clone();
        let reach = self.iosts.location_ids().map(|at| match (self.reached[at], self.before[at]) {
            (false, _) => Term::no(),
            (true, true) => defined(Side::Before, at),
            (true, false) => self.within[at.place()].clone(),
        });
        let coreach = self.iosts.location_ids().map(|at| match (self.leading[at], self.after[at]) {
            (false, _) => Term::no(),
            (true, true) => defined(Side::After, at).not(),
            (true, false) => Term::yes(),
        });
        Refutation { reach: reach.collect(), coreach: coreach.collect() }
    }
}

struct HornRule {
    conditions: Vec<Term>,
    from: Option<(Side, LocationId)>,
    /// None for what is asked for.
    to: Option<(Side, LocationId)>,
    effects: Vec<Term>,
}

fn predicate((side, location): (Side, LocationId)) -> String {
    let letter = match side {
        Side::Before => 'P',
        Side::After => 'Q',
    };
    format!("{letter}!{}", location.0)
}

fn atom(at: (Side, LocationId), arguments: &[Term]) -> String {
    let arguments: Vec<String> = arguments.iter().map(term_to_smtlib).collect();
    match &arguments[..] {
        [] => predicate(at),
        arguments => format!("({} {})", predicate(at), arguments.join(" ")),
    }
}

/// Where paths lead, or come from, over locations whose facts are not false.
fn closure(
    iosts: &Iosts,
    within: &[Term],
    start: Vec<LocationId>,
    forward: bool,
) -> Numbered<LocationId, bool> {
    let mut met = Numbered::filled(false, within.len());
    let mut work = start;
    while let Some(at) = work.pop() {
        if within[at.place()].is_false() || std::mem::replace(&mut met[at], true) {
            continue;
        }
        for transition in &iosts.transitions {
            let (from, to) = match forward {
                true => (transition.source, transition.target),
                false => (transition.target, transition.source),
            };
            if from == at {
                work.push(to);
            }
        }
    }
    met
}
