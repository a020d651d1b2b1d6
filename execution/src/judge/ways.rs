//! Finds the ways in which a guard would have held: for each way, the values that were wrong.
//!
//! **Problem.** Conditions that are solved one by one, with the observed values of the other parameters, may
//! name values that the guard forbids.
//!
//! **Method.** A condition on one parameter alone corrects it, and the others are solved with its right
//! value. Then each way is compared with the guard. If that fails, the solver is asked for the only event
//! that is allowed. If there is none, the failing conditions are shown as they are.
//!
//! **Terminates**, since each round corrects another parameter. **Costs** a question to the solver for each
//! way with a range, and a few for each parameter of a transition whose conditions are not solved one by one.

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{DerivedOperation, Quantifier};
use coreach_model::term::{Substitution, TermShape, literals, substitute};
use coreach_model::{Datum, Term, Type, Value};

use crate::judge::contract::Guard;
use crate::judge::differences::{Demand, Difference, combine_ways, demanded_value, merge_differences};
use crate::judge::guards::failing_conjuncts;
use crate::judge::opened::choose_branches;
use crate::judge::question::Question;
use crate::judge::scope::DecisiveScope;
use crate::lazy::Lazy;

impl Question<'_> {
    /// Lists the conjuncts that failed, each once. If the state alone decides some of them, these are enough.
    pub(super) fn failing_parts(&self, iosts: &Iosts, transition: &Transition) -> Vec<Guard> {
        let mut parts = failing_conjuncts(&transition.guard, &self.values);
        if parts.iter().any(|part| !self.reads_event(part)) {
            parts.retain(|part| !self.reads_event(part));
        }
        // An equation with the same part of the event says more than a question for its alternative.
        let has_side = |other: &Term, subject: &Term| match other.written() {
            Some(Node::Compare(Comparison::Equal, a, b)) => a == subject || b == subject,
            _ => false,
        };
        let all = parts.clone();
        parts.retain(|part| match part.as_question() {
            Some((subject, ..)) => !all.iter().any(|other| has_side(other, subject)),
            None => true,
        });
        let mut parts: Vec<Term> =
            self.correct_conditions(parts, Substitution::new()).into_iter().map(|(part, _)| part).collect();
        parts.dedup();
        let mut told: Vec<(Vec<&Datum>, Guard)> = Vec::new();
        for part in &parts {
            let did_hold = false;
            let (read, guard) = (self.list_read(part), self.guard(iosts, transition, part, did_hold));
            let is_repeated = |(known_read, known): &(Vec<&Datum>, Guard)| {
                *known_read == read && guard.repeats(known, &read)
            };
            if !told.iter().any(is_repeated) {
                told.push((read, guard));
            }
        }
        told.into_iter().map(|(_, guard)| guard).collect()
    }

    /// Lists the differences from the guard's demands: a list for each way in which it would have held.
    pub(super) fn differences(&self, transition: &Transition, solver: &mut Lazy) -> Vec<Vec<Difference>> {
        let failing = failing_conjuncts(&transition.guard, &self.values);
        let (mut unsolved, mut ways) = (failing.clone(), vec![Vec::new()]);
        // The right values of parameters, as far as they are known.
        let mut corrected = Substitution::new();
        // A condition on each part of a parameter often allows one value.
        for parameter in self.parameters {
            let is_open =
                |part: &Term| self.list_read(part) == [parameter] && !self.is_solved(part, parameter);
            if unsolved.iter().any(is_open)
                && let Some(value) = self.find_only_value(transition, parameter, solver)
                && let Some(way) = self.find_differences(&Term::datum(parameter), &value)
            {
                unsolved.retain(|part| self.list_read(part) != [parameter]);
                ways = combine_ways(&ways, &[way]);
                corrected.insert(parameter.clone(), Term::literal(value));
            }
        }
        // A condition that holds for a wrong value may fail for the right one.
        let mut holding = transition.guard.conjuncts();
        holding.retain(|part| self.list_read(part).len() > 1 && !part.asks_definedness());
        holding.retain(|part| !unsolved.contains(part));
        let mut considered = failing.clone();
        for (part, corrected_part) in self.correct_conditions([unsolved, holding].concat(), corrected) {
            let solved = self.solve(&corrected_part);
            let ways_of_part = solved.unwrap_or_else(|| vec![vec![self.unsolved_difference(&part)]]);
            ways = combine_ways(&ways, &ways_of_part);
            considered.push(part);
        }
        // Conjuncts that hold bound the expected values, too.
        let bounds = self.list_bounds(&transition.guard.unfolded_conjuncts());
        let mut ways: Vec<Vec<Difference>> =
            ways.into_iter().filter_map(|way| merge_differences(way, &bounds)).collect();
        ways.retain(|way| !way.is_empty());
        // Conditions that are solved one by one may contradict each other.
        let rightness: Vec<Option<bool>> =
            ways.iter().map(|way| self.is_right(way, &transition.guard, solver)).collect();
        let is_sure = |(way, right): (&Vec<Difference>, &Option<bool>)| right.unwrap_or(way.len() < 2);
        if !ways.iter().zip(&rightness).all(is_sure)
            && let Some(only_way) = self.find_only_event(transition, &considered, solver)
        {
            return vec![only_way];
        }
        // If no way is left, the failing conditions are shown as they are.
        if !ways.is_empty() && rightness.iter().all(|right| *right == Some(false)) {
            return vec![failing.iter().map(|part| self.unsolved_difference(part)).collect()];
        }
        let not_wrong = ways.into_iter().zip(rightness).filter(|(_, right)| *right != Some(false));
        not_wrong.map(|(way, _)| way).collect()
    }

    /// Does the guard hold with the values of this way? If the way also has bounds or demands on parts of
    /// parameters: `Some(false)` if the guard cannot hold with them, and `None` otherwise.
    fn is_right(&self, way: &[Difference], guard: &Term, solver: &mut Lazy) -> Option<bool> {
        let (mut expected, mut demanded) = (Valuation::new(), Vec::new());
        for Difference { term, wanted, .. } in way {
            let Some(term) = term else { continue };
            let parameter = self.parameters.iter().find(|candidate| term.written_datum() == Some(candidate));
            if let (Some(parameter), Some(value)) = (parameter, demanded_value(wanted)) {
                if !value.is_in(parameter.ty()) {
                    return Some(false);
                }
                expected.insert(parameter.clone(), value.clone());
                continue;
            }
            for demand in wanted.iter().filter(|demand| demand.fits_sort_of(term.sort())) {
                let (comparison, value) = match demand {
                    Demand::Value(value) => (Comparison::Equal, value),
                    Demand::Bound(comparison, end) => (*comparison, end),
                    Demand::Except(value) => (Comparison::NotEqual, value),
                    Demand::Text(_) | Demand::ToHold => continue,
                };
                demanded.push(Term::compare(comparison, term, &Term::literal(value.clone())));
            }
        }
        if self.silent.is_some() || (expected.is_empty() && demanded.is_empty()) {
            return None;
        }
        // Does the way give values only? The other parameters then keep those that came.
        let are_all_values = expected.len() == way.len();
        let mut values = self.values.clone();
        values.retain(|datum, _| are_all_values || !self.parameters.contains(datum));
        values.extend(expected);
        if are_all_values {
            return Some(holds(guard, &values) == Ok(true));
        }
        demanded.push(guard.clone());
        let open = substitute(&Term::and(demanded), &literals(&values)).conjuncts();
        (solver.witness(&open) == Witness::None).then_some(false)
    }

    /// Finds the differences from the only event that a transition allows, in the parameters that these
    /// conditions read, or else in all that its guard reads. `None`: some of them may have several values, or
    /// it is not known.
    fn find_only_event(
        &self,
        transition: &Transition,
        conditions: &[Term],
        solver: &mut Lazy,
    ) -> Option<Vec<Difference>> {
        let in_guard = self.parameters.iter().filter(|parameter| transition.guard.mentions(parameter));
        let (in_conditions, others): (Vec<_>, Vec<_>) =
            in_guard.partition(|parameter| conditions.iter().any(|part| part.mentions(parameter)));
        let (mut differences, mut values) = (Vec::new(), self.values.clone());
        for group in [in_conditions, others] {
            for parameter in group {
                let value = self.find_only_value(transition, parameter, solver)?;
                if self.values.get(parameter) != Some(&value) {
                    differences.extend(self.find_differences(&Term::datum(parameter), &value)?);
                }
                values.insert(parameter.clone(), value);
            }
            if holds(&transition.guard, &values) == Ok(true) {
                return Some(differences);
            }
        }
        None
    }

    /// Puts the values that some conditions demand of their only parameter into the others, one after the
    /// other. Each remaining condition comes as it was and with these values. Those that hold are dropped.
    fn correct_conditions(&self, parts: Vec<Term>, mut corrected: Substitution) -> Vec<(Term, Term)> {
        // Each part, with one of the conditions that its branches have.
        let mut opened: Vec<(Term, Term)> = Vec::new();
        for part in parts {
            let branches = self.replace_branches(&part).unwrap_or_else(|| part.clone());
            for condition in branches.conjuncts() {
                if holds(&condition, &self.values) != Ok(true) || self.list_read(&condition).len() > 1 {
                    opened.push((part.clone(), condition));
                }
            }
        }
        let demand = |part: &Term| match (self.list_read(part).as_slice(), self.isolate_parameter(part)) {
            ([parameter], Some((_, Demand::Value(value)))) => Some(((*parameter).clone(), value)),
            _ => None,
        };
        // The conditions that gave a parameter its value, as they were then.
        let mut deciding: Vec<Option<Term>> = vec![None; opened.len()];
        loop {
            let mut others = opened.iter().enumerate().filter(|(at, _)| deciding[*at].is_none());
            let next = others.find_map(|(at, (_, condition))| {
                let condition = substitute(condition, &corrected);
                Some((at, demand(&condition)?, condition))
            });
            let Some((at, (parameter, value), condition)) = next else { break };
            deciding[at] = Some(condition);
            corrected.insert(parameter, Term::literal(value));
        }
        let mut remaining = Vec::new();
        for ((part, condition), deciding) in opened.into_iter().zip(deciding) {
            let with_values = deciding.unwrap_or_else(|| substitute(&condition, &corrected));
            if self.list_read(&condition).len() < 2 || holds(&with_values, &self.values) != Ok(true) {
                remaining.push((part, with_values));
            }
        }
        remaining
    }

    /// Puts the branches that the state chooses in the place of a `match` or `if`, as far as they are
    /// outermost or sides of a comparison. The names of a case become its values.
    fn replace_branches(&self, part: &Term) -> Option<Term> {
        let mut scope = DecisiveScope::new(part, &self.values, self.parameters);
        let (opened, _) = choose_branches(part, &mut scope).filter(|(_, of_event)| of_event.is_empty())?;
        let mut names: Substitution = literals(&scope.values);
        names.retain(|name, _| self.values.get(name) != scope.values.get(name));
        Some(substitute(&opened, &names))
    }

    /// Is it known what a condition on this parameter demands? `not in {3}` says little of a number.
    fn is_solved(&self, condition: &Term, parameter: &Datum) -> bool {
        let is_simple = parameter.ty().is_integer() || matches!(parameter.ty(), Type::Enum(_));
        // Nor does the length of a collection say which elements are missing.
        let length = format!("len({parameter})");
        let is_vague = |demand: &Demand| match demand {
            Demand::ToHold => true,
            Demand::Text(_) | Demand::Except(_) => is_simple,
            Demand::Value(_) | Demand::Bound(..) => false,
        };
        let is_clear =
            |difference: &Difference| difference.subject != length && !difference.wanted.iter().any(is_vague);
        !is_quantified(condition)
            && self.solve(condition).is_some_and(|ways| ways.iter().flatten().all(is_clear))
    }

    /// Finds the only value of a parameter that a transition allows. `None`: several, or it is not known.
    pub(super) fn find_only_value(
        &self,
        transition: &Transition,
        parameter: &Datum,
        solver: &mut Lazy,
    ) -> Option<Value> {
        if self.silent.is_some() {
            return None;
        }
        let mut known: Substitution = literals(&self.values);
        known.retain(|datum, _| !self.parameters.contains(datum));
        let mut parts = substitute(&transition.guard, &known).conjuncts();
        let Witness::Found(witness) = solver.witness(&parts) else { return None };
        let value = witness.get(parameter)?;
        parts.push(Term::compare(
            Comparison::NotEqual,
            &Term::datum(parameter),
            &Term::literal(value.clone()),
        ));
        (solver.witness(&parts) == Witness::None).then(|| value.clone())
    }
}

/// Is it about each value of a domain, or a function of this kind?
fn is_quantified(condition: &Term) -> bool {
    match condition.shape() {
        TermShape::Operation(DerivedOperation::Quantified(quantified), _) => {
            quantified.quantifier == Quantifier::All
        }
        _ => condition.unfolded().is_some_and(|body| is_quantified(&body)),
    }
}
