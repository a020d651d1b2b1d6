//! Solves a condition of a guard for the observed event: which values would make it hold?
//!
//! **Method.** An equation gives a value, comparisons give a range, membership gives a set. Calls, branches
//! and quantifiers are opened first, as far as the values choose them.
//!
//! **Terminates**, since each step looks at a part of a term or of a value, and large terms are not taken
//! apart. **Costs** one evaluation of each part.

use std::collections::BTreeMap;

use coreach_analyses::symbolic::eliminate::{mirror, solve_for};
use coreach_model::diagnostic::Origin;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::limits::{FEW_SHOWN, LONGEST_VALUE};
use coreach_model::number::time_text;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::operation::{DerivedOperation, Quantifier, StandardOperation};
use coreach_model::term::strings::StringOperation;
use coreach_model::term::{Substitution, TermShape, literals, substitute};
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Term, Type, Value};
use dashu_ratio::RBig;

use crate::judge::collected::collect_values;
use crate::judge::contract::Guard;
use crate::judge::decisive::{Grounds, explain_condition};
use crate::judge::differences::{
    Demand, Difference, MOST_WAYS, combine_ways, compare_values, is_short, merge_differences, value_text,
};
use crate::judge::excerpts::cut_text;
use crate::judge::instances::list_instances;
use crate::judge::opened::{choose_branches, keep_possible};
use crate::judge::scope::{DecisiveScope, is_path};
use crate::limits::LARGEST_WRITTEN;

/// A transition, with the values by which its guard is read.
pub(super) struct Question<'t> {
    pub name: &'t str,
    pub parameters: &'t [Datum],
    /// In a timed test case: how long nothing came before.
    pub silent: Option<&'t RBig>,
    /// The values of the state and of the event.
    pub values: Valuation,
}

impl Question<'_> {
    pub(super) fn reads_event(&self, term: &Term) -> bool {
        self.parameters.iter().any(|parameter| term.mentions(parameter))
    }

    fn is_delay(&self, term: &Term) -> bool {
        self.silent.is_some() && term.as_datum().is_some_and(|datum| self.parameters.first() == Some(datum))
    }

    /// Explains the part of a guard that decided. `holds` says whether the part held.
    pub(super) fn guard(&self, iosts: &Iosts, transition: &Transition, part: &Term, holds: bool) -> Guard {
        let place = transition.origin.guard_or_whole().map(Origin::file_and_line);
        let transition = iosts.describe(transition);
        let Grounds { since, values } = explain_condition(part, &self.values, self.parameters);
        Guard { transition, place, part: part.to_string(), holds, since, values }
    }

    /// Lists the parameters that a condition reads.
    pub(super) fn list_read(&self, condition: &Term) -> Vec<&Datum> {
        self.parameters.iter().filter(|parameter| condition.mentions(parameter)).collect()
    }

    /// Lists the bounds of expected values: the ranges, and the equations that hold.
    pub(super) fn list_bounds(&self, parts: &[Term]) -> Vec<Difference> {
        let bound = |part: &Term| self.range_difference(part).or_else(|| self.held_value(part));
        parts.iter().filter_map(bound).collect()
    }

    /// Returns the value of a part of the event that an equation fixes, if the equation holds.
    fn held_value(&self, part: &Term) -> Option<Difference> {
        let Node::Compare(Comparison::Equal, a, b) = part.written()? else { return None };
        let is_one_sided = self.reads_event(a) != self.reads_event(b);
        if !is_one_sided || holds(part, &self.values) != Ok(true) {
            return None;
        }
        let (subject, _, value) = self.isolate_demand(part)?;
        self.difference(&subject, Demand::Value(value))
    }

    /// Makes the difference of a condition that is not solved: the values of the event that it reads.
    pub(super) fn unsolved_difference(&self, part: &Term) -> Difference {
        let mut values = BTreeMap::new();
        collect_values(part, &self.values, &mut values);
        let is_of_event = |name: &String| self.parameters.iter().any(|parameter| parameter.name() == name);
        let got = values.iter().filter(|(name, _)| is_of_event(name));
        let mut got: Vec<String> =
            got.map(|(name, value)| format!("{name} = {}", cut_text(value, LONGEST_VALUE))).collect();
        if let Err(why) = holds(part, &self.values) {
            got.push(format!("where {why}"));
        }
        let wanted = vec![Demand::ToHold];
        Difference { subject: format!("`{part}`"), term: None, wanted, got: got.join(", "), hidden: 0 }
    }

    /// Solves a condition: each list of differences is a way in which it would hold. An empty list: it holds
    /// already. No list: no event makes it hold. `None`: no way is known.
    pub(super) fn solve(&self, part: &Term) -> Option<Vec<Vec<Difference>>> {
        if holds(part, &self.values) == Ok(true) {
            return Some(vec![Vec::new()]);
        }
        if !self.reads_event(part) {
            return Some(Vec::new());
        }
        if part.written_size() > LARGEST_WRITTEN {
            return None;
        }
        // A side without the event that has no value will not get one.
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
        let mut scope = DecisiveScope::new(part, &self.values, self.parameters);
        if let Some((chosen, chosen_by)) = choose_branches(part, &mut scope)
            && (chosen_by.is_empty() || self.reads_event(&chosen))
        {
            let inner = Question { parameters: &scope.of_event, values: scope.values, ..*self };
            let names = scope.of_event.iter().filter(|datum| !self.parameters.contains(datum));
            let of_case: Vec<&str> = names.map(|datum| datum.name()).collect();
            let is_of_case = |difference: &Difference| {
                let name =
                    difference.subject.split(|sign: char| !sign.is_alphanumeric() && sign != '_').next();
                of_case.iter().any(|of_case| Some(*of_case) == name)
            };
            // Another event may choose another branch. The names of a case are not those of the event.
            let is_sure = |ways: &Vec<Vec<Difference>>| {
                chosen_by.is_empty() || (!ways.is_empty() && !ways.iter().flatten().any(is_of_case))
            };
            let ways = inner.solve(&chosen).filter(is_sure);
            // After a `match` of the event, the condition may still be solved as it stands.
            if ways.is_some() || chosen_by.iter().all(|decider| *decider.sort() == Type::Bool) {
                return ways;
            }
        }
        let scope = DecisiveScope::new(part, &self.values, self.parameters);
        let node = match part.shape() {
            TermShape::Node(node) => node,
            TermShape::Operation(DerivedOperation::Call(_), _) => return self.solve(&part.unfolded()?),
            TermShape::Operation(DerivedOperation::Quantified(quantified), arguments)
                if quantified.quantifier == Quantifier::Some =>
            {
                // An instance that the state excludes is no way.
                let instances = list_instances(quantified, arguments, &self.values)?;
                let possible = keep_possible(&instances, &scope);
                let collection = &arguments[..arguments.len() - quantified.read.len()];
                let is_fixed = !collection.iter().any(|argument| self.reads_event(argument));
                return match possible.len() {
                    1..=FEW_SHOWN if is_fixed => self.solve(&Term::or(possible.into_iter().map(Term::and))),
                    _ => None,
                };
            }
            TermShape::Operation(DerivedOperation::Quantified(quantified), arguments)
                if quantified.quantifier == Quantifier::All =>
            {
                // The first instance that fails explains the failure.
                let instances = list_instances(quantified, arguments, &self.values)?;
                let failing = instances.iter().find(|instance| holds(instance, &self.values) != Ok(true));
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
                let bounds = self.list_bounds(parts);
                Some(ways.into_iter().filter_map(|way| merge_differences(way, &bounds)).collect())
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
                single(self.difference(&subject, Demand::Except(value))?)
            }
            Node::Compare(..) => single(self.range_difference(part)?),
            Node::OnStrings(StringOperation::Matches, arguments) => {
                single(self.difference(&arguments[0], Demand::Text(format!("matching {}", arguments[1])))?)
            }
            _ => None,
        }
    }

    /// Makes the difference for `k in s` or `contains(q, e)`, which should hold (`is_in`) or not. `None` for
    /// other operations, or if nothing of it is about the event.
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
        let solved_for = match read.as_slice() {
            [datum] if !is_path(a) && !is_path(b) => Some(datum),
            several => several.iter().find(on_both_sides),
        };
        if let Some(datum) = solved_for.filter(|datum| datum.ty().sort().is_number()) {
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
        let comparison = if is_left { *comparison } else { mirror(*comparison) };
        Some((subject.clone(), comparison, evaluate(wanted, &self.values).ok()?))
    }

    /// Makes the difference for `<` or `>=` between a part of the event and a value. `None` for other parts.
    fn range_difference(&self, part: &Term) -> Option<Difference> {
        use Comparison::{AtLeast, AtMost, Greater, Less};
        let Node::Compare(order @ (Less | AtMost | Greater | AtLeast), a, b) = part.written()? else {
            return None;
        };
        if !self.reads_event(part) {
            return None;
        }
        // An order between two parts of the event is shown as it is written.
        if [a, b].iter().all(|side| is_path(side) && self.reads_event(side)) {
            let got = [a, b].map(|side| evaluate(side, &self.values).map(|value| value_text(&value)));
            let [Ok(left), Ok(right)] = got else { return None };
            let wanted = vec![Demand::Text(format!("{order} {b}"))];
            let got = format!("{left} and {right}");
            return Some(Difference { subject: a.to_string(), term: None, wanted, got, hidden: 0 });
        }
        let (subject, comparison, value) = self.isolate_demand(part)?;
        let (subject, end) = match (subject.node(), value) {
            // `k > 1.5` of an integer is `k > 1`, so that its end can be compared with that of `k > 2`.
            (Node::ToReal(integer), Value::Real(end)) => {
                let is_above_end = matches!(comparison, Less | AtLeast);
                (integer, Value::Int(if is_above_end { end.ceil() } else { end.floor() }))
            }
            (_, end) => (&subject, end),
        };
        self.difference(subject, Demand::Bound(comparison, end))
    }

    /// Makes the difference of a part of the event, if it has a value, from a demand.
    pub(super) fn difference(&self, subject: &Term, wanted: Demand) -> Option<Difference> {
        let got = evaluate(subject, &self.values).ok()?;
        if self.is_delay(subject) {
            return Some(Difference {
                subject: String::new(),
                term: None,
                wanted: vec![self.since_last_event(wanted)],
                got: self.time(&got),
                hidden: 0,
            });
        }
        let (name, term) = (subject.to_conjunct(), Some(subject.clone()));
        Some(Difference { subject: name, term, wanted: vec![wanted], got: value_text(&got), hidden: 0 })
    }

    /// Turns a demand on the time since the last step into one on the time since the last event.
    pub(super) fn since_last_event(&self, wanted: Demand) -> Demand {
        let later = |value: Value| match (value, self.silent) {
            (Value::Real(value), Some(silent)) => Value::Real(value + silent),
            (value, _) => value,
        };
        match wanted {
            Demand::Value(value) => Demand::Value(later(value)),
            Demand::Bound(comparison, value) => Demand::Bound(comparison, later(value)),
            Demand::Except(value) => Demand::Except(later(value)),
            other @ (Demand::Text(_) | Demand::ToHold) => other,
        }
    }

    /// Writes a delay as the time since the last event: `1.5 s`.
    fn time(&self, value: &Value) -> String {
        match self.since_last_event(Demand::Value(value.clone())) {
            Demand::Value(Value::Real(value)) => format!("{} s", time_text(&value)),
            _ => value.to_string(),
        }
    }

    /// Finds the places where a part of the event differs from the value that it should have. Several places
    /// in a short value become one difference of the whole. `None` if the part has no value.
    pub(super) fn find_differences(&self, subject: &Term, value: &Value) -> Option<Vec<Difference>> {
        if self.is_delay(subject) {
            return Some(vec![self.difference(subject, Demand::Value(value.clone()))?]);
        }
        let got = evaluate(subject, &self.values).ok()?;
        let mut differences = Vec::new();
        if let Some(parts) = self.list_wrong_parts(subject, value, &got) {
            for (part, value) in parts {
                differences.extend(self.find_differences(part, value)?);
            }
            return Some(differences);
        }
        let name = subject.to_conjunct();
        compare_values(name.clone(), value, &got, &mut differences);
        // Two fields of a record that is not very short are named, so that nobody has to compare the others.
        let are_two_fields = differences.len() == 2
            && matches!(value, Value::Record(ty, _) if matches!(ty.form, RecordForm::Plain | RecordForm::Variant(_)))
            && value_text(value).chars().count() > LONGEST_VALUE / 2;
        if differences.len() > 1 && is_short(value) && !are_two_fields {
            differences = vec![self.difference(subject, Demand::Value(value.clone()))?];
        }
        for difference in differences.iter_mut().filter(|difference| difference.subject == name) {
            difference.term = Some(subject.clone());
        }
        let hidden = differences.len().saturating_sub(FEW_SHOWN);
        differences.truncate(FEW_SHOWN);
        if let Some(last) = differences.last_mut() {
            last.hidden = hidden;
        }
        Some(differences)
    }

    /// Lists the wrong parts of a value that the guard writes out, with their right values: `i` of
    /// `{ song: s, id: i }`, `r` of `some(r)`. `None`: it is no such value, or one reads no event.
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
        let pairs = parts.iter().zip(values.iter()).zip(got.iter());
        let wrong: Vec<(&Term, &Value)> =
            pairs.filter(|((_, value), got)| value != got).map(|(pair, _)| pair).collect();
        let are_read = wrong.iter().all(|(part, _)| self.reads_event(part));
        let is_split = match ty.form {
            RecordForm::Plain => true,
            // The first field tells the alternative.
            _ => !ty.alternatives().is_empty() && values[0] == got[0],
        };
        (is_split && are_read).then_some(wrong)
    }

    /// Finds the demand of a conjunct on one parameter alone, with its name. `None`: it is about more.
    pub(super) fn isolate_parameter(&self, part: &Term) -> Option<(String, Demand)> {
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
            Comparison::NotEqual => Demand::Except(value),
            order => Demand::Bound(order, value),
        };
        Some((subject.written_datum()?.name().to_owned(), wanted))
    }
}
