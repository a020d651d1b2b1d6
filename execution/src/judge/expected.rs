//! Finds out what should have come if something else came: the values, ranges or actions that are allowed.
//!
//! **Problem.** A guard says which observations are allowed. A user wants to know which value was expected.
//!
//! **Method.** Transitions that the data of a state exclude are left out, and those that no values can take.
//! The others with the observed action are looked at. Each conjunct that fails is solved for the observed
//! part: an equation gives a value, comparisons give a range, membership gives a set. Two values that differ
//! are compared part by part, down to the smallest part that differs. A conjunct that cannot be solved is
//! shown as it is, with the values in it. If no transition is left, the answer is the possible actions.
//!
//! **Terminates**, since each step looks at a part of a term or of a value, and large terms are not taken
//! apart. **Costs** one evaluation of each conjunct, and one question to the solver for each transition with
//! a conjunct that is not about one parameter alone.

use std::collections::BTreeMap;

use coreach_analyses::solver::{Solver, Witness};
use coreach_analyses::symbolic::eliminate::solve_for;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::number::time_text;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{DerivedOperation, Quantifier, QuantifierDomain, StandardOperation};
use coreach_model::term::strings::StringOperation;
use coreach_model::term::{Substitution, TermShape, literals, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Term, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::judge::contract::Guard;
use crate::judge::excerpts::cut_text;
use crate::judge::guards::{failing_conjuncts, may_be, with_event};
use crate::lazy::Lazy;

/// The most alternatives, actions and differing parts in a text.
const MOST_NAMED: usize = 3;

/// A longer value is cut.
const LONGEST_VALUE: usize = 60;

/// A larger part of a guard is not taken apart, since its text repeats shared terms.
const LARGEST_PART: u64 = 5000;

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
        let all = event.map_or_else(|| state.valuation.clone(), |event| with_event(iosts, state, event));
        let name = iosts.action(transition.action).name.as_str();
        Question { name, parameters, silent, all }
    };
    let mut solver = Lazy::default();
    let mut can_come =
        |one: &OpenTransition<'_>| may_be(one.0, one.1) && question(*one, None).can_come(one.0, &mut solver);
    let possible: Vec<OpenTransition<'_>> = open.iter().filter(|one| can_come(one)).copied().collect();
    // The events that are allowed.
    let mut expected: Vec<String> = Vec::new();
    let mut actions: Vec<String> = Vec::new();
    for one in &possible {
        let (short, condition) = question(*one, None).describe_allowed(one.0);
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
    let is_same = |(one, _): &&OpenTransition<'_>| iosts.action(one.action).name == event.action;
    let same: Vec<OpenTransition<'_>> = possible.iter().filter(is_same).copied().collect();
    // The differences of the observed event from those of its action.
    let mut alternatives: Vec<Vec<Difference>> = Vec::new();
    for one in &same {
        for alternative in question(*one, Some(event)).differences(one.0) {
            add_new(&mut alternatives, alternative);
        }
    }
    let why = if same.is_empty() { open.iter().filter(is_same).copied().collect() } else { same };
    let mut guards = Vec::new();
    for one in &why {
        question(*one, Some(event))
            .failing_parts(iosts, one.0)
            .into_iter()
            .for_each(|guard| add_new(&mut guards, guard));
    }
    let phrase = match alternatives_text(&event.action, &alternatives) {
        Some(phrase) => phrase,
        None if event.values.is_empty() || silent.is_some() => format!("{actions}, got {}", event.action),
        None => format!("{actions}, got {event}"),
    };
    Expectation { phrase, guards, expected }
}

fn add_new<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
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
    fn is_of(&self, ty: &Type) -> bool {
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
    all: Valuation,
}

impl Question<'_> {
    fn reads_event(&self, term: &Term) -> bool {
        self.parameters.iter().any(|parameter| term.mentions(parameter))
    }

    fn is_delay(&self, term: &Term) -> bool {
        self.silent.is_some() && term.as_datum().is_some_and(|datum| self.parameters.first() == Some(datum))
    }

    /// The conjuncts that failed; only those that the state alone decides, if there are any.
    fn failing_parts(&self, iosts: &Iosts, transition: &Transition) -> Vec<Guard> {
        let mut parts = failing_conjuncts(&transition.guard, &self.all);
        if parts.iter().any(|part| !self.reads_event(part)) {
            parts.retain(|part| !self.reads_event(part));
        }
        parts.iter().map(|part| self.guard(iosts.describe(transition), part, false)).collect()
    }

    fn guard(&self, transition: String, part: &Term, holds: bool) -> Guard {
        let mut values = BTreeMap::new();
        collect_values(part, &self.all, &mut values);
        let values = values.into_iter().map(|(name, value)| (name, value.into())).collect();
        Guard { transition, part: part.to_string(), holds, values }
    }

    /// The differences from the guard's demands: a list for each way in which it would have held.
    fn differences(&self, transition: &Transition) -> Vec<Vec<Difference>> {
        let mut all = vec![Vec::new()];
        for part in failing_conjuncts(&transition.guard, &self.all) {
            let ways = self.solve(&part).unwrap_or_else(|| vec![vec![self.unsolved_difference(&part)]]);
            all = combine_ways(&all, &ways);
        }
        let bounds: Vec<Difference> = transition
            .guard
            .unfolded_conjuncts()
            .iter()
            .filter_map(|part| self.range_difference(part))
            .collect();
        let merged = all.into_iter().filter_map(|way| merge_differences(way, &bounds));
        merged.filter(|way| !way.is_empty()).collect()
    }

    fn unsolved_difference(&self, part: &Term) -> Difference {
        let mut values = BTreeMap::new();
        collect_values(part, &self.all, &mut values);
        let of_event = |name: &String| self.parameters.iter().any(|parameter| parameter.name() == name);
        let got = values.iter().filter(|(name, _)| of_event(name));
        let mut got: Vec<String> =
            got.map(|(name, value)| format!("{name} = {}", cut_text(value, LONGEST_VALUE))).collect();
        if let Err(why) = holds(part, &self.all) {
            got.push(format!("where {why}"));
        }
        let wanted = vec![Demand::Text("to hold".to_owned())];
        Difference { subject: format!("`{part}`"), wanted, got: got.join(", ") }
    }

    /// Solves a condition: each list of differences is a way in which it would hold. `None`: no way is known.
    fn solve(&self, part: &Term) -> Option<Vec<Vec<Difference>>> {
        if holds(part, &self.all) == Ok(true) {
            return Some(vec![Vec::new()]);
        }
        if !self.reads_event(part) {
            return Some(Vec::new());
        }
        if part.written_size() > LARGEST_PART {
            return None;
        }
        let one = |difference: Difference| Some(vec![vec![difference]]);
        let node = match part.shape() {
            TermShape::Node(node) => node,
            TermShape::Operation(DerivedOperation::Call(_), _) => return self.solve(&part.unfolded()?),
            TermShape::Operation(DerivedOperation::Quantified(of), arguments)
                if of.quantifier == Quantifier::All =>
            {
                let first_read = arguments.len() - of.read.len();
                let mut known: Substitution =
                    of.read.iter().cloned().zip(arguments[first_read..].iter().cloned()).collect();
                for value in self.instances(&of.domain, arguments)? {
                    known.insert(of.bound.clone(), value);
                    let instance = substitute(&of.body, &known);
                    if holds(&instance, &self.all) != Ok(true) {
                        return self.solve(&instance);
                    }
                }
                return None;
            }
            TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
                return one(self.membership_difference(*operation, arguments, true)?);
            }
            TermShape::Operation(..) => return None,
        };
        match node {
            Node::And(parts) => parts
                .iter()
                .try_fold(vec![Vec::new()], |all, part| Some(combine_ways(&all, &self.solve(part)?))),
            Node::Or(parts) => {
                let ways = parts.iter().filter_map(|part| self.solve(part)).flatten();
                let ways: Vec<_> = ways.take(4 * MOST_NAMED).collect();
                (!ways.is_empty()).then_some(ways)
            }
            Node::IfThenElse(condition, then, other) => {
                self.solve(if holds(condition, &self.all).ok()? { then } else { other })
            }
            Node::Not(inner) => match inner.shape() {
                TermShape::Operation(DerivedOperation::Call(_), _) => self.solve(&inner.unfolded()?.not()),
                TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
                    one(self.membership_difference(*operation, arguments, false)?)
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
                one(self.difference(&subject, Demand::Text(format!("!= {}", value_text(&value))))?)
            }
            Node::Compare(..) => one(self.range_difference(part)?),
            Node::OnStrings(StringOperation::Matches, arguments) => {
                one(self.difference(&arguments[0], Demand::Text(format!("matching {}", arguments[1])))?)
            }
            _ => None,
        }
    }

    /// Lists the terms that the bound name of a quantifier stands for.
    fn instances(&self, domain: &QuantifierDomain, arguments: &[Term]) -> Option<Vec<Term>> {
        let list = match domain {
            QuantifierDomain::Values(_, values) => {
                return Some(values.iter().map(|value| Term::literal(value.clone())).collect());
            }
            QuantifierDomain::Elements => &arguments[0],
        };
        list.sort().as_list()?;
        let Value::Record(ty, fields) = evaluate(list, &self.all).ok()? else { return None };
        let element = |at| Term::standard(StandardOperation::Element, [list.clone(), Term::int(at)]);
        Some((0..ty.counting(&fields).count()).map(element).collect())
    }

    /// The difference for `k in s` or `contains(q, e)`, which should hold (`is_in`) or not.
    fn membership_difference(
        &self,
        operation: StandardOperation,
        of: &[Term],
        is_in: bool,
    ) -> Option<Difference> {
        let (element, whole) = match operation {
            StandardOperation::HasKey => (&of[0], &of[1]),
            StandardOperation::Contains => (&of[1], &of[0]),
            _ => return None,
        };
        let (subject, word, other) = match self.reads_event(whole) {
            true => (whole, if is_in { "with" } else { "without" }, element),
            false => (element, if is_in { "in" } else { "not in" }, whole),
        };
        let other = evaluate(other, &self.all).ok()?;
        if let Value::Record(ty, fields) = &other
            && ty.map_value_type().is_some()
        {
            let keys: Vec<String> = ty.entries(fields).iter().map(|(key, _)| key.to_string()).collect();
            return self.difference(
                subject,
                Demand::Text(format!("{word} {{{}}}", cut_text(&keys.join(", "), LONGEST_VALUE))),
            );
        }
        self.difference(subject, Demand::Text(format!("{word} {}", value_text(&other))))
    }

    /// Turns a comparison into a demand on a part of the event: `pA + 1 == v` is a demand on `pA`.
    fn isolate_demand(&self, part: &Term) -> Option<(Term, Comparison, Value)> {
        let Node::Compare(comparison, a, b) = part.written()? else { return None };
        let read: Vec<&Datum> = self.parameters.iter().filter(|one| part.mentions(one)).collect();
        if let [datum] = read.as_slice()
            && datum.ty().sort().is_number()
            && !is_path(a)
            && !is_path(b)
        {
            let others = self.all.iter().filter(|(known, _)| known != datum);
            let known: Substitution =
                others.map(|(known, value)| (known.clone(), Term::literal(value.clone()))).collect();
            if let Some((comparison, value)) = solve_for(&substitute(part, &known), datum)
                && let Some(value) = value.as_literal()
            {
                return Some((Term::datum(datum), comparison, value.clone()));
            }
        }
        let is_first = match (self.reads_event(a), self.reads_event(b)) {
            (true, true) => is_path(a) || !is_path(b),
            (first, _) => first,
        };
        let (subject, other) = if is_first { (a, b) } else { (b, a) };
        let comparison = if is_first { *comparison } else { mirror_comparison(*comparison) };
        Some((subject.clone(), comparison, evaluate(other, &self.all).ok()?))
    }

    /// The difference for an order between a part of the event and a value: an end of a range.
    fn range_difference(&self, part: &Term) -> Option<Difference> {
        let is_order = |of: &Comparison| !matches!(of, Comparison::Equal | Comparison::NotEqual);
        if !self.reads_event(part) || !matches!(part.written()?, Node::Compare(of, ..) if is_order(of)) {
            return None;
        }
        let (subject, comparison, value) = self.isolate_demand(part)?;
        self.difference(&subject, Demand::Bound(comparison, value))
    }

    /// The difference of a part of the event from a demand. Delays count from the last event.
    fn difference(&self, subject: &Term, wanted: Demand) -> Option<Difference> {
        let got = evaluate(subject, &self.all).ok()?;
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

    /// Finds the places where a part of the event differs from the value that it should have.
    fn find_differences(&self, subject: &Term, value: &Value) -> Option<Vec<Difference>> {
        if self.is_delay(subject) {
            return Some(vec![self.difference(subject, Demand::Value(value.clone()))?]);
        }
        let got = evaluate(subject, &self.all).ok()?;
        let mut found = Vec::new();
        compare_values(subject.to_string(), value, &got, &mut found);
        let more = found.len().saturating_sub(MOST_NAMED);
        found.truncate(MOST_NAMED);
        if let Some(last) = found.last_mut().filter(|_| more > 0) {
            last.got += &format!(" and {more} more {}", if more == 1 { "difference" } else { "differences" });
        }
        Some(found)
    }

    /// Splits a guard: the demands on single parameters by name, and the other conjuncts that read the event.
    fn demands(&self, transition: &Transition) -> (Vec<(String, Vec<Demand>)>, Vec<Term>) {
        let mut values: Vec<(String, Vec<Demand>)> = Vec::new();
        let mut rest = Vec::new();
        for part in transition.guard.conjuncts() {
            if !self.reads_event(&part) || part.asks_definedness() {
                continue;
            }
            match self.isolate_parameter(&part) {
                Some((datum, wanted)) => match values.iter_mut().find(|(known, _)| *known == datum) {
                    Some((_, all)) => all.push(wanted),
                    None => values.push((datum, vec![wanted])),
                },
                None => rest.push(part),
            }
        }
        (values, rest)
    }

    /// Describes the event that a transition allows, as `Return(pValue = 3)`, and the rest of its condition.
    fn describe_allowed(&self, transition: &Transition) -> (String, String) {
        let (values, rest) = self.demands(transition);
        let text = |parameter: &Datum| match values.iter().find(|(name, _)| name == parameter.name()) {
            Some((name, wanted)) => {
                demand_text(wanted).map_or_else(|| name.clone(), |text| format!("{name} {text}"))
            }
            None => parameter.name().to_owned(),
        };
        let delay = self.silent.and_then(|_| self.parameters.first());
        let time = delay.and_then(|delay| values.iter().find(|(name, _)| name == delay.name()));
        let others = &self.parameters[usize::from(delay.is_some())..];
        let mut short = self.name.to_owned();
        if !others.is_empty() {
            short += &format!("({})", others.iter().map(text).collect::<Vec<_>>().join(", "));
        }
        if let Some((_, wanted)) = time {
            let wanted: Vec<Demand> = wanted.iter().cloned().map(|one| self.since_last_event(one)).collect();
            short += &format!(" {}", instants_text(&wanted));
        }
        let conjunct = |part: &Term| if rest.len() > 1 { part.to_conjunct() } else { part.to_string() };
        let mut condition = rest.iter().map(conjunct).collect::<Vec<_>>().join(" && ");
        let mut known = BTreeMap::new();
        rest.iter().for_each(|part| collect_values(part, &self.all, &mut known));
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
        let (values, rest) = self.demands(transition);
        let (mut known, mut is_sure) = (literals(&self.all), rest.is_empty());
        for (name, mut wanted) in values {
            let Some(datum) = self.parameters.iter().find(|one| one.name() == name) else { continue };
            wanted.extend(ends_of_type(datum.ty()));
            // An integer that is compared with a real is a question for the solver.
            if !wanted.iter().all(|one| one.is_of(datum.ty())) {
                is_sure = false;
                continue;
            }
            let value =
                wanted.iter().find_map(|one| if let Demand::Value(value) = one { Some(value) } else { None });
            if demand_text(&wanted).is_none() || value.is_some_and(|value| !value.is_in(datum.ty())) {
                return false;
            }
            known.extend(value.map(|value| (datum.clone(), Term::literal(value.clone()))));
        }
        if is_sure {
            return true;
        }
        let guard = substitute(&transition.guard, &known);
        guard.is_true() || !guard.is_false() && solver.witness(&guard.conjuncts()) != Witness::None
    }
}

/// The demands that a type of integers makes on its values: the ends of its range.
fn ends_of_type(ty: &Type) -> Vec<Demand> {
    let end = |of, value: &IBig| Demand::Bound(of, Value::Int(value.clone()));
    match ty {
        Type::Nat => vec![end(Comparison::AtLeast, &IBig::ZERO)],
        Type::Range(low, high) => vec![end(Comparison::AtLeast, low), end(Comparison::AtMost, high)],
        _ => Vec::new(),
    }
}

/// The guard of a transition that was taken, unless it is always true.
pub(crate) fn decided_guard(iosts: &Iosts, transition: &Transition, all: Valuation) -> Option<Guard> {
    let question = Question { name: "", parameters: &[], silent: None, all };
    let part = &transition.guard;
    (!part.is_true()).then(|| question.guard(iosts.describe(transition), part, true))
}

/// Is it a datum, or a field or an element of one?
fn is_path(term: &Term) -> bool {
    match term.shape() {
        TermShape::Node(Node::Data(_)) => true,
        TermShape::Node(Node::Field(of, _) | Node::Select(of, _)) => is_path(of),
        TermShape::Operation(
            DerivedOperation::Standard(StandardOperation::Element | StandardOperation::ValueAt),
            of,
        ) => is_path(&of[0]),
        _ => false,
    }
}

fn mirror_comparison(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::AtMost => Comparison::AtLeast,
        Comparison::Greater => Comparison::Less,
        Comparison::AtLeast => Comparison::AtMost,
        same => same,
    }
}

/// Collects the values of the data, calls and elements in a term, by their texts.
fn collect_values(term: &Term, all: &Valuation, found: &mut BTreeMap<String, String>) {
    let text = |value: Value| format!("{value:#}");
    let value = || evaluate(term, all).ok().map(|value| (term.to_string(), text(value)));
    if term.written_size() > LARGEST_PART {
        found.extend(
            term.data().iter().filter_map(|datum| Some((datum.to_string(), text(all.get(datum)?.clone())))),
        );
        return;
    }
    let parts = match term.shape() {
        TermShape::Node(Node::Data(_)) => {
            found.extend(value());
            return;
        }
        // The function's captured values are not written where it is called.
        TermShape::Operation(DerivedOperation::Call(function), arguments) => {
            found.extend(value());
            arguments[..function.named].iter().collect()
        }
        TermShape::Node(Node::Field(of, _)) if is_path(of) && value().is_some() => {
            found.extend(value());
            return;
        }
        TermShape::Node(Node::Select(..)) | TermShape::Operation(DerivedOperation::Standard(_), _)
            if is_path(term) && value().is_some() =>
        {
            found.extend(value());
            term.parts().into_iter().skip(1).collect()
        }
        _ => term.parts(),
    };
    parts.into_iter().for_each(|part| collect_values(part, all, found));
}

/// Combines each way of the first list with each way of the second.
fn combine_ways(all: &[Vec<Difference>], ways: &[Vec<Difference>]) -> Vec<Vec<Difference>> {
    let pairs = all.iter().flat_map(|one| ways.iter().map(move |other| [one.as_slice(), other].concat()));
    pairs.take(4 * MOST_NAMED).collect()
}

/// Merges the differences of each subject, with its range. `None`: no value meets all demands.
fn merge_differences(way: Vec<Difference>, bounds: &[Difference]) -> Option<Vec<Difference>> {
    let mut found: Vec<Difference> = Vec::new();
    for one in way {
        match found.iter_mut().find(|known| known.subject == one.subject) {
            Some(known) => known.wanted.extend(one.wanted),
            None => found.push(one),
        }
    }
    for one in &mut found {
        let others = bounds.iter().filter(|bound| bound.subject == one.subject);
        one.wanted.extend(others.flat_map(|bound| bound.wanted.clone()));
        demand_text(&one.wanted)?;
    }
    Some(found)
}

/// The ends of a range: the greatest lower one and the least upper one, each with whether it is in the range.
fn range_ends(wanted: &[Demand]) -> [Option<(Value, bool)>; 2] {
    let mut ends = [None, None];
    for one in wanted {
        let Demand::Bound(comparison, value) = one else { continue };
        let (side, is_in) = match comparison {
            Comparison::Greater => (0, false),
            Comparison::AtLeast => (0, true),
            Comparison::Less => (1, false),
            _ => (1, true),
        };
        // For integers, take the end that is in the range.
        let (value, is_in) = match value {
            Value::Int(value) if !is_in => (Value::Int(if side == 0 { value + 1 } else { value - 1 }), true),
            _ => (value.clone(), is_in),
        };
        let is_narrower = |(known, known_in): &(Value, bool)| match side {
            0 => (&value, !is_in) > (known, !known_in),
            _ => (&value, is_in) < (known, *known_in),
        };
        if ends[side].as_ref().is_none_or(is_narrower) {
            ends[side] = Some((value, is_in));
        }
    }
    ends
}

/// The demands as a text: `= 3`, `in 1..9`, `>= 2`. `None`: no value meets all of them.
fn demand_text(wanted: &[Demand]) -> Option<String> {
    let is_right = |value: &Value| {
        wanted.iter().all(|one| match one {
            Demand::Value(other) => other == value,
            Demand::Bound(comparison, end) => comparison.holds(value.cmp(end)),
            Demand::Text(_) => true,
        })
    };
    if let Some(value) =
        wanted.iter().find_map(|one| if let Demand::Value(of) = one { Some(of) } else { None })
    {
        return is_right(value).then(|| format!("= {}", value_text(value)));
    }
    let [low, high] = range_ends(wanted);
    let end = |sign: &str, (value, is_in): &(Value, bool)| {
        format!("{sign}{} {}", if *is_in { "=" } else { "" }, value_text(value))
    };
    let mut texts = match (&low, &high) {
        (Some((low, _)), Some((high, _))) if low > high => return None,
        (Some((low, true)), Some((high, true))) if low == high => vec![format!("= {}", value_text(low))],
        (Some((low, true)), Some((high, true))) => {
            vec![format!("in {}..{}", value_text(low), value_text(high))]
        }
        _ => low.iter().map(|low| end(">", low)).chain(high.iter().map(|high| end("<", high))).collect(),
    };
    texts.extend(
        wanted.iter().filter_map(|one| if let Demand::Text(text) = one { Some(text.clone()) } else { None }),
    );
    texts.dedup();
    Some(texts.join(" and "))
}

/// The demands on a time as a text: `within 1.2..2 s`, since the last event.
fn instants_text(wanted: &[Demand]) -> String {
    let time = |value: &Value| match value {
        Value::Real(value) => time_text(value),
        value => value.to_string(),
    };
    let exact =
        wanted.iter().find_map(|one| if let Demand::Value(value) = one { Some(time(value)) } else { None });
    match (exact, range_ends(wanted)) {
        (Some(exact), _) => format!("at {exact} s"),
        (_, [Some((low, _)), Some((high, _))]) if low == high => format!("at {} s", time(&low)),
        (_, [Some((low, _)), Some((high, _))]) => format!("within {}..{} s", time(&low), time(&high)),
        (_, [None, Some((high, _))]) => format!("within {} s", time(&high)),
        (_, [Some((low, _)), None]) => format!("after {} s", time(&low)),
        _ => "at another time".to_owned(),
    }
}

/// Lists the places where two values differ, down to the smallest parts.
fn compare_values(subject: String, wanted: &Value, got: &Value, found: &mut Vec<Difference>) {
    let mut put = |subject: String, wanted: Demand, got: String| {
        found.push(Difference { subject, wanted: vec![wanted], got });
    };
    match (wanted, got) {
        _ if wanted == got => {}
        (Value::Record(ty, all), Value::Record(_, others)) if ty.form == RecordForm::Plain => {
            for ((name, _), (one, other)) in ty.fields.iter().zip(all.iter().zip(others.iter())) {
                compare_values(format!("{subject}.{name}"), one, other, found);
            }
        }
        (Value::Record(ty, all), Value::Record(_, others)) if ty.form == RecordForm::List => {
            if all[0] != others[0] {
                let texts = [wanted.to_string(), got.to_string()];
                if texts.iter().all(|text| text.chars().count() <= LONGEST_VALUE) {
                    return put(subject, Demand::Value(wanted.clone()), texts[1].clone());
                }
                put(format!("len({subject})"), Demand::Value(all[0].clone()), others[0].to_string());
            }
            for (at, (one, other)) in ty.counting(all).zip(ty.counting(others)).enumerate() {
                compare_values(format!("{subject}[{at}]"), one, other, found);
            }
        }
        (Value::Record(ty, all), Value::Record(_, others)) if matches!(ty.form, RecordForm::Keyed(_)) => {
            let is_map = ty.map_value_type().is_some();
            let (all, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (ty.entries(all).into_iter().collect(), ty.entries(others).into_iter().collect());
            if !all.keys().eq(others.keys()) {
                let missing = all.keys().filter(|key| !others.contains_key(key));
                let extra = others.keys().filter(|key| !all.contains_key(key));
                let demands: Vec<String> = missing
                    .map(|key| format!("with {key}"))
                    .chain(extra.map(|key| format!("without {key}")))
                    .collect();
                match wanted.to_string().chars().count().max(got.to_string().chars().count()) > LONGEST_VALUE
                {
                    true => put(subject, Demand::Text(demands.join(" and ")), value_text(got)),
                    false => put(subject, Demand::Value(wanted.clone()), got.to_string()),
                }
            } else if is_map {
                for ((key, one), other) in all.iter().zip(others.values()) {
                    if let (Some(one), Some(other)) = (one, other) {
                        compare_values(format!("{subject}[{key}]"), one, other, found);
                    }
                }
            }
        }
        (Value::Array(all), Value::Array(others)) => {
            let keys: std::collections::BTreeSet<&Value> =
                all.cells.keys().chain(others.cells.keys()).collect();
            for key in keys {
                compare_values(format!("{subject}[{key}]"), all.get(key), others.get(key), found);
            }
            if all.default != others.default {
                compare_values(format!("{subject}[..]"), &all.default, &others.default, found);
            }
        }
        (Value::String(all), Value::String(others))
            if all.chars().count().max(others.chars().count()) > LONGEST_VALUE =>
        {
            let at = all.chars().zip(others.chars()).take_while(|(one, other)| one == other).count();
            let rest = |text: &str| Value::string(&text.chars().skip(at).collect::<String>());
            put(format!("{subject}[{at}..]"), Demand::Value(rest(all)), value_text(&rest(others)));
        }
        _ => put(subject, Demand::Value(wanted.clone()), value_text(got)),
    }
}

/// The text of a value for people, cut if it is long.
fn value_text(value: &Value) -> String {
    cut_text(&format!("{value:#}"), LONGEST_VALUE)
}

/// The alternatives in words: `pNumber = 11, got 12`. `None`: there are none.
fn alternatives_text(action: &str, alternatives: &[Vec<Difference>]) -> Option<String> {
    let text = |one: &Difference| match one.subject.is_empty() {
        true => format!("{action} {}", instants_text(&one.wanted)),
        false => format!("{} {}", one.subject, demand_text(&one.wanted).unwrap_or_default()),
    };
    let got = |one: &Difference| match one.subject.is_empty() {
        true => format!("got it at {}", one.got),
        false => format!("got {}", one.got),
    };
    let first = alternatives.first()?.first()?;
    let is_of_one = |way: &Vec<Difference>| matches!(way.as_slice(), [one] if one.subject == first.subject && one.got == first.got);
    let more = alternatives.len().saturating_sub(MOST_NAMED);
    let shown = &alternatives[..alternatives.len() - more];
    let and_more = if more > 0 { format!(" or {more} more") } else { String::new() };
    if alternatives.iter().all(is_of_one) {
        let start = format!("{} ", first.subject);
        let texts = shown.iter().flatten().map(&text).enumerate();
        let texts = texts.map(|(at, text)| match text.strip_prefix(&start) {
            Some(rest) if at > 0 => rest.strip_prefix("= ").unwrap_or(rest).to_owned(),
            _ => text,
        });
        return Some(format!("{}{and_more}, {}", join_with_or(&texts.collect::<Vec<_>>()), got(first)));
    }
    let way = |way: &Vec<Difference>| {
        let parts = way.iter().map(|one| format!("{} ({})", text(one), got(one)));
        parts.collect::<Vec<_>>().join(" and ")
    };
    Some(shown.iter().map(way).collect::<Vec<_>>().join(", or ") + &and_more)
}
