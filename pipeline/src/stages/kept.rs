//! The subset construction where no number of events resolves a choice: each way that a run may have gone
//! keeps its own data.
//!
//! **Problem.** Postponed effects need a choice that ends. If two ways go on side by side for ever, or for
//! too long, their values must be stored somewhere, and a location has one set of variables only.
//!
//! **Method.** A *set* has members ⟨location, values⟩: where a run may be, and for each variable in which
//! *slot* its value is: in the variable itself, or in a memory variable next to it. An event is followed from
//! all members at once, under a guard for each satisfiable subset of their transitions
//! ([`super::construction`]). Then the values of the members behind it are assigned to the slots. So nothing
//! is pending for longer than an event, there are finitely many sets with a given number of members, and
//! cycles of sets are ordinary. The construction does not end if a set gets more and more members.
//!
//! Members of one location are joined if their values are equal wherever the event is possible, in every
//! variable that is still read behind it ([`coreach_analyses::live`]). A variable that nobody reads has no
//! slot.
//!
//! A set *ends*, which means that nothing after it matters,
//! - if a member accepts: then the test is over;
//! - if no member can come to Accept any more, by `coreach`. Then the test is over too: an output led there,
//!   since a test never sends a stimulus that puts Accept out of reach.
//!
//! `reach` says which subsets are possible: each member's data lie in the reach of its location. Guards
//! exclude each other everywhere all the same.
//!
//! **Why it keeps what matters.** By induction over traces that have not gone through an end: the states that
//! the members stand for are those of the closed machine after the trace, up to data that nothing reads. So
//! traces are the same up to ends, and one event beyond what can come to Accept; accepted traces are the
//! same.
//!
//! **Ends** by [`Quantity::Ways`], which limits the members of one set, and [`Quantity::SetTransitions`]. The
//! largest sets are followed first: if sets grow for ever, the number of sets of one size grows with the size
//! as the number of ways to choose them, and a set that is too large is found after a few of them. **Cost**:
//! per transition one query more, and one for each pair of members at one location.
//!
//! ```text
//! l -a-> m {x := 0}, l -a-> n          becomes     l -a-> <m,n> {x_memory := x, x := 0}
//! m -b-> m {x := x + 1}, n -b-> n                  <m,n> -b-> <m,n> {x := x + 1}
//! ```

use std::collections::{BTreeSet, HashSet};

use coreach_analyses::solver::{Solver, may_hold, must_hold};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{ActionId, Datum, LocationId, Numbered, Term};

use crate::artifact::{Basis, Closed, Member, Visible};
use crate::limits::{Limits, Quantity};
use crate::stage::Stage;
use crate::stages::construction::{Construction, EffectRules, Memory, Set, SetMove};
use crate::stages::sets::{is_ordinary, longest_stay, pending_effect};
use crate::stop::{Stop, check_limit, check_terms_writable};

/// Makes the visible behaviours, as far as they matter. Each way that a run may have gone keeps its values.
pub(super) fn keep_values(
    closed: &Closed,
    known: Basis,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Visible, Stop> {
    let mut made = Construction::run(closed, KeptTransitions { closed, known, limits }, limits, solver)?;
    made.simplify_and_renumber(solver);
    let members = made.sets.map(|set| set.members.clone());
    // So many events resolve each choice of the result: one that enters a set which is no ordinary location,
    // and the most in a row among such sets. `None` if a run may stay among them for ever.
    let lookahead = match members.iter().all(|members| is_ordinary(members)) {
        true => Some(0),
        false => longest_stay(&members, &made.transitions).map(|among| 1 + among),
    };
    let memory = memory_variables(&closed.iosts.variables, &made.sets, &made.memory);
    Ok(made.finish(memory, lookahead, solver))
}

/// A member that is being made, with the values that its variables have. They are expressed by the data and
/// the message before the event.
struct KeptWay {
    location: LocationId,
    effect: Substitution,
}

struct KeptTransitions<'a> {
    closed: &'a Closed,
    known: Basis,
    limits: &'a Limits,
}

impl EffectRules for KeptTransitions<'_> {
    fn ends_alone(&self, location: LocationId) -> bool {
        self.closed.accepting[location] || self.known.coreach[location].is_false()
    }

    fn priority(&self, members: usize, number: LocationId) -> (usize, i64) {
        (members, i64::from(number.0))
    }

    /// Every member's data lie in its location's reach.
    fn context(&self, set: &Set) -> Vec<Term> {
        let reach = |(number, member): (usize, &Member)| {
            let values =
                self.values_of_member(member.location, &format!("before{number}"), pending_effect(member));
            substitute(&self.known.reach[member.location], &values).conjuncts()
        };
        let mut context: Vec<Term> = set.members.iter().enumerate().flat_map(reach).collect();
        let mut seen = BTreeSet::new();
        // Members of one location have common facts.
        context.retain(|part| seen.insert(part.clone()));
        context
    }

    fn may_hold(&self, _set: &Set, context: &[Term], guard: &Term, solver: &mut dyn Solver) -> bool {
        let formula: Vec<Term> = context.iter().cloned().chain(guard.conjuncts()).collect();
        may_hold(solver, &formula)
    }

    fn read_behind(&self, location: LocationId, effect: &Substitution) -> Substitution {
        let live = &self.known.live[location];
        effect.iter().filter(|(v, _)| live.contains(*v)).map(|(v, t)| (v.clone(), t.clone())).collect()
    }

    /// Keeps the values of all ways that the event may have gone.
    fn settle(
        &mut self,
        _action: ActionId,
        chosen: &[&SetMove],
        premises: &[Term],
        memory: &mut Memory,
        solver: &mut dyn Solver,
    ) -> Result<(Set, Substitution), Stop> {
        let (set, assignments) = self.set_after(chosen, premises, memory, solver);
        check_terms_writable(Stage::Determinize, assignments.values(), self.limits)?;
        if !set.ends {
            check_limit(Stage::Determinize, Quantity::Ways, set.members.len(), self.limits)?;
        }
        Ok((set, assignments))
    }

    fn into_basis(self) -> Option<Basis> {
        Some(self.known)
    }
}

impl KeptTransitions<'_> {
    /// Completes a member's values, with which a fact about its location is expressed. A variable that nobody
    /// reads there may have any value, which differs from member to member. So it gets a datum of the
    /// member's own, named after `member`.
    fn values_of_member(&self, location: LocationId, member: &str, mut values: Substitution) -> Substitution {
        let live = &self.known.live[location];
        for variable in self.closed.iosts.variables.iter().filter(|variable| !live.contains(*variable)) {
            // No name of a model has this sign.
            let any = Datum::new(format!("{}@{member}", variable.name()), variable.ty().clone());
            values.insert(variable.clone(), Term::datum(&any));
        }
        values
    }

    /// Makes the set behind an event, and the assignments on the way to it.
    fn set_after(
        &self,
        chosen: &[&SetMove],
        premises: &[Term],
        memory: &mut Memory,
        solver: &mut dyn Solver,
    ) -> (Set, Substitution) {
        let mut ways: Vec<KeptWay> = Vec::new();
        for candidate in chosen {
            let (location, effect) = (candidate.next.location, &candidate.effect);
            let is_same = |way: &KeptWay| {
                way.location == location
                    && must_hold(solver, premises, &equal_on(&self.known.live[location], &way.effect, effect))
            };
            if !ways.iter().any(is_same) {
                ways.push(KeptWay { location, effect: effect.clone() });
            }
        }
        // One way needs no memory: its effect is assigned to the variables themselves.
        if let [way] = ways.as_slice() {
            let members = vec![Member { location: way.location, steps: Vec::new() }];
            return (Set { members, ends: self.ends_alone(way.location) }, way.effect.clone());
        }
        let coreach = |(number, way): (usize, &KeptWay)| {
            let values = self.values_of_member(way.location, &format!("behind{number}"), way.effect.clone());
            substitute(&self.known.coreach[way.location], &values)
        };
        let leads_on = Term::or(ways.iter().enumerate().map(coreach));
        let can_lead_on: Vec<Term> = premises.iter().cloned().chain([leads_on]).collect();
        // At an end nothing reads the data, so no values are kept.
        if ways.iter().any(|way| self.closed.accepting[way.location]) || !may_hold(solver, &can_lead_on) {
            let locations: BTreeSet<LocationId> = ways.iter().map(|way| way.location).collect();
            let without_steps = |location| Member { location, steps: Vec::new() };
            let members = locations.into_iter().map(without_steps).collect();
            return (Set { members, ends: true }, Substitution::new());
        }
        // Sets that differ in nothing that is read must be equal, in whatever order the ways were found.
        for way in &mut ways {
            way.effect = self.read_behind(way.location, &way.effect);
        }
        ways.sort_by(|a, b| (a.location, &a.effect).cmp(&(b.location, &b.effect)));
        self.in_slots(&ways, memory)
    }

    /// Gives each value a slot: the variable itself to its first value, memory variables to the others.
    /// Returns the set, and what is assigned to the slots.
    fn in_slots(&self, ways: &[KeptWay], memory: &mut Memory) -> (Set, Substitution) {
        let mut members: Vec<Member> =
            ways.iter().map(|way| Member { location: way.location, steps: Vec::new() }).collect();
        let mut stored = Substitution::new();
        let mut in_memory = vec![Substitution::new(); ways.len()];
        for variable in &self.closed.iosts.variables {
            // The distinct values; the index of a value is its slot.
            let mut values: Vec<Term> = Vec::new();
            for (way, hidden) in ways.iter().zip(&mut in_memory) {
                if !self.known.live[way.location].contains(variable) {
                    continue;
                }
                let value = way.effect.get(variable).cloned().unwrap_or_else(|| Term::datum(variable));
                let slot = values.iter().position(|earlier| *earlier == value).unwrap_or_else(|| {
                    values.push(value);
                    values.len() - 1
                });
                if slot > 0 {
                    hidden.insert(variable.clone(), Term::datum(&memory.variable(variable, slot)));
                }
            }
            for (slot, value) in values.into_iter().enumerate() {
                let datum = if slot == 0 { variable.clone() } else { memory.variable(variable, slot) };
                if value.as_datum() != Some(&datum) {
                    stored.insert(datum, value);
                }
            }
        }
        for (member, hidden) in members.iter_mut().zip(in_memory) {
            if !hidden.is_empty() {
                member.steps.push(hidden);
            }
        }
        members.sort();
        (Set { members, ends: false }, stored)
    }
}

/// Lists the memory variables, in the order in which the sets need them.
fn memory_variables(variables: &[Datum], sets: &Numbered<LocationId, Set>, memory: &Memory) -> Vec<Datum> {
    let mut needed = Vec::new();
    let mut seen = HashSet::new();
    for set in sets {
        for variable in variables {
            let steps = set.members.iter().flat_map(|member| &member.steps);
            let values: BTreeSet<&Term> = steps.filter_map(|step| step.get(variable)).collect();
            // The slots of a variable have no gaps.
            let slots = (1..=values.len()).filter_map(|slot| memory.get(variable, slot));
            needed.extend(slots.filter(|slot| seen.insert(*slot)).cloned());
        }
    }
    needed
}

/// Makes the condition that the two effects give equal values to each of the variables.
fn equal_on(variables: &BTreeSet<Datum>, left: &Substitution, right: &Substitution) -> Term {
    let value = |effect: &Substitution, variable: &Datum| {
        effect.get(variable).cloned().unwrap_or_else(|| Term::datum(variable))
    };
    Term::and(variables.iter().map(|variable| Term::equal(&value(left, variable), &value(right, variable))))
}
