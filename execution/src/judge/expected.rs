//! Finds out what should have come if something else came: the values, ranges or actions that are allowed.
//!
//! **Problem.** A guard says which observations are allowed. A user wants to know which value was expected.
//!
//! **Method.** Transitions that cannot be taken in their state are left out. In the others with the observed
//! action, each conjunct that fails is solved for the observed part: an equation gives a value, comparisons
//! give a range, membership gives a set. Two values that differ are compared part by part, down to the
//! smallest part that differs. A conjunct that cannot be solved is shown as it is, with the values in it. If
//! no transition is left, the answer is the possible actions.
//!
//! **Terminates**, since each step looks at a part of a term or of a value, and large terms are not taken
//! apart. **Costs** one evaluation of each conjunct, and one question to the solver for each transition with
//! a conjunct that is not about one parameter alone.

use std::cmp::Ordering;
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
    LARGEST_PART, LONGEST_VALUE, collect_values, condition_values, find_decisive, is_path, list_instances,
};
use crate::judge::excerpts::{cut_text, shorten_collection};
use crate::judge::guards::{failing_conjuncts, may_be, with_event};
use crate::lazy::Lazy;

/// The most alternatives, actions and differing parts in a text.
const MOST_NAMED: usize = 3;

/// The most ways in which a guard would have held. Repetitions among them are dropped later.
const MOST_WAYS: usize = 4 * MOST_NAMED;

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

fn join_with_or(texts: &[String]) -> String {
    match texts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => texts.concat(),
    }
}

/// A demand on a part of an observation: its value, an end of its range, or a text.
#[derive(Clone, PartialEq, Debug)]
enum Demand {
    Value(Value),
    /// An end of a range: a comparison with a value.
    Bound(Comparison, Value),
    Text(String),
}

impl Demand {
    /// Does it have a value of this type's sort, or none?
    fn fits_sort_of(&self, ty: &Type) -> bool {
        match self {
            Demand::Value(value) | Demand::Bound(_, value) => value.sort() == ty.sort(),
            Demand::Text(_) => true,
        }
    }
}

/// A part of an observation that differs from the demands on it.
#[derive(Clone, PartialEq, Debug)]
struct Difference {
    subject: String,
    /// All demands on the part. For a time, `subject` is empty.
    wanted: Vec<Demand>,
    got: String,
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

    fn is_true(&self, condition: &Term) -> bool {
        holds(condition, &self.values) == Ok(true)
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
        parts.iter().map(|part| self.guard(iosts, transition, part, false)).collect()
    }

    fn guard(&self, iosts: &Iosts, transition: &Transition, part: &Term, holds: bool) -> Guard {
        let origin = transition.origin.guard.as_ref().or(transition.origin.whole.as_ref());
        let place = origin.map(Origin::file_and_line);
        let transition = iosts.describe(transition);
        let decisive = find_decisive(part, &self.values);
        let values = condition_values(decisive.as_ref().unwrap_or(part), &self.values);
        let values = values.into_iter().map(|(name, value)| (name, value.into())).collect();
        let since = decisive.map(|decisive| match self.is_true(&decisive) {
            true => format!("`{decisive}` holds"),
            false => format!("`{decisive}` does not"),
        });
        Guard { transition, place, part: part.to_string(), holds, since, values }
    }

    /// The differences from the guard's demands: a list for each way in which it would have held.
    fn differences(&self, transition: &Transition, solver: &mut Lazy) -> Vec<Vec<Difference>> {
        let mut failing = failing_conjuncts(&transition.guard, &self.values);
        let mut ways = vec![Vec::new()];
        // A condition on each part of a parameter often allows one value.
        for parameter in self.parameters {
            let asks = |part: &Term| {
                self.list_read(part) == [parameter] && (is_quantified(part) || self.solve(part).is_none())
            };
            if failing.iter().any(asks)
                && let Some(value) = self.find_only_value(transition, parameter, solver)
                && let Some(found) = self.find_differences(&Term::datum(parameter), &value)
            {
                failing.retain(|part| self.list_read(part) != [parameter]);
                ways = combine_ways(&ways, &[found]);
            }
        }
        for part in failing {
            let ways_of_part =
                self.solve(&part).unwrap_or_else(|| vec![vec![self.unsolved_difference(&part)]]);
            ways = combine_ways(&ways, &ways_of_part);
        }
        // Conjuncts that hold bound the expected values, too.
        let conjuncts = transition.guard.unfolded_conjuncts();
        let bound = |part: &Term| self.range_difference(part).or_else(|| self.held_value(part));
        let bounds: Vec<Difference> = conjuncts.iter().filter_map(bound).collect();
        let merged = ways.into_iter().filter_map(|way| merge_differences(way, &bounds));
        merged.filter(|way| !way.is_empty()).collect()
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
        let single = |difference: Difference| Some(vec![vec![difference]]);
        if let Some((subject, name, is_positive)) = part.as_question() {
            let wanted = format!("is {}{name}", if is_positive { "" } else { "not " });
            return single(self.difference(subject, Demand::Text(wanted))?);
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
                return failing.and_then(|instance| self.solve(instance));
            }
            TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
                return single(self.membership_difference(*operation, arguments, true)?);
            }
            TermShape::Operation(..) => return None,
        };
        match node {
            Node::And(parts) => {
                let mut ways = vec![Vec::new()];
                for part in parts {
                    ways = combine_ways(&ways, &self.solve(part)?);
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
                self.solve(if holds(condition, &self.values).ok()? { then } else { other })
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
        // A number in an expression: the comparison is solved for it.
        if let [datum] = read.as_slice()
            && datum.ty().sort().is_number()
            && !is_path(a)
            && !is_path(b)
        {
            let mut known: Substitution = literals(&self.values);
            known.remove(*datum);
            if let Some((comparison, value)) = solve_for(&substitute(part, &known), datum)
                && let Some(value) = value.as_literal()
            {
                return Some((Term::datum(datum), comparison, value.clone()));
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
        Some(Difference { subject: subject.to_string(), wanted: vec![wanted], got: value_text(&got) })
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
        compare_values(subject.to_string(), value, &got, &mut found);
        if found.len() > 1 && is_short(value) {
            let wanted = vec![Demand::Value(value.clone())];
            found = vec![Difference { subject: subject.to_string(), wanted, got: value_text(&got) }];
        }
        let hidden = found.len().saturating_sub(MOST_NAMED);
        found.truncate(MOST_NAMED);
        if let Some(last) = found.last_mut().filter(|_| hidden > 0) {
            last.got +=
                &format!(" and {hidden} more {}", if hidden == 1 { "difference" } else { "differences" });
        }
        Some(found)
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

/// Can the text of a value be shown as a whole?
fn is_short(value: &Value) -> bool {
    format!("{value:#}").chars().count() <= LONGEST_VALUE
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

/// Combines each way of the first list with each way of the second.
fn combine_ways(ways: &[Vec<Difference>], ways_of_part: &[Vec<Difference>]) -> Vec<Vec<Difference>> {
    let extend = |way| ways_of_part.iter().map(move |of_part| [way, of_part.as_slice()].concat());
    ways.iter().map(Vec::as_slice).flat_map(extend).take(MOST_WAYS).collect()
}

/// Merges the differences of each subject, with its range. `None`: no value meets all demands.
fn merge_differences(way: Vec<Difference>, bounds: &[Difference]) -> Option<Vec<Difference>> {
    let mut merged: Vec<Difference> = Vec::new();
    for difference in way {
        match merged.iter_mut().find(|known| known.subject == difference.subject) {
            Some(known) => known.wanted.extend(difference.wanted),
            None => merged.push(difference),
        }
    }
    for difference in &mut merged {
        let bounds = bounds.iter().filter(|bound| bound.subject == difference.subject);
        difference.wanted.extend(bounds.flat_map(|bound| bound.wanted.clone()));
        demand_text(&difference.wanted)?;
    }
    Some(merged)
}

/// An end of a range, and whether it is in the range. Integers are always in it.
type RangeEnd = Option<(Value, bool)>;

/// The ends of a range: the greatest lower one and the least upper one.
fn range_ends(demands: &[Demand]) -> (RangeEnd, RangeEnd) {
    let (mut low, mut high): (RangeEnd, RangeEnd) = (None, None);
    for demand in demands {
        let Demand::Bound(comparison, value) = demand else { continue };
        let is_low = matches!(comparison, Comparison::Greater | Comparison::AtLeast);
        let is_strict = matches!(comparison, Comparison::Greater | Comparison::Less);
        let (end, is_in) = match value {
            Value::Int(number) if is_strict => {
                (Value::Int(if is_low { number + 1 } else { number - 1 }), true)
            }
            _ => (value.clone(), !is_strict),
        };
        let known = if is_low { &mut low } else { &mut high };
        let is_narrower = known.as_ref().is_none_or(|(known_end, _)| match end.cmp(known_end) {
            // Of two equal ends, the one that is not in the range is narrower.
            Ordering::Equal => !is_in,
            order => (order == Ordering::Greater) == is_low,
        });
        if is_narrower {
            *known = Some((end, is_in));
        }
    }
    (low, high)
}

/// The value that one of the demands names.
fn demanded_value(demands: &[Demand]) -> Option<&Value> {
    demands.iter().find_map(|demand| if let Demand::Value(value) = demand { Some(value) } else { None })
}

/// The demands as a text: `= 3`, `in 1..9`, `>= 2`. `None`: no value meets all of them.
fn demand_text(demands: &[Demand]) -> Option<String> {
    if let Some(value) = demanded_value(demands) {
        let meets = |demand: &Demand| match demand {
            Demand::Value(demanded) => demanded == value,
            Demand::Bound(comparison, end) => comparison.holds(value.cmp(end)),
            Demand::Text(_) => true,
        };
        return demands.iter().all(meets).then(|| format!("= {}", value_text(value)));
    }
    let (low, high) = range_ends(demands);
    let end = |sign: &str, (value, is_in): &(Value, bool)| {
        format!("{sign}{} {}", if *is_in { "=" } else { "" }, value_text(value))
    };
    let mut texts = match (&low, &high) {
        (Some((low, _)), Some((high, _))) if low > high => return None,
        (Some((low, true)), Some((high, true))) if low == high => vec![format!("= {}", value_text(low))],
        (Some((low, true)), Some((high, true))) => {
            vec![format!("in {}..{}", value_text(low), value_text(high))]
        }
        // An end is missing, or not in the range.
        _ => low.iter().map(|low| end(">", low)).chain(high.iter().map(|high| end("<", high))).collect(),
    };
    for demand in demands {
        if let Demand::Text(text) = demand {
            texts.push(text.clone());
        }
    }
    texts.dedup();
    Some(texts.join(" and "))
}

/// The demands on a time as a text: `within 1.2..2 s`, since the last event.
fn instants_text(demands: &[Demand]) -> String {
    match (demanded_value(demands), range_ends(demands)) {
        (Some(exact), _) => format!("at {} s", number_text(exact)),
        (_, (Some((low, _)), Some((high, _)))) if low == high => format!("at {} s", number_text(&low)),
        (_, (Some((low, _)), Some((high, _)))) => {
            format!("within {}..{} s", number_text(&low), number_text(&high))
        }
        (_, (None, Some((high, _)))) => format!("within {} s", number_text(&high)),
        (_, (Some((low, _)), None)) => format!("after {} s", number_text(&low)),
        (_, (None, None)) => "at another time".to_owned(),
    }
}

/// Lists the places where two values differ, down to the smallest parts.
fn compare_values(subject: String, wanted: &Value, got: &Value, found: &mut Vec<Difference>) {
    let mut add = |subject: String, demand: Demand, got: String| {
        found.push(Difference { subject, wanted: vec![demand], got });
    };
    match (wanted, got) {
        _ if wanted == got => {}
        (Value::Record(ty, wanted_parts), Value::Record(_, got_parts)) if ty.form == RecordForm::Plain => {
            for ((name, _), (wanted_part, got_part)) in
                ty.fields.iter().zip(wanted_parts.iter().zip(got_parts.iter()))
            {
                compare_values(format!("{subject}.{name}"), wanted_part, got_part, found);
            }
        }
        (Value::Record(ty, wanted_parts), Value::Record(_, got_parts)) if ty.form == RecordForm::List => {
            // The first part of a list is its length. If it differs, short lists are shown as a whole.
            if wanted_parts[0] != got_parts[0] {
                let elements = [wanted_parts, got_parts].map(|parts| ty.counting(parts).collect::<Vec<_>>());
                if let Some(demand) = describe_one_element(&elements[0], &elements[1]) {
                    return add(subject, Demand::Text(demand), value_text(got));
                }
                if is_short(wanted) {
                    return add(subject, Demand::Value(wanted.clone()), value_text(got));
                }
                add(
                    format!("len({subject})"),
                    Demand::Value(wanted_parts[0].clone()),
                    got_parts[0].to_string(),
                );
            }
            for (index, (wanted_part, got_part)) in
                ty.counting(wanted_parts).zip(ty.counting(got_parts)).enumerate()
            {
                compare_values(format!("{subject}[{index}]"), wanted_part, got_part, found);
            }
        }
        (Value::Record(ty, wanted_parts), Value::Record(_, got_parts))
            if matches!(ty.form, RecordForm::Keyed(_)) =>
        {
            let is_map = ty.map_value_type().is_some();
            let (wanted_parts, got_parts): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (ty.entries(wanted_parts).into_iter().collect(), ty.entries(got_parts).into_iter().collect());
            if !wanted_parts.keys().eq(got_parts.keys()) {
                let missing = wanted_parts.keys().filter(|key| !got_parts.contains_key(key));
                let extra = got_parts.keys().filter(|key| !wanted_parts.contains_key(key));
                let with = missing.map(|key| format!("with {key}"));
                let demands: Vec<String> = with.chain(extra.map(|key| format!("without {key}"))).collect();
                let are_few = demands.len() == 1 && wanted_parts.len().max(got_parts.len()) > MOST_NAMED;
                let hidden = demands.len().saturating_sub(MOST_NAMED);
                let and_more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
                let named = demands[..demands.len() - hidden].join(" and ") + &and_more;
                match is_short(wanted) && !are_few {
                    true => add(subject, Demand::Value(wanted.clone()), value_text(got)),
                    false => add(subject, Demand::Text(named), value_text(got)),
                }
            } else if is_map {
                for ((key, wanted_part), got_part) in wanted_parts.iter().zip(got_parts.values()) {
                    if let (Some(wanted_part), Some(got_part)) = (wanted_part, got_part) {
                        compare_values(format!("{subject}[{key}]"), wanted_part, got_part, found);
                    }
                }
            }
        }
        (Value::Array(wanted_parts), Value::Array(got_parts)) => {
            let keys: std::collections::BTreeSet<&Value> =
                wanted_parts.cells.keys().chain(got_parts.cells.keys()).collect();
            for key in keys {
                compare_values(format!("{subject}[{key}]"), wanted_parts.get(key), got_parts.get(key), found);
            }
            if wanted_parts.default != got_parts.default {
                compare_values(format!("{subject}[..]"), &wanted_parts.default, &got_parts.default, found);
            }
        }
        (Value::String(wanted_parts), Value::String(got_parts))
            if wanted_parts.chars().count().max(got_parts.chars().count()) > LONGEST_VALUE =>
        {
            let index = wanted_parts
                .chars()
                .zip(got_parts.chars())
                .take_while(|(wanted_part, got_part)| wanted_part == got_part)
                .count();
            let rest = |text: &str| Value::string(&text.chars().skip(index).collect::<String>());
            add(
                format!("{subject}[{index}..]"),
                Demand::Value(rest(wanted_parts)),
                value_text(&rest(got_parts)),
            );
        }
        (Value::String(wanted_text), Value::String(got_text)) => {
            let hint = describe_small_difference(wanted_text, got_text);
            add(subject, Demand::Value(wanted.clone()), value_text(got) + hint);
        }
        _ => add(subject, Demand::Value(wanted.clone()), value_text(got)),
    }
}

/// Describes two lists of which one has one element more: `with 7 at [3]`. `None`: they differ in more, or
/// they are short.
fn describe_one_element(wanted: &[&Value], got: &[&Value]) -> Option<String> {
    let (longer, shorter, word) = match wanted.len() > got.len() {
        true => (wanted, got, "with"),
        false => (got, wanted, "without"),
    };
    let index = longer.iter().zip(shorter).take_while(|(one, other)| one == other).count();
    let is_one = longer.len() == shorter.len() + 1 && longer[index + 1..] == shorter[index..];
    (is_one && longer.len() > MOST_NAMED)
        .then(|| format!("{word} {} at [{index}]", value_text(longer[index])))
}

/// Names a difference between texts that is easily overlooked.
fn describe_small_difference(wanted: &str, got: &str) -> &'static str {
    match () {
        () if wanted.trim_end() == got => " (without the blank at its end)",
        () if got.trim_end() == wanted => " (with a blank at its end)",
        () if wanted.trim_start() == got => " (without the blank at its start)",
        () if got.trim_start() == wanted => " (with a blank at its start)",
        () if wanted.to_lowercase() == got.to_lowercase() => " (with other capital letters)",
        () => "",
    }
}

/// The text of a value, a number as short as a time.
fn number_text(value: &Value) -> String {
    match value {
        Value::Real(number) => time_text(number),
        value => value.to_string(),
    }
}

/// The text of a value for people, cut if it is long.
fn value_text(value: &Value) -> String {
    shorten_collection(&format!("{value:#}"), &[], LONGEST_VALUE)
}

/// The alternatives in words: `pNumber = 11, got 12`. `None`: there are none.
fn alternatives_text(action: &str, alternatives: &[Vec<Difference>]) -> Option<String> {
    let text = |difference: &Difference| match difference.subject.is_empty() {
        true => format!("{action} {}", instants_text(&difference.wanted)),
        false => format!("{} {}", difference.subject, demand_text(&difference.wanted).unwrap_or_default()),
    };
    let got = |difference: &Difference| match difference.subject.is_empty() {
        true => format!("got it at {}", difference.got),
        false => format!("got {}", difference.got),
    };
    let first = alternatives.first()?.first()?;
    // If all alternatives are about one part, it is named once.
    let is_about_first = |way: &Vec<Difference>| matches!(way.as_slice(), [only] if only.subject == first.subject && only.got == first.got);
    let hidden = alternatives.len().saturating_sub(MOST_NAMED);
    let shown = &alternatives[..alternatives.len() - hidden];
    let and_more = if hidden > 0 { format!(" or {hidden} more") } else { String::new() };
    if alternatives.iter().all(is_about_first) {
        let start = format!("{} ", first.subject);
        let texts = shown.iter().flatten().map(&text).enumerate();
        let texts = texts.map(|(index, text)| match text.strip_prefix(&start) {
            Some(demand_alone) if index > 0 => {
                demand_alone.strip_prefix("= ").unwrap_or(demand_alone).to_owned()
            }
            _ => text,
        });
        return Some(format!("{}{and_more}, {}", join_with_or(&texts.collect::<Vec<_>>()), got(first)));
    }
    let way_text = |way: &Vec<Difference>| {
        let parts = way.iter().map(|difference| format!("{} ({})", text(difference), got(difference)));
        parts.collect::<Vec<_>>().join(" and ")
    };
    Some(shown.iter().map(way_text).collect::<Vec<_>>().join(", or ") + &and_more)
}
