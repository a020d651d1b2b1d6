//! A run as people read it: the verdict, why, and the events as a table with the state after each.

use std::collections::{BTreeMap, BTreeSet};

use coreach_execution::explain::{Reason, name_values, reason_of};
use coreach_execution::judge::{self, ShownState, shown_states};
use coreach_execution::outcome::{Cause, Outcome};
use coreach_execution::run::Occurrence;
use coreach_execution::{Run, TestCase};
use coreach_model::excerpt::shortened;
use coreach_model::limits::{FEW_SHOWN, LONGEST_VALUE, MOST_VALUES};
use coreach_model::semantics::State;
use coreach_model::types::RecordForm;
use coreach_model::{Datum, Value, Verdict};

use crate::table;
use crate::visible::visible;

/// Explains the end of a run, by showing the run to a judge again.
pub fn find_reason(test: &TestCase, initial: &State, run: &Run) -> Reason {
    reason_of(judge::make_judge(test, initial.clone(), run.link.clone()).as_mut(), run)
}

/// Tells how the run ended: the verdict and why, where, and each remedy in a line. `whose` names the run.
pub fn end_text(run: &Run, reason: &Reason, whose: &str) -> String {
    let (head, _) = reason.summary.split_once('\n').unwrap_or((&reason.summary, ""));
    let is_named = reason.location.is_empty() || head.contains(&reason.location);
    let location = if is_named { String::new() } else { format!("in {}", reason.location) };
    let place = match whose.is_empty() || location.is_empty() {
        true => format!("{whose}{location}"),
        false => format!("{whose}, {location}"),
    };
    lay_out(run.outcome.name(), &reason.summary, &place)
}

/// Wraps lines at blanks, but not within short texts in quotes.
pub fn wrap(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut wrapped = String::new();
    for line in text.lines() {
        // A blank at which no line may end is `\0` until all lines are wrapped.
        let keep_together = |(place, part): (usize, &str)| {
            let is_quoted = place % 2 == 1;
            match is_quoted && part.len() < LONGEST_VALUE {
                true => part.replace(' ', "\0"),
                // A name and the beginning of its value stay together.
                false => table::keep_strings(&part.replace(" = ", "\0=\0"), COLUMNS - 8, "\0"),
            }
        };
        let line = line.split('`').enumerate().map(keep_together).collect::<Vec<_>>().join("`");
        let indent = line.len() - line.trim_start().len();
        let mut column = 0;
        for word in line.trim_start().split(' ') {
            let length = word.chars().count();
            let mut blanks = if column == 0 { indent } else { 1 };
            if column > 0 && column + blanks + length > COLUMNS {
                wrapped.push('\n');
                (column, blanks) = (0, indent + 4);
            }
            wrapped += &format!("{:blanks$}{word}", "");
            column += blanks + length;
        }
        wrapped.push('\n');
    }
    wrapped.replace('\0', " ")
}

/// Lays out why a run ended: the verdict with the first line, the place, and the other lines.
pub fn lay_out(verdict: &str, summary: &str, place: &str) -> String {
    let mut lines = summary.lines();
    let mut text = format!("{verdict}: {}\n", visible(lines.next().unwrap_or_default()));
    let place = Some(place).filter(|place| !place.is_empty());
    for line in place.into_iter().chain(lines) {
        write_line(&mut text, &format!("  {line}"));
    }
    text
}

/// Tells how the run ended, with the guards that decided and what is allowed.
pub fn why_text(run: &Run, reason: &Reason, whose: &str) -> String {
    let mut text = end_text(run, reason, whose);
    reason.lines().iter().for_each(|line| write_line(&mut text, line));
    if run.crossed > 0 {
        let (what, was) = if run.crossed == 1 { ("observation", "was") } else { ("observations", "were") };
        write_line(
            &mut text,
            &format!("  crossed: {} {what} {was} sent before an event that is listed above it", run.crossed),
        );
    }
    text
}

fn write_line(text: &mut String, line: &str) {
    *text += &format!("{}\n", visible(line));
}

/// Lists the events of a run, one a line: who, what, where it led, and what it changed. With `most`, shows
/// only so many last events, and those that last changed a variable in this explanation of the end.
pub fn step_table(test: &TestCase, initial: &State, run: &Run, most: Option<(usize, &Reason)>) -> String {
    let mut judge = judge::make_judge(test, initial.clone(), run.link.clone());
    let happened: Vec<Occurrence> = run.trace.iter().map(|step| step.what.clone()).collect();
    let states = shown_states(judge.as_mut(), &happened);
    if run.trace.is_empty() {
        return String::new();
    }
    let mut rows = vec![["", "ms", "who", "event", "then in", "with"].map(str::to_owned).to_vec()];
    let first = &states[0];
    let data: Vec<String> = first.data.iter().map(|(datum, value)| format!("{datum} = {value:#}")).collect();
    rows.push(["0", "0", "", "", &first.place, &data.join(", ")].map(str::to_owned).to_vec());
    for (number, (step, [before, after])) in run.trace.iter().zip(states.array_windows()).enumerate() {
        let (who, what) = match &step.what {
            Occurrence::Stimulus(event) => ("tester sends", name_values(judge.iosts(), event)),
            Occurrence::Observation(event) => ("tester sees", name_values(judge.iosts(), event)),
            other @ (Occurrence::Silence(_) | Occurrence::Delay(_)) => ("", other.to_string()),
        };
        let changed = after.data.iter().filter_map(|(datum, is)| {
            let (_, was) = before.data.iter().find(|(other, _)| other == datum)?;
            describe_change(datum.name(), was, is)
        });
        rows.push(vec![
            (number + 1).to_string(),
            format!("{:.1}", step.at.as_secs_f64() * 1e3),
            who.to_owned(),
            what,
            after.place.clone(),
            changed.collect::<Vec<_>>().join(", "),
        ]);
    }
    // A specification that judges on line has no location for the event that it forbids.
    match &run.outcome {
        Outcome::Verdict(Verdict::Fail, Cause::Alien(text)) => {
            let number = (run.trace.len() + 1).to_string();
            let event = shortened(text.lines().next().unwrap_or_default());
            let cells = [number.as_str(), "", "tester sees", &event, Verdict::Fail.name(), ""];
            rows.push(cells.map(str::to_owned).to_vec());
        }
        Outcome::Verdict(Verdict::Fail, Cause::Event) => {
            rows.last_mut().into_iter().for_each(|last| last[4] = Verdict::Fail.name().to_owned());
        }
        _ => {}
    }
    if let Some((most, reason)) = most {
        // The first two rows are the heading and the initial state.
        let steps = rows.split_off(2);
        let last_changes = find_last_changes(reason, &states, run.trace.last().map(|step| &step.what));
        let first_shown = run.trace.len().saturating_sub(most);
        // A stimulus is shown with its answer.
        let is_asked = |step: usize| matches!(run.trace[step].what, Occurrence::Stimulus(_));
        let is_shown = |step: usize| {
            step >= first_shown
                || last_changes.contains(&step)
                || last_changes.contains(&(step + 1)) && is_asked(step) && !is_asked(step + 1)
        };
        let mut left_out: Vec<Vec<String>> = Vec::new();
        for (step, row) in steps.into_iter().enumerate() {
            if !is_shown(step) {
                left_out.push(row);
                continue;
            }
            // A note in the place of one row would save nothing.
            if left_out.len() > 1 {
                let note = ["..", "", "", &format!("{} steps", left_out.len()), "", ""];
                left_out = vec![note.map(str::to_owned).to_vec()];
            }
            rows.append(&mut left_out);
            rows.push(row);
        }
    }
    rows.iter_mut().flatten().for_each(|cell| *cell = visible(cell).into_owned());
    table::table(&rows, 6)
}

/// Finds the steps, counted from 0, that last changed the variables in the values of an explanation. Of a
/// collection, also those that last changed an entry or element that the explanation reads or names, each
/// cell of a small array, and an element in which the last event differs.
fn find_last_changes<'s>(
    reason: &Reason,
    states: &'s [ShownState],
    last: Option<&Occurrence>,
) -> BTreeSet<usize> {
    let sent = match last {
        Some(Occurrence::Observation(event)) => event.values.as_slice(),
        _ => &[],
    };
    let texts = list_quoted_texts(reason);
    let data: BTreeSet<&Datum> =
        states.iter().flat_map(|state| state.data.iter().map(|(datum, _)| datum)).collect();
    let mut found = BTreeSet::new();
    for datum in data.into_iter().filter(|datum| reason.guards.iter().any(|guard| guard.names(datum))) {
        let value_in = |state: &'s ShownState| Some(&state.data.iter().find(|(other, _)| other == datum)?.1);
        let mut changes: Vec<(usize, &Value, &Value)> = Vec::new();
        for (step, [before, after]) in states.array_windows().enumerate() {
            if let Some((was, is)) = value_in(before).zip(value_in(after)).filter(|(was, is)| was != is) {
                changes.push((step, was, is));
            }
        }
        let changes_entry = |was: &Value, is: &Value, text: &str| {
            let is_named = |parts: Vec<String>| parts.iter().any(|part| part.contains(text));
            let has_text = |value: &Value| value.to_string().contains(text);
            list_changed_parts("", was, is).is_some_and(is_named)
                || text.starts_with('"') && has_text(was) != has_text(is)
        };
        let mut add_last = |has_changed: &dyn Fn(&Value, &Value) -> bool| {
            let last = changes.iter().rfind(|(_, was, is)| has_changed(was, is));
            found.extend(last.map(|(step, ..)| *step));
        };
        // Any change, then those of entries that the explanation names in quotes, or that a guard reads.
        add_last(&|_, _| true);
        texts.iter().for_each(|text| add_last(&|was, is| changes_entry(was, is, text)));
        for (index, rest) in reason.guards.iter().flat_map(|guard| guard.list_places_read(datum)) {
            let field = rest.strip_prefix('.').map(|path| path.split(['.', '[']).next().unwrap_or(path));
            add_last(&|was, is| find_part(was, index, field) != find_part(is, index, field));
        }
        let Some(present) = states.last().and_then(value_in) else { continue };
        if let Value::Array(array) = present {
            for key in Value::enumerate(&array.ty.index, FEW_SHOWN).into_iter().flatten() {
                let index = key.to_string();
                add_last(&|was, is| find_part(was, &index, None) != find_part(is, &index, None));
            }
        }
        let wrong = sent.iter().flat_map(|sent| list_wrong_elements(sent, present));
        for element in wrong.take(FEW_SHOWN) {
            let has = |value: &Value| list_elements(value).contains(&element);
            add_last(&|was, is| has(was) != has(is));
        }
    }
    found
}

/// Lists the elements of a list or set, or the keys of a map.
fn list_elements(value: &Value) -> Vec<Value> {
    match value {
        Value::Record(ty, fields) => match ty.form {
            RecordForm::List => ty.counting(fields).cloned().collect(),
            RecordForm::Keyed(_) | RecordForm::Entries(..) => {
                ty.entries(fields).into_iter().map(|(key, _)| key).collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Lists the elements that only one of two collections of one type has.
fn list_wrong_elements(one: &Value, other: &Value) -> Vec<Value> {
    if one.sort() != other.sort() {
        return Vec::new();
    }
    let (one, other) = (list_elements(one), list_elements(other));
    let only_in_one = one.iter().filter(|element| !other.contains(element));
    let only_in_other = other.iter().filter(|element| !one.contains(element));
    only_in_one.chain(only_in_other).cloned().collect()
}

/// Finds the part of a collection at a position or key, or a field of it.
fn find_part<'v>(whole: &'v Value, index: &str, field: Option<&str>) -> Option<&'v Value> {
    let part = match whole {
        Value::Record(ty, fields) if ty.form == RecordForm::List => {
            ty.counting(fields).nth(index.parse().ok()?)?
        }
        Value::Record(ty, fields) if matches!(ty.form, RecordForm::Keyed(_) | RecordForm::Entries(..)) => {
            ty.entries(fields).into_iter().find(|(key, _)| key.to_string() == index)?.1?
        }
        Value::Array(array) => {
            let keys = Value::enumerate(&array.ty.index, MOST_VALUES)?;
            array.get(keys.iter().find(|key| key.to_string() == index)?)
        }
        _ => return None,
    };
    match (part, field) {
        (Value::Record(ty, fields), Some(field)) if ty.form == RecordForm::Plain => {
            ty.fields.iter().position(|(name, _)| name == field).map(|position| &fields[position])
        }
        _ => Some(part),
    }
}

/// Lists the texts in quotes in the first line of an explanation, and those that are values of its guards.
fn list_quoted_texts(reason: &Reason) -> BTreeSet<String> {
    let head = reason.summary.lines().next().unwrap_or_default();
    let values = reason.guards.iter().flat_map(|guard| guard.values.values());
    let texts = values.map(String::as_str).filter(|value| value.starts_with('"')).chain([head]);
    // Between quotes is every second part.
    let quoted = texts.flat_map(|text| text.split('"').skip(1).step_by(2));
    quoted.filter(|text| !text.is_empty()).map(|text| format!("\"{text}\"")).collect()
}

/// Says what a datum or a part of it has become, if it has changed. Of a record or a long collection, names
/// only the parts that have changed.
fn describe_change(name: &str, was: &Value, is: &Value) -> Option<String> {
    if was == is {
        return None;
    }
    let whole = format!("{name} = {is:#}");
    let is_plain = matches!(is, Value::Record(ty, _) if ty.form == RecordForm::Plain);
    let parts =
        list_changed_parts(name, was, is).filter(|_| is_plain || whole.chars().count() > LONGEST_VALUE);
    let changes = parts.map(|parts| parts.join(", "));
    Some(changes.filter(|text| text.chars().count() < whole.chars().count()).unwrap_or(whole))
}

/// Lists the parts of a record, a collection or an array that have changed. `None` if all fields of a record
/// have, or if the value has no parts.
fn list_changed_parts(name: &str, was: &Value, is: &Value) -> Option<Vec<String>> {
    let (ty, now, then) = match (is, was) {
        (Value::Record(ty, now), Value::Record(_, then)) => (ty, now, then),
        (Value::Array(now), Value::Array(then)) => {
            let indices = Value::enumerate(&now.ty.index, MOST_VALUES)?.into_iter();
            let changed = indices.filter_map(|index| {
                describe_change(&format!("{name}[{index}]"), then.get(&index), now.get(&index))
            });
            return Some(changed.collect());
        }
        _ => return None,
    };
    match ty.form {
        RecordForm::Plain => {
            let fields = ty.fields.iter().zip(now.iter().zip(then.iter()));
            let changed = fields.filter(|(_, (now, then))| now != then);
            let changed: Vec<String> =
                changed.map(|((name, _), (now, _))| format!("{name}: {now:#}")).collect();
            (changed.len() < now.len()).then(|| vec![format!("{name} with {{{}}}", changed.join(", "))])
        }
        RecordForm::Keyed(_) | RecordForm::Entries(..) => {
            let [now, then] = [now, then].map(|fields| BTreeMap::from_iter(ty.entries(fields)));
            Some(list_changed_entries(name, &then, &now))
        }
        RecordForm::List => {
            let [now, then] = [now, then].map(|fields| ty.counting(fields).collect::<Vec<_>>());
            Some(list_changed_elements(name, &then, &now))
        }
        RecordForm::Variant(_) | RecordForm::Option => None,
    }
}

/// Lists the changes of the entries of a map, or of the elements of a set.
fn list_changed_entries(
    name: &str,
    then: &BTreeMap<Value, Option<&Value>>,
    now: &BTreeMap<Value, Option<&Value>>,
) -> Vec<String> {
    let removed = then.keys().filter(|key| !now.contains_key(key));
    let changed = now.iter().filter_map(|(key, value)| match (value, then.get(key)) {
        (Some(is), Some(Some(was))) => describe_change(&format!("{name}[{key}]"), was, is),
        (Some(is), _) => Some(format!("{name}[{key}] = {is:#}")),
        (None, Some(_)) => None,
        (None, None) => Some(format!("{name} with {key}")),
    });
    removed.map(|key| format!("{name} without {key}")).chain(changed).collect()
}

/// Lists the changes of the elements of a list. Elements behind one that was added or removed only move.
fn list_changed_elements(name: &str, then: &[&Value], now: &[&Value]) -> Vec<String> {
    let with = |added: &Value, index: usize| format!("{name} with {added:#} at [{index}]");
    let without = |removed: &Value, index: usize| format!("{name} without {removed:#} at [{index}]");
    let same = now.iter().zip(then).take_while(|(is, was)| is == was).count();
    match (&now[same..], &then[same..]) {
        ([added, after @ ..], rest) if after == rest => vec![with(added, same)],
        (rest, [removed, after @ ..]) if after == rest => vec![without(removed, same)],
        // A full list moves up by one.
        ([start @ .., added], [_, after @ ..]) if start == after && !start.is_empty() => {
            vec![format!("{name} without [{same}]"), with(added, now.len() - 1)]
        }
        _ => {
            let mut changes = Vec::new();
            for index in 0..then.len().max(now.len()) {
                changes.extend(match (then.get(index), now.get(index)) {
                    (Some(was), Some(is)) => describe_change(&format!("{name}[{index}]"), was, is),
                    (Some(removed), None) => Some(without(removed, index)),
                    (None, added) => added.map(|added| with(added, index)),
                });
            }
            changes
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::sync::Arc;

    use coreach_execution::judge::Guard;
    use coreach_model::Type;
    use coreach_model::types::RecordType;

    use super::*;

    /// A change of a long map, set or list names the changed parts only.
    #[test]
    fn a_change_names_the_parts_that_have_changed() {
        let text = |number: &usize| Value::string(&"x".repeat(20 + number));
        let list = |of: &[usize]| {
            let ty = Arc::new(RecordType::list(5, &Type::String));
            ty.value_of(Value::int(of.len()), of.iter().map(text))
        };
        let map = |of: &[(usize, usize)]| {
            let ty = Arc::new(RecordType::entries_of(5, &Type::Int, Some(&Type::String)));
            let entries = of.iter().map(|(key, number)| (Value::int(*key), Some(text(number))));
            ty.make_keyed(entries.collect()).unwrap()
        };
        let quoted = |number: usize| format!("\"{}\"", "x".repeat(20 + number));
        for (was, is, told) in [
            (list(&[0, 1, 2]), list(&[0, 1, 2, 3]), format!("v with {} at [3]", quoted(3))),
            (list(&[0, 1, 2, 3]), list(&[0, 2, 3]), format!("v without {} at [1]", quoted(1))),
            (list(&[0, 1, 2, 3]), list(&[0, 1, 4, 3]), format!("v[2] = {}", quoted(4))),
            (list(&[0, 1, 2]), list(&[1, 2, 3]), format!("v without [0], v with {} at [2]", quoted(3))),
            (list(&[]), list(&[0]), format!("v = [{}]", quoted(0))),
            (map(&[(1, 1), (2, 2), (3, 3)]), map(&[(1, 1), (2, 4), (3, 3)]), format!("v[2] = {}", quoted(4))),
            (map(&[(1, 1), (2, 2)]), map(&[(1, 1), (2, 2), (4, 1)]), format!("v[4] = {}", quoted(1))),
            (map(&[(1, 1), (2, 2), (3, 3)]), map(&[(1, 1), (3, 3)]), "v without 2".to_owned()),
        ] {
            assert_eq!(describe_change("v", &was, &is), Some(told));
        }
    }

    /// A cut table keeps the steps that changed the entry in question, also where a value went.
    #[test]
    fn the_last_changes_of_an_entry_are_found() {
        let datum = |name: &str| Datum::new(name, Type::Int);
        let ty = Arc::new(RecordType::list(5, &Type::String));
        let list = |of: &[&str]| ty.value_of(Value::int(of.len()), of.iter().map(|text| Value::string(text)));
        let states: Vec<ShownState> = [&["c"][..], &["c", "d"], &["a", "d"], &["a", "d", "e"]]
            .into_iter()
            .map(|of| ShownState { place: String::new(), data: vec![(datum("vRecent"), list(of))] })
            .collect();
        let guard = Guard {
            transition: String::new(),
            place: None,
            part: String::new(),
            holds: false,
            since: None,
            values: [("vRecent".to_owned(), "[]".to_owned())].into(),
        };
        let summary = "expected pSlug = \"a\", got \"c\"".to_owned();
        let reason = Reason { summary, guards: vec![guard], ..Reason::default() };
        assert_eq!(find_last_changes(&reason, &states, None), BTreeSet::from([1, 2]));
        // A later change of another entry is not one of this entry.
        let states: Vec<ShownState> = [&["a"][..], &["c", "a"], &["c", "a", "d"]]
            .into_iter()
            .map(|of| ShownState { place: String::new(), data: vec![(datum("vRecent"), list(of))] })
            .collect();
        assert_eq!(find_last_changes(&reason, &states, None), BTreeSet::from([0, 1]));
        // The explanation reads the entry at an index.
        let values =
            [("vRecent[vAt]", "\"a\""), ("vAt", "0")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        let guards = vec![Guard { values: values.into(), ..reason.guards[0].clone() }];
        let reason = Reason { summary: String::new(), guards, ..Reason::default() };
        let states: Vec<ShownState> = [&["c", "b"][..], &["a", "b"], &["a", "d"], &["a", "e"]]
            .into_iter()
            .map(|of| ShownState { place: String::new(), data: vec![(datum("vRecent"), list(of))] })
            .collect();
        assert_eq!(find_last_changes(&reason, &states, None), BTreeSet::from([0, 2]));
    }

    #[test]
    fn a_line_is_not_broken_in_a_short_string() {
        let long = "x".repeat(85);
        for (text, kept) in [
            (r#"text = "a \" =>  b", "c""#, r#"text = "a \" =>  b","#),
            // This quote does not end.
            (r#"5" and some more words"#, r#"5" and some"#),
        ] {
            let wrapped = wrap(&format!("{long} {text}"));
            assert!(wrapped.contains(kept), "{wrapped}");
            assert!(wrapped.lines().all(|line| line.chars().count() <= 100), "{wrapped}");
        }
    }
}
