//! Writes the question "does some run to an accepting location take this transition?" as Horn clauses in
//! SMT-LIB, for Z3's fixed points.
//!
//! Each location on a path of the graph has a predicate over variables and constants: `P!l` before the
//! transition, `Q!l` after it. Locations on no path have none, so the engine need not exclude them. Every
//! datum is called `x!n`, because names of a model may be words of the language, and parameters of two
//! actions may have the same name.

use std::collections::BTreeMap;

use coreach_model::obligation::enabling_condition;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Iosts, LocationId, Number, Numbered, Term, Transition, TransitionId};

use crate::solver::horn::REACHED;
use crate::solver::smtlib::{declarations, sort_to_smtlib, term_to_smtlib, type_constraints};

/// Has a run taken the transition in question?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Taken {
    Before,
    /// It was taken, or no transition is in question.
    After,
}

/// Facts by location that prove that there is no run. Within the facts of the domains, `reach` is inductive
/// forward and `coreach` backward.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// Contains the states that are reached before the transition in question was taken.
    pub reach: Vec<Term>,
    /// Contains the states from which an accepting location is reached after it was taken.
    pub coreach: Vec<Term>,
}

pub(super) struct Problem<'a> {
    iosts: &'a Iosts,
    accepting: &'a [bool],
    /// Facts by location that are proved of all runs.
    within: &'a [Term],
    /// The transition in question.
    through: Option<TransitionId>,
    /// Variables and constants: the predicates' arguments.
    pub data: Vec<Datum>,
    names: Substitution,
    /// Does a path lead from the initial location to this one?
    reached: Numbered<LocationId, bool>,
    /// Does a path lead from this location to an accepting one?
    leading: Numbered<LocationId, bool>,
    /// Is the location on a path before (or after) the transition in question? Then it has a predicate.
    before: Numbered<LocationId, bool>,
    after: Numbered<LocationId, bool>,
}

impl<'a> Problem<'a> {
    /// Prepares the question about the transition `through` or, without one, about any run to an accepting
    /// location. Finds the locations that get predicates.
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
        let walk_forward =
            |start: LocationId| reachable(iosts, within, vec![start], |t| (t.source, t.target));
        let walk_backward =
            |start: Vec<LocationId>| reachable(iosts, within, start, |t| (t.target, t.source));
        let accepted = iosts.location_ids().filter(|location| accepting[location.place()]).collect();
        let reached = walk_forward(iosts.initial);
        let leading = walk_backward(accepted);
        let (to_source, from_target) = match through {
            // Everything comes after, if no transition is in question.
            None => (Numbered::filled(false, accepting.len()), reached.clone()),
            Some(number) => {
                let transition = &iosts.transitions[number];
                (walk_backward(vec![transition.source]), walk_forward(transition.target))
            }
        };
        let intersect = |a: &Numbered<LocationId, bool>,
                         b: &Numbered<LocationId, bool>|
         -> Numbered<_, bool> { a.iter().zip(b).map(|(a, b)| *a && *b).collect() };
        let (before, mut after) = (intersect(&reached, &to_source), intersect(&from_target, &leading));
        let is_cut = match through {
            None => !after[iosts.initial],
            Some(number) => {
                let transition = &iosts.transitions[number];
                !before[transition.source] || !after[transition.target]
            }
        };
        // Without any predicate after the transition, the problem counts as cut.
        if is_cut {
            after = after.map(|_| false);
        }
        Problem { iosts, accepting, within, through, data, names, reached, leading, before, after }
    }

    /// Has the graph no path through the transition? If so, no engine need be asked.
    pub fn is_cut(&self) -> bool {
        !self.after.iter().any(|after| *after)
    }

    /// Writes the problem: a rule for the initial states, rules for each transition, and rules for the
    /// question.
    pub fn to_smt_lib(&self) -> String {
        let mut rules = Vec::new();
        let initial = self.iosts.initial;
        let entry = if self.through.is_some() { Taken::Before } else { Taken::After };
        if self.has_predicate(entry, initial) {
            let conditions = [&self.iosts.initial_condition, &self.within[initial.place()]];
            let conditions = conditions.into_iter().flat_map(Term::conjuncts).collect();
            let (to, effects) = (Some((entry, initial)), self.state());
            rules.push(HornRule { conditions, from: None, to, effects });
        }
        for (number, transition) in self.iosts.transitions.numbered() {
            let (source, target) = (transition.source, transition.target);
            let after = |term: &Term| substitute(term, &transition.assignments);
            let parts = [
                self.within[source.place()].clone(),
                enabling_condition(transition),
                after(&self.within[target.place()]),
            ];
            // Only the transition in question leads from one side to the other.
            let crossing = (self.through == Some(number)).then_some((Taken::Before, Taken::After));
            let sides =
                [(Taken::Before, Taken::Before), (Taken::After, Taken::After)].into_iter().chain(crossing);
            for (from, to) in sides {
                if self.has_predicate(from, source) && self.has_predicate(to, target) {
                    let parameters = &self.iosts.action(transition.action).parameters;
                    let effects = self.data.iter().map(|datum| Iosts::effect(transition, datum)).collect();
                    let mut conditions: Vec<Term> = parts.iter().flat_map(Term::conjuncts).collect();
                    // Such an equation always holds. It is written for the type constraints of its parameter.
                    conditions.extend(parameters.iter().map(Term::datum).map(|p| Term::equal(&p, &p)));
                    let rule =
                        HornRule { conditions, from: Some((from, source)), to: Some((to, target)), effects };
                    rules.push(rule);
                }
            }
        }
        for location in self.iosts.location_ids() {
            if self.accepting[location.place()] && self.has_predicate(Taken::After, location) {
                let (from, effects) = (Some((Taken::After, location)), Vec::new());
                rules.push(HornRule { conditions: Vec::new(), from, to: None, effects });
            }
        }
        self.write_script(rules)
    }

    /// Writes rules as a script, with the declarations that they need.
    fn write_script(&self, rules: Vec<HornRule>) -> String {
        let renamed = |term: &Term| substitute(term, &self.names);
        let state: Vec<Term> = self.state().iter().map(renamed).collect();
        let mut terms: Vec<Term> = self.names.values().cloned().collect();
        let mut lines = Vec::new();
        for HornRule { conditions, from, to, effects } in rules {
            let conditions: Vec<Term> = conditions.iter().map(renamed).collect();
            let effects: Vec<Term> = effects.iter().map(renamed).collect();
            let in_rule: Vec<Term> = conditions.iter().chain(&effects).chain(&state).cloned().collect();
            let mut body = type_constraints(&in_rule);
            body.extend(conditions.iter().map(term_to_smtlib));
            body.extend(from.map(|source| write_atom(source, &state)));
            let head = to.map_or_else(|| REACHED.to_owned(), |target| write_atom(target, &effects));
            lines.push(match &body[..] {
                [] => format!("(rule {head})"),
                body => format!("(rule (=> (and true {}) {head}))", body.join(" ")),
            });
            terms.extend(in_rule);
        }
        let sorts: Vec<String> = self.data.iter().map(|datum| sort_to_smtlib(datum.ty())).collect();
        let sorts = sorts.join(" ");
        let as_variable = |line: String| line.replacen("(declare-const ", "(declare-var ", 1);
        let mut script: Vec<String> = declarations(&terms).into_iter().map(as_variable).collect();
        for side in [Taken::Before, Taken::After] {
            for location in self.iosts.location_ids().filter(|location| self.has_predicate(side, *location)) {
                script.push(format!("(declare-rel {} ({sorts}))", predicate_name((side, location))));
            }
        }
        script.push(format!("(declare-rel {REACHED} ())"));
        script.extend(lines);
        script.join("\n")
    }

    fn state(&self) -> Vec<Term> {
        self.data.iter().map(Term::datum).collect()
    }

    fn has_predicate(&self, side: Taken, location: LocationId) -> bool {
        match side {
            Taken::Before => self.before[location],
            Taken::After => self.after[location],
        }
    }

    /// Returns the side and location of a predicate's name. `None` for other names.
    pub fn find_predicate(&self, name: &str) -> Option<(Taken, LocationId)> {
        let (side, number) = name.split_once('!')?;
        let side = match side {
            "P" => Taken::Before,
            "Q" => Taken::After,
            _ => return None,
        };
        let location = LocationId(number.parse().ok()?);
        (self.iosts.locations.has(location) && self.has_predicate(side, location)).then_some((side, location))
    }

    /// Turns definitions of the predicates into facts, which the caller proves. A predicate without a
    /// definition gets the term `missing`. A location without a predicate gets what is known of all runs.
    pub fn refutation(&self, claimed: &BTreeMap<(Taken, LocationId), Term>, missing: &Term) -> Refutation {
        let definition = |side, location| claimed.get(&(side, location)).unwrap_or(missing).clone();
        let reach_at = |location: LocationId| match (self.reached[location], self.before[location]) {
            (false, _) => Term::no(),
            (true, true) => definition(Taken::Before, location),
            (true, false) => self.within[location.place()].clone(),
        };
        // `Q` holds in the states that a run reaches. If none is accepting, no run leads on from them. A
        // location without `Q` may lead to an accepting one from any state.
        let coreach_at = |location: LocationId| match (self.leading[location], self.after[location]) {
            (false, _) => Term::no(),
            (true, true) => definition(Taken::After, location).not(),
            (true, false) => Term::yes(),
        };
        let locations = || self.iosts.location_ids();
        Refutation {
            reach: locations().map(reach_at).collect(),
            coreach: locations().map(coreach_at).collect(),
        }
    }
}

struct HornRule {
    conditions: Vec<Term>,
    from: Option<(Taken, LocationId)>,
    /// `None`: the question itself.
    to: Option<(Taken, LocationId)>,
    effects: Vec<Term>,
}

fn predicate_name((side, location): (Taken, LocationId)) -> String {
    let letter = match side {
        Taken::Before => 'P',
        Taken::After => 'Q',
    };
    format!("{letter}!{}", location.0)
}

fn write_atom(at: (Taken, LocationId), arguments: &[Term]) -> String {
    let arguments: Vec<String> = arguments.iter().map(term_to_smtlib).collect();
    match &arguments[..] {
        [] => predicate_name(at),
        arguments => format!("({} {})", predicate_name(at), arguments.join(" ")),
    }
}

/// The locations that paths reach from some locations, through locations whose facts are not false. `ends`
/// gives the two ends of a transition, in the direction of the paths.
fn reachable(
    iosts: &Iosts,
    within: &[Term],
    start: Vec<LocationId>,
    ends: impl Fn(&Transition) -> (LocationId, LocationId),
) -> Numbered<LocationId, bool> {
    let mut is_met = Numbered::filled(false, within.len());
    let mut open_locations = start;
    while let Some(location) = open_locations.pop() {
        if within[location.place()].is_false() || std::mem::replace(&mut is_met[location], true) {
            continue;
        }
        let next = iosts.transitions.iter().map(&ends).filter(|(from, _)| *from == location);
        open_locations.extend(next.map(|(_, to)| to));
    }
    is_met
}
