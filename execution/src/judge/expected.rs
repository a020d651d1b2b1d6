//! Finds out what should have come if something else came: the values, ranges or actions that are allowed.
//!
//! **Problem.** A guard says which observations are allowed. A user wants to know which value was expected.
//!
//! **Method.** Transitions that cannot be taken in their state are left out. In the others with the observed
//! action, each conjunct that fails is solved for the observed part: an equation gives a value, comparisons
//! give a range, membership gives a set. A conjunct that cannot be solved is shown as it is, with the values
//! in it. If no transition is left, the answer is the possible actions.
//!
//! **Terminates**, since each step looks at a part of a term or of a value, and large terms are not taken
//! apart. **Costs** one evaluation of each conjunct, and one question to the solver for each transition with
//! a conjunct that is not about one parameter alone.

use std::collections::BTreeMap;

use coreach_analyses::solver::{Solver, Witness};
use coreach_analyses::symbolic::eliminate::solve_for;
use coreach_model::diagnostic::Origin;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::number::time_text;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{DerivedOperation, Quantifier, StandardOperation};
use coreach_model::term::strings::StringOperation;
use coreach_model::term::{Substitution, TermShape, literals, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Term, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::judge::contract::Guard;
use crate::judge::decisive::{
    Grounds, LARGEST_PART, LONGEST_VALUE, Scope, choose_branches, collect_values, explain_condition, is_path,
    list_instances,
};
use crate::judge::differences::{
    Demand, Difference, MOST_NAMED, MOST_WAYS, alternatives_text, combine_ways, compare_values, demand_text,
    demanded_value, instants_text, is_short, join_with_or, merge_differences, value_text,
};
use crate::judge::excerpts::cut_text;
use crate::judge::guards::{failing_conjuncts, may_be, with_event};
use crate::lazy::Lazy;

/// A transition that leads to no Fail, and a state in which it may be taken.
pub(crate) type OpenTransition<'t> = (&'t Transition, &'t State);

/// The expected values and actions, compared with what came.
#[derive(Default)]
pub(crate) struct Expectation {
    /// `pNumber = 11, got 12`, or `one of Ok or Refused, got Closed`.
    pub phrase: String,
    pub guards: Vec<Guard>,
    pub expected: Vec<String>,
}

/// Describes what these transitions allow, next to the observation. `silent` is how long nothing came before
/// it, in a timed test case.
pub(crate) fn describe_expectation(
    iosts: &Iosts,
    open: &[OpenTransition<'_>],
    observed: Option<&Event>,
    silent: Option<&RBig>,
) -> Expectation {
    let question = |(transition, state): OpenTransition<'_>, event: Option<&Event>| {
        let parameters = &iosts.action(transition.action).parameters;
        let values = event.map_or_else(|| state.valuation.clone(), |event| with_event(iosts, state, event));
        let name = iosts.action(transition.action).name.as_str();
        Question { name, parameters, silent, values }
    };
    let mut solver = Lazy::default();
    let mut can_come = |&(transition, state): &OpenTransition<'_>| {
        may_be(transition, state) && question((transition, state), None).can_come(transition, &mut solver)
    };
    let possible: Vec<OpenTransition<'_>> = open.iter().filter(|open| can_come(open)).copied().collect();
    // The events that are allowed.
    let mut expected: Vec<String> = Vec::new();
    let mut actions: Vec<String> = Vec::new();
    for &(transition, state) in &possible {
        let (short, condition) =
            question((transition, state), None).describe_allowed(transition, &mut solver);
        add_new(
            &mut expected,
            if condition.is_empty() { short.clone() } else { format!("{short} when {condition}") },
        );
        add_new(&mut actions, short);
    }
    let actions = match actions.len() {
        0 => "no output".to_owned(),
        1 => actions.remove(0),
        count if count <= MOST_NAMED => format!("one of {}", join_with_or(&actions)),
        count => format!("one of {} and {} others", actions[..MOST_NAMED].join(", "), count - MOST_NAMED),
    };
    let Some(event) = observed else { return Expectation { phrase: actions, guards: Vec::new(), expected } };
    let has_its_action =
        |(transition, _): &&OpenTransition<'_>| iosts.action(transition.action).name == event.action;
    let of_its_action: Vec<OpenTransition<'_>> = possible.iter().filter(has_its_action).copied().collect();
    // The differences of the observed event from those of its action.
    let mut alternatives: Vec<Vec<Difference>> = Vec::new();
    for &(transition, state) in &of_its_action {
        for alternative in question((transition, state), Some(event)).differences(transition, &mut solver) {
            add_new(&mut alternatives, alternative);
        }
    }
    // If the event cannot come at all now, the guards of the impossible transitions say why.
    let explaining = match of_its_action.is_empty() {
        true => open.iter().filter(has_its_action).copied().collect(),
        false => of_its_action,
    };
    let mut guards = Vec::new();
    for &(transition, state) in &explaining {
        for guard in question((transition, state), Some(event)).failing_parts(iosts, transition) {
            add_guard(&mut guards, guard);
        }
    }
    // The event would be right by a transition that one condition excludes: this decides between the two.
    for &(transition, state) in open.iter().filter(has_its_action) {
        let question = question((transition, state), Some(event));
        if let [only] = failing_conjuncts(&transition.guard, &question.values).as_slice()
            && !possible.iter().any(|(one, _)| std::ptr::eq(*one, transition))
        {
            add_guard(&mut guards, question.guard(iosts, transition, only, false));
        }
    }
    // The state does not tell why this action cannot come: it tells why the only possible one can.
    let is_told = |&(transition, state): &OpenTransition<'_>| {
        let question = question((transition, state), Some(event));
        failing_conjuncts(&transition.guard, &question.values).iter().any(|part| !question.reads_event(part))
    };
    if let (Some(only @ (transition, _)), [_]) = (possible.first(), expected.as_slice())
        && alternatives.is_empty()
        && !explaining.is_empty()
        && !explaining.iter().any(is_told)
    {
        guards.extend(question(*only, None).guard_of_state(iosts, transition));
    }
    let phrase = match alternatives_text(&event.action, &alternatives) {
        Some(phrase) => phrase,
        None if event.values.is_empty() || silent.is_some() => format!("{actions}, got {}", event.action),
        None => format!("{actions}, got {event}"),
    };
    Expectation { phrase, guards, expected }
}

fn add_new<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.contains(&item) {
        items.push(item);
    }
}

/// Adds a guard. The parts into which a purpose splits a transition differ in their targets alone.
fn add_guard(guards: &mut Vec<Guard>, guard: Guard) {
    fn key(guard: &Guard) -> (Option<&str>, Option<&str>, &str) {
        let start = guard.transition.rsplit_once("-> ").map(|(start, _)| start);
        (start, guard.place.as_deref(), &guard.part)
    }
    if guards.iter().all(|known| key(known) != key(&guard)) {
        guards.push(guard);
    }
}

/// A transition, with the values by which its guard is read.
struct Question<'t> {
    name: &'t str,
    parameters: &'t [Datum],
    /// In a timed test case: how long nothing came before.
    silent: Option<&'t RBig>,
    /// The values of the state and of the event.
    values: Valuation,
}

impl Question<'_> {
    fn reads_event(&self, term: &Term) -> bool {
        self.parameters.iter().any(|parameter| term.mentions(parameter))
    }

    fn is_delay(&self, term: &Term) -> bool {
        self.silent.is_some() && term.as_datum().is_some_and(|datum| self.parameters.first() == Some(datum))
    }

    /// The conjuncts that failed. If the state alone decides some of them, these are enough.
    fn failing_parts(&self, iosts: &Iosts, transition: &Transition) -> Vec<Guard> {
        let mut parts = failing_conjuncts(&transition.guard, &self.values);
        if parts.iter().any(|part| !self.reads_event(part)) {
            parts.retain(|part| !self.reads_event(part));
        }
        let mut parts: Vec<Term> =
            self.correct_conditions(parts, Substitution::new()).into_iter().map(|(part, _)| part).collect();
        parts.dedup();
        parts.iter().map(|part| self.guard(iosts, transition, part, false)).collect()
    }

    /// The conditions of a guard that the state alone decides, if there are any.
    fn guard_of_state(&self, iosts: &Iosts, transition: &Transition) -> Option<Guard> {
        let mut parts = transition.guard.conjuncts();
        parts.retain(|part| !self.reads_event(part) && !part.asks_definedness());
        (!parts.is_empty()).then(|| self.guard(iosts, transition, &Term::and(parts), true))
    }

    fn guard(&self, iosts: &Iosts, transition: &Transition, part: &Term, holds: bool) -> Guard {
        let origin = transition.origin.guard.as_ref().or(transition.origin.whole.as_ref());
        let place = origin.map(Origin::file_and_line);
        let transition = iosts.describe(transition);
        let Grounds { since, values } = explain_condition(part, &self.values, self.parameters);
        Guard { transition, place, part: part.to_string(), holds, since, values }
    }

    /// The differences from the guard's demands: a list for each way in which it would have held.
    fn differences(&self, transition: &Transition, solver: &mut Lazy) -> Vec<Vec<Difference>> {
        let all_failing = failing_conjuncts(&transition.guard, &self.values);
        let (mut failing, mut ways) = (all_failing.clone(), vec![Vec::new()]);
        // Those parameters of which it is known what is right.
        let mut corrected = Substitution::new();
        // A condition on each part of a parameter often allows one value.
        for parameter in self.parameters {
            let asks = |part: &Term| self.list_read(part) == [parameter] && !self.is_solved(part, parameter);
            if failing.iter().any(asks)
                && let Some(value) = self.find_only_value(transition, parameter, solver)
                && let Some(found) = self.find_differences(&Term::datum(parameter), &value)
            {
                failing.retain(|part| self.list_read(part) != [parameter]);
                ways = combine_ways(&ways, &[found]);
                corrected.insert(parameter.clone(), Term::literal(value));
            }
        }
        // A condition that holds for a wrong value may fail for the right one.
        let mut parts = failing.clone();
        let reads_several = |part: &Term| self.list_read(part).len() > 1;
        let conjuncts = transition.guard.conjuncts();
        let holding = conjuncts.iter().filter(|part| reads_several(part) && !parts.contains(part));
        let holding: Vec<Term> = holding.filter(|part| !part.asks_definedness()).cloned().collect();
        parts.extend(holding);
        let mut considered = all_failing.clone();
        for (part, corrected_part) in self.correct_conditions(parts, corrected) {
            let solved = self.solve(&corrected_part);
            let ways_of_part = solved.unwrap_or_else(|| vec![vec![self.unsolved_difference(&part)]]);
            ways = combine_ways(&ways, &ways_of_part);
            considered.push(part);
        }
        // Conjuncts that hold bound the expected values, too.
        let conjuncts = transition.guard.unfolded_conjuncts();
        let bound = |part: &Term| self.range_difference(part).or_else(|| self.held_value(part));
        let bounds: Vec<Difference> = conjuncts.iter().filter_map(bound).collect();
        let merged = ways.into_iter().filter_map(|way| merge_differences(way, &bounds));
        let merged: Vec<Vec<Difference>> = merged.filter(|way| !way.is_empty()).collect();
        // Conditions that are solved one by one may contradict each other.
        let mut judge = |way: Vec<Difference>| {
            let is_right = self.is_right(&way, &transition.guard, solver);
            (way, is_right)
        };
        let judged: Vec<(Vec<Difference>, Option<bool>)> = merged.into_iter().map(&mut judge).collect();
        let is_sure = |(way, is_right): &(Vec<Difference>, Option<bool>)| is_right.unwrap_or(way.len() < 2);
        if !judged.iter().all(is_sure)
            && let Some(found) = self.find_only_event(transition, &considered, solver)
        {
            return vec![found];
        }
        let (wrong, others): (Vec<_>, Vec<_>) =
            judged.into_iter().partition(|(_, is_right)| *is_right == Some(false));
        match others.is_empty() && !wrong.is_empty() {
            true => vec![all_failing.iter().map(|part| self.unsolved_difference(part)).collect()],
            false => others.into_iter().map(|(way, _)| way).collect(),
        }
    }

    /// Does the guard hold with the expected values? If something else is expected than values of parameters:
    /// can it hold? `None` if that is not excluded.
    fn is_right(&self, way: &[Difference], guard: &Term, solver: &mut Lazy) -> Option<bool> {
        let mut expected = Valuation::new();
        for difference in way {
            let parameter = self.parameters.iter().find(|one| one.name() == difference.subject);
            if let (Some(parameter), Some(value)) = (parameter, demanded_value(&difference.wanted)) {
                if !value.is_in(parameter.ty()) {
                    return Some(false);
                }
                expected.insert(parameter.clone(), value.clone());
            }
        }
        if self.silent.is_some() || expected.is_empty() {
            return None;
        }
        let is_all = expected.len() == way.len();
        let mut values = self.values.clone();
        values.retain(|datum, _| is_all || !self.parameters.contains(datum));
        values.extend(expected);
        if is_all {
            return Some(holds(guard, &values) == Ok(true));
        }
        let open = substitute(guard, &literals(&values)).conjuncts();
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
        for read_by in [conditions, std::slice::from_ref(&transition.guard)] {
            let is_read = |one: &&Datum| read_by.iter().any(|part| part.mentions(one));
            let (mut found, mut values) = (Vec::new(), self.values.clone());
            for parameter in self.parameters.iter().filter(is_read) {
                let value = self.find_only_value(transition, parameter, solver)?;
                if self.values.get(parameter) != Some(&value) {
                    found.extend(self.find_differences(&Term::datum(parameter), &value)?);
                }
                values.insert(parameter.clone(), value);
            }
            if holds(&transition.guard, &values) == Ok(true) {
                return Some(found);
            }
        }
        None
    }

    /// Puts the values that some conditions demand of their only parameter into the others, one after the
    /// other. Each remaining condition comes as it was and with these values. Those that hold are dropped.
    fn correct_conditions(&self, parts: Vec<Term>, mut corrected: Substitution) -> Vec<(Term, Term)> {
        let open = |part: &Term| self.open_branches(part).unwrap_or_else(|| part.clone()).conjuncts();
        let (parts, opened): (Vec<Term>, Vec<Term>) = parts
            .iter()
            .flat_map(|part| open(part).into_iter().map(|opened| (part.clone(), opened)))
            .filter(|(_, opened)| holds(opened, &self.values) != Ok(true) || self.list_read(opened).len() > 1)
            .unzip();
        let mut decided: Vec<Option<Term>> = vec![None; parts.len()];
        let demand = |part: &Term| match (self.list_read(part).as_slice(), self.isolate_parameter(part)) {
            ([parameter], Some((_, Demand::Value(value)))) => Some(((*parameter).clone(), value)),
            _ => None,
        };
        loop {
            let open = opened.iter().enumerate().filter(|(at, _)| decided[*at].is_none());
            let mut deciding = open.filter_map(|(at, part)| {
                let part = substitute(part, &corrected);
                Some((at, demand(&part)?, part))
            });
            let Some((at, (parameter, value), part)) = deciding.next() else { break };
            decided[at] = Some(part);
            corrected.insert(parameter, Term::literal(value));
        }
        let is_left = |part: &Term, with_values: &Term| {
            self.list_read(part).len() < 2 || holds(with_values, &self.values) != Ok(true)
        };
        let with_values = opened.iter().zip(decided).map(|(opened, decided)| {
            let with_values = decided.unwrap_or_else(|| substitute(opened, &corrected));
            is_left(opened, &with_values).then_some(with_values)
        });
        parts.into_iter().zip(with_values).filter_map(|(part, found)| Some((part, found?))).collect()
    }

    /// Puts the branches that the state chooses in the place of a `match` or `if`, as far as they are
    /// outermost or sides of a comparison. The names of a case become its values.
    fn open_branches(&self, part: &Term) -> Option<Term> {
        let mut scope = Scope { values: self.values.clone(), of_event: self.parameters.to_vec() };
        let (opened, _) = choose_branches(part, &mut scope).filter(|(_, is_of_state)| *is_of_state)?;
        let mut names: Substitution = literals(&scope.values);
        names.retain(|name, _| !self.values.contains_key(name));
        Some(substitute(&opened, &names))
    }

    /// Is it known what a condition on this parameter demands? An exception (`not in {3}`) says little of a
    /// number or a literal.
    fn is_solved(&self, condition: &Term, parameter: &Datum) -> bool {
        let is_simple = parameter.ty().is_integer() || matches!(parameter.ty(), Type::Enum(_));
        // Nor does the length of a collection say which elements are missing.
        let length = format!("len({parameter})");
        let says = |difference: &Difference| {
            difference.subject != length
                && !(is_simple && difference.wanted.iter().any(|demand| matches!(demand, Demand::Text(_))))
        };
        !is_quantified(condition) && self.solve(condition).is_some_and(|ways| ways.iter().flatten().all(says))
    }

    /// Finds the only value that a transition allows for a parameter, whatever the others are. `None`: there
    /// are several, or it is not known.
    fn find_only_value(
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
        let Witness::Found(found) = solver.witness(&parts) else { return None };
        let value = found.get(parameter)?;
        parts.push(Term::compare(
            Comparison::NotEqual,
            &Term::datum(parameter),
            &Term::literal(value.clone()),
        ));
        (solver.witness(&parts) == Witness::None).then(|| value.clone())
    }

    /// The parameters that a condition reads.
    fn list_read(&self, condition: &Term) -> Vec<&Datum> {
        self.parameters.iter().filter(|parameter| condition.mentions(parameter)).collect()
    }

    /// The value of a part of the event that an equation fixes, if the equation holds.
    fn held_value(&self, part: &Term) -> Option<Difference> {
        let Node::Compare(Comparison::Equal, a, b) = part.written()? else { return None };
        let is_one_sided = self.reads_event(a) != self.reads_event(b);
        if !is_one_sided || holds(part, &self.values) != Ok(true) {
            return None;
        }
        let (subject, _, value) = self.isolate_demand(part)?;
        self.difference(&subject, Demand::Value(value))
    }

    /// Makes the difference of a part that is not solved for the event: what the event has for its
    /// parameters.
    fn unsolved_difference(&self, part: &Term) -> Difference {
        let mut values = BTreeMap::new();
        collect_values(part, &self.values, &mut values);
        let is_of_event = |name: &String| self.parameters.iter().any(|parameter| parameter.name() == name);
        let got = values.iter().filter(|(name, _)| is_of_event(name));
        let mut got: Vec<String> =
            got.map(|(name, value)| format!("{name} = {}", cut_text(value, LONGEST_VALUE))).collect();
        if let Err(why) = holds(part, &self.values) {
            got.push(format!("where {why}"));
        }
        let wanted = vec![Demand::Text("to hold".to_owned())];
        Difference { subject: format!("`{part}`"), wanted, got: got.join(", ") }
    }

    /// Solves a condition: each list of differences is a way in which it would hold. An empty list: it holds
    /// already. No list: no event makes it hold. `None`: no way is known.
    fn solve(&self, part: &Term) -> Option<Vec<Vec<Difference>>> {
        if holds(part, &self.values) == Ok(true) {
            return Some(vec![Vec::new()]);
        }
        if !self.reads_event(part) {
            return Some(Vec::new());
        }
        if part.written_size() > LARGEST_PART {
            return None;
        }
        if let Some(Node::Compare(_, a, b)) = part.written()
            && [a, b].iter().any(|side| !self.reads_event(side) && evaluate(side, &self.values).is_err())
        {
            return Some(Vec::new());
        }
        let single = |difference: Difference| Some(vec![vec![difference]]);
        if let Some((subject, name, is_positive)) = part.as_question() {
            let wanted = format!("is {}{name}", if is_positive { "" } else { "not " });
            return single(self.difference(subject, Demand::Text(wanted))?);
        }
        let mut scope = Scope { values: self.values.clone(), of_event: self.parameters.to_vec() };
        if let Some((chosen, is_of_state)) = choose_branches(part, &mut scope)
            && (is_of_state || self.reads_event(&chosen))
        {
            let inner = Question { parameters: &scope.of_event, values: scope.values, ..*self };
            // Another event may choose another branch.
            return inner.solve(&chosen).filter(|ways| is_of_state || !ways.is_empty());
        }
        let node = match part.shape() {
            TermShape::Node(node) => node,
            TermShape::Operation(DerivedOperation::Call(_), _) => return self.solve(&part.unfolded()?),
            TermShape::Operation(DerivedOperation::Quantified(quantified), arguments)
                if quantified.quantifier == Quantifier::All =>
            {
                // The first instance that fails explains the failure.
                let instances = list_instances(quantified, arguments, &self.values)?;
                let failing = instances.iter().find(|one| holds(one, &self.values) != Ok(true));
                let is_fixed = !arguments.iter().any(|argument| self.reads_event(argument));
                let ways = failing.and_then(|instance| self.solve(instance));
                return ways.filter(|ways| is_fixed || !ways.is_empty());
            }
            TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
                return single(self.membership_difference(*operation, arguments, true)?);
            }
            TermShape::Operation(..) => return None,
        };
        match node {
            Node::And(parts) => {
                let solved: Vec<_> = parts.iter().map(|part| self.solve(part)).collect();
                // A part that no event makes hold decides, also if others are not solved.
                if solved.iter().flatten().any(Vec::is_empty) {
                    return Some(Vec::new());
                }
                let mut ways = vec![Vec::new()];
                for ways_of_part in solved {
                    ways = combine_ways(&ways, &ways_of_part?);
                }
                Some(ways)
            }
            Node::Or(parts) => {
                let solved: Vec<_> = parts.iter().map(|part| self.solve(part)).collect();
                if solved.iter().all(Option::is_none) {
                    return None;
                }
                // A part that cannot be solved stays a way, so that the others do not seem to be all.
                let unsolved = |part| vec![vec![self.unsolved_difference(part)]];
                let ways =
                    parts.iter().zip(solved).flat_map(|(part, ways)| ways.unwrap_or_else(|| unsolved(part)));
                Some(ways.take(MOST_WAYS).collect())
            }
            Node::IfThenElse(condition, then, other) => {
                let ways = self.solve(if holds(condition, &self.values).ok()? { then } else { other });
                ways.filter(|ways| !self.reads_event(condition) || !ways.is_empty())
            }
            Node::Not(inner) => match inner.shape() {
                TermShape::Operation(DerivedOperation::Call(_), _) => self.solve(&inner.unfolded()?.not()),
                TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
                    single(self.membership_difference(*operation, arguments, false)?)
                }
                _ => Some(vec![self.find_differences(inner, &Value::Bool(false))?]),
            },
            Node::Data(_) | Node::Field(..) | Node::Select(..) => {
                Some(vec![self.find_differences(part, &Value::Bool(true))?])
            }
            Node::Compare(Comparison::Equal, ..) => {
                let (subject, _, value) = self.isolate_demand(part)?;
                if let Value::Bool(is_in) = value
                    && let TermShape::Operation(DerivedOperation::Standard(operation), arguments) =
                        subject.shape()
                    && let Some(difference) = self.membership_difference(*operation, arguments, is_in)
                {
                    return single(difference);
                }
                Some(vec![self.find_differences(&subject, &value)?])
            }
            Node::Compare(Comparison::NotEqual, ..) => {
                let (subject, _, value) = self.isolate_demand(part)?;
                single(self.difference(&subject, Demand::Text(format!("!= {}", value_text(&value))))?)
            }
            Node::Compare(..) => single(self.range_difference(part)?),
            Node::OnStrings(StringOperation::Matches, arguments) => {
                single(self.difference(&arguments[0], Demand::Text(format!("matching {}", arguments[1])))?)
            }
            _ => None,
        }
    }

    /// The difference for `k in s` or `contains(q, e)`, which should hold (`is_in`) or not. `None` for other
    /// operations, or if nothing of it is about the event.
    fn membership_difference(
        &self,
        operation: StandardOperation,
        arguments: &[Term],
        is_in: bool,
    ) -> Option<Difference> {
        let (element, whole) = match operation {
            StandardOperation::HasKey => (&arguments[0], &arguments[1]),
            StandardOperation::Contains => (&arguments[1], &arguments[0]),
            _ => return None,
        };
        let (subject, word, given) = match self.reads_event(whole) {
            true => (whole, if is_in { "with" } else { "without" }, element),
            false => (element, if is_in { "in" } else { "not in" }, whole),
        };
        let text = match evaluate(given, &self.values).ok()? {
            // Of a map only the keys count.
            Value::Record(ty, fields) if ty.map_value_type().is_some() => {
                let keys: Vec<String> = ty.entries(&fields).iter().map(|(key, _)| key.to_string()).collect();
                format!("{{{}}}", cut_text(&keys.join(", "), LONGEST_VALUE))
            }
            value => value_text(&value),
        };
        self.difference(subject, Demand::Text(format!("{word} {text}")))
    }

    /// Turns a comparison into a demand on a part of the event: `pA + 1 == v` is a demand on `pA`. `None`: it
    /// is no comparison, or a side has no value.
    fn isolate_demand(&self, part: &Term) -> Option<(Term, Comparison, Value)> {
        let Node::Compare(comparison, a, b) = part.written()? else { return None };
        let read = self.list_read(part);
        // A number in an expression, or on both sides: the comparison is solved for it.
        let on_both_sides = |datum: &&&Datum| a.mentions(datum) && b.mentions(datum);
        let inner = match read.as_slice() {
            [datum] if !is_path(a) && !is_path(b) => Some(datum),
            several => several.iter().find(on_both_sides),
        };
        if let Some(datum) = inner.filter(|datum| datum.ty().sort().is_number()) {
            let mut known: Substitution = literals(&self.values);
            known.remove(*datum);
            if let Some((comparison, value)) = solve_for(&substitute(part, &known), datum)
                && let Some(value) = value.as_literal()
            {
                return Some((Term::datum(datum), comparison, value.clone()));
            }
            if read.len() == 1 && on_both_sides(&datum) {
                return None;
            }
        }
        // Of two sides that read the event, a part of it is the subject, and the left one otherwise.
        let is_left = match (self.reads_event(a), self.reads_event(b)) {
            (true, true) => is_path(a) || !is_path(b),
            (left_reads_event, _) => left_reads_event,
        };
        let (subject, wanted) = if is_left { (a, b) } else { (b, a) };
        let comparison = if is_left { *comparison } else { mirror_comparison(*comparison) };
        Some((subject.clone(), comparison, evaluate(wanted, &self.values).ok()?))
    }

    /// The difference for an order between a part of the event and a value: an end of a range. `None` for
    /// other parts.
    fn range_difference(&self, part: &Term) -> Option<Difference> {
        use Comparison::{AtLeast, AtMost, Greater, Less};
        let is_order = matches!(part.written()?, Node::Compare(Less | AtMost | Greater | AtLeast, ..));
        if !self.reads_event(part) || !is_order {
            return None;
        }
        // An order between two parts of the event is shown as it is written.
        if let Some(Node::Compare(written, a, b)) = part.written()
            && is_path(a)
            && is_path(b)
            && self.reads_event(a)
            && self.reads_event(b)
        {
            let got = [a, b].map(|side| evaluate(side, &self.values).map(|value| value_text(&value)));
            let [Ok(left), Ok(right)] = got else { return None };
            let wanted = vec![Demand::Text(format!("{written} {b}"))];
            return Some(Difference { subject: a.to_string(), wanted, got: format!("{left} and {right}") });
        }
        let (subject, comparison, value) = self.isolate_demand(part)?;
        self.difference(&subject, Demand::Bound(comparison, value))
    }

    /// The difference of a part of the event from a demand. Delays count from the last event. `None` if the
    /// part has no value.
    fn difference(&self, subject: &Term, wanted: Demand) -> Option<Difference> {
        let got = evaluate(subject, &self.values).ok()?;
        if self.is_delay(subject) {
            return Some(Difference {
                subject: String::new(),
                wanted: vec![self.since_last_event(wanted)],
                got: self.time(&got),
            });
        }
        Some(Difference { subject: subject.to_conjunct(), wanted: vec![wanted], got: value_text(&got) })
    }

    /// Turns a demand on the time since the last step into one on the time since the last event.
    fn since_last_event(&self, wanted: Demand) -> Demand {
        let later = |value: Value| match (value, self.silent) {
            (Value::Real(value), Some(silent)) => Value::Real(value + silent),
            (value, _) => value,
        };
        match wanted {
            Demand::Value(value) => Demand::Value(later(value)),
            Demand::Bound(comparison, value) => Demand::Bound(comparison, later(value)),
            text @ Demand::Text(_) => text,
        }
    }

    fn time(&self, value: &Value) -> String {
        match self.since_last_event(Demand::Value(value.clone())) {
            Demand::Value(Value::Real(value)) => format!("{} s", time_text(&value)),
            _ => value.to_string(),
        }
    }

    /// Finds the places where a part of the event differs from the value that it should have. If they are
    /// several and the value is short, it is the only one. `None` if the part has no value.
    fn find_differences(&self, subject: &Term, value: &Value) -> Option<Vec<Difference>> {
        if self.is_delay(subject) {
            return Some(vec![self.difference(subject, Demand::Value(value.clone()))?]);
        }
        let got = evaluate(subject, &self.values).ok()?;
        let mut found = Vec::new();
        if let Some(parts) = self.list_wrong_parts(subject, value, &got) {
            for (part, value) in parts {
                found.extend(self.find_differences(part, value)?);
            }
            return Some(found);
        }
        compare_values(subject.to_conjunct(), value, &got, &mut found);
        if found.len() > 1 && is_short(value) {
            let wanted = vec![Demand::Value(value.clone())];
            found = vec![Difference { subject: subject.to_conjunct(), wanted, got: value_text(&got) }];
        }
        let hidden = found.len().saturating_sub(MOST_NAMED);
        found.truncate(MOST_NAMED);
        if let Some(last) = found.last_mut().filter(|_| hidden > 0) {
            last.got +=
                &format!(" and {hidden} more {}", if hidden == 1 { "difference" } else { "differences" });
        }
        Some(found)
    }

    /// Lists the wrong parts of a record that the guard writes out, such as `i` of `{ song: s, id: i }`.
    /// `None` if the subject is no such record, or if a wrong part does not read the event.
    fn list_wrong_parts<'v>(
        &self,
        subject: &'v Term,
        value: &'v Value,
        got: &Value,
    ) -> Option<Vec<(&'v Term, &'v Value)>> {
        let (Node::Record(ty, parts), Value::Record(_, values), Value::Record(_, got)) =
            (subject.node(), value, got)
        else {
            return None;
        };
        let wrong = parts.iter().zip(values.iter()).zip(got.iter());
        let wrong: Vec<(&Term, &Value)> =
            wrong.filter(|((_, value), got)| value != got).map(|(part, _)| part).collect();
        let are_read = wrong.iter().all(|(part, _)| self.reads_event(part));
        (ty.form == RecordForm::Plain && are_read).then_some(wrong)
    }

    /// Splits a guard: the demands on single parameters by name, and the other conjuncts that read the event.
    fn demands(&self, transition: &Transition) -> (Vec<(String, Vec<Demand>)>, Vec<Term>) {
        let mut by_parameter: Vec<(String, Vec<Demand>)> = Vec::new();
        let mut other_parts = Vec::new();
        for part in transition.guard.conjuncts() {
            // The state decides the first kind, and the second kind is no demand that a person would make.
            if !self.reads_event(&part) || part.asks_definedness() {
                continue;
            }
            match self.isolate_parameter(&part) {
                Some((name, demand)) => match by_parameter.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, demands)) => demands.push(demand),
                    None => by_parameter.push((name, vec![demand])),
                },
                None => other_parts.push(part),
            }
        }
        (by_parameter, other_parts)
    }

    /// Describes the event that a transition allows, as `Return(pValue = 3)`, and what else its guard
    /// demands.
    fn describe_allowed(&self, transition: &Transition, solver: &mut Lazy) -> (String, String) {
        let (mut by_parameter, mut other_parts) = self.demands(transition);
        let is_read = |parameter: &&Datum| other_parts.iter().any(|part| part.mentions(parameter));
        for parameter in self.parameters.iter().filter(is_read) {
            if let Some(value) = self.find_only_value(transition, parameter, solver) {
                by_parameter.retain(|(name, _)| name != parameter.name());
                by_parameter.push((parameter.name().to_owned(), vec![Demand::Value(value)]));
            }
        }
        let is_told = |datum: &Datum| {
            let demands = by_parameter.iter().find(|(name, _)| name == datum.name());
            demands.is_some_and(|(_, demands)| demanded_value(demands).is_some())
        };
        other_parts.retain(|part| !self.list_read(part).into_iter().all(is_told));
        let demands_on = |parameter: &Datum| {
            by_parameter.iter().find(|(name, _)| name == parameter.name()).map(|(_, all)| all)
        };
        let text = |parameter: &Datum| match demands_on(parameter).and_then(|demands| demand_text(demands)) {
            Some(text) => format!("{} {text}", parameter.name()),
            None => parameter.name().to_owned(),
        };
        // In a timed test case the first parameter is the delay, which is shown as an instant.
        let delay = self.silent.and_then(|_| self.parameters.first());
        let shown_parameters = &self.parameters[usize::from(delay.is_some())..];
        let mut short = self.name.to_owned();
        if !shown_parameters.is_empty() {
            short += &format!("({})", shown_parameters.iter().map(text).collect::<Vec<_>>().join(", "));
        }
        if let Some(demands) = delay.and_then(demands_on) {
            let demands: Vec<Demand> =
                demands.iter().cloned().map(|demand| self.since_last_event(demand)).collect();
            short += &format!(" {}", instants_text(&demands));
        }
        let conjunct =
            |part: &Term| if other_parts.len() > 1 { part.to_conjunct() } else { part.to_string() };
        let mut condition = other_parts.iter().map(conjunct).collect::<Vec<_>>().join(" && ");
        let mut known = BTreeMap::new();
        other_parts.iter().for_each(|part| collect_values(part, &self.values, &mut known));
        if !known.is_empty() {
            let known =
                known.iter().map(|(name, value)| format!("{name} = {}", cut_text(value, LONGEST_VALUE)));
            condition += &format!(", where {}", known.collect::<Vec<_>>().join(", "));
        }
        (short, condition)
    }

    /// The demand of a conjunct on one parameter alone, with the parameter's name. `None`: it is about more.
    fn isolate_parameter(&self, part: &Term) -> Option<(String, Demand)> {
        match part.written() {
            Some(Node::Data(datum)) => {
                return Some((datum.name().to_owned(), Demand::Value(Value::Bool(true))));
            }
            Some(Node::Not(inner)) => {
                let datum = inner.written_datum()?;
                return Some((datum.name().to_owned(), Demand::Value(Value::Bool(false))));
            }
            _ => {}
        }
        let (subject, comparison, value) = self.isolate_demand(part)?;
        let wanted = match comparison {
            Comparison::Equal => Demand::Value(value),
            Comparison::NotEqual => Demand::Text(format!("!= {value}")),
            order => Demand::Bound(order, value),
        };
        Some((subject.written_datum()?.name().to_owned(), wanted))
    }

    /// Can some values take the transition? Errs towards yes.
    fn can_come(&self, transition: &Transition, solver: &mut Lazy) -> bool {
        let (by_parameter, other_parts) = self.demands(transition);
        let (mut known, mut is_sure) = (literals(&self.values), other_parts.is_empty());
        for (name, mut demands) in by_parameter {
            let Some(datum) = self.parameters.iter().find(|datum| datum.name() == name) else { continue };
            demands.extend(ends_of_type(datum.ty()));
            // An integer that is compared with a real is a question for the solver.
            if !demands.iter().all(|demand| demand.fits_sort_of(datum.ty())) {
                is_sure = false;
                continue;
            }
            let value = demanded_value(&demands);
            if demand_text(&demands).is_none() || value.is_some_and(|value| !value.is_in(datum.ty())) {
                return false;
            }
            known.extend(value.map(|value| (datum.clone(), Term::literal(value.clone()))));
        }
        if is_sure {
            return true;
        }
        let guard = substitute(&transition.guard, &known);
        guard.is_true() || (!guard.is_false() && solver.witness(&guard.conjuncts()) != Witness::None)
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

/// The demands that a type of integers makes on its values: the ends of its range.
fn ends_of_type(ty: &Type) -> Vec<Demand> {
    let end = |comparison, value: &IBig| Demand::Bound(comparison, Value::Int(value.clone()));
    match ty {
        Type::Nat => vec![end(Comparison::AtLeast, &IBig::ZERO)],
        Type::Range(low, high) => vec![end(Comparison::AtLeast, low), end(Comparison::AtMost, high)],
        _ => Vec::new(),
    }
}

/// The guard of a transition that was taken, unless it is always true.
pub(crate) fn decided_guard(iosts: &Iosts, transition: &Transition, values: Valuation) -> Option<Guard> {
    let question = Question { name: "", parameters: &[], silent: None, values };
    // Nobody has written the conjuncts that ask whether operations have values.
    let written = transition.guard.conjuncts().into_iter().filter(|part| !part.asks_definedness());
    let part = Term::and(written);
    (!part.is_true()).then(|| question.guard(iosts, transition, &part, true))
}

fn mirror_comparison(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
        Comparison::Equal | Comparison::NotEqual => comparison,
    }
}
