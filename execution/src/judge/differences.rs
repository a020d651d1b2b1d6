//! The differences between what was expected and what came, and their text.
//!
//! A demand is what a guard asks of a part of an event: its value, an end of its range, or a text. Two values
//! that differ are compared part by part, down to the smallest part that differs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use coreach_adapters::encoding::TextEncoding;
use coreach_model::excerpt::join_words;
use coreach_model::limits::{FEW_SHOWN, LONGEST_TEXT, LONGEST_VALUE, MOST_VALUES};
use coreach_model::number::time_text;
use coreach_model::term::node::Comparison;
use coreach_model::types::RecordForm;
use coreach_model::{Term, Type, Value};

use crate::judge::excerpts::{cut_text, shorten_collection};

/// The most ways in which a guard would have held. Repetitions among them are dropped later.
pub(super) const MOST_WAYS: usize = 4 * FEW_SHOWN;

/// A demand on a part of an observation: its value, an end of its range, or a text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Demand {
    Value(Value),
    /// An end of a range: a comparison with a value.
    Bound(Comparison, Value),
    /// A value that it must not have.
    Except(Value),
    Text(String),
    /// A condition that is not solved for the event shall hold.
    ToHold,
}

impl Demand {
    /// Does it have a value of this type's sort, or none?
    pub(super) fn fits_sort_of(&self, ty: &Type) -> bool {
        match self {
            Demand::Value(value) | Demand::Bound(_, value) | Demand::Except(value) => {
                value.sort() == ty.sort()
            }
            Demand::Text(_) | Demand::ToHold => true,
        }
    }
}

/// A part of an observation that differs from the demands on it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Difference {
    /// The name of the part. A time has an empty one.
    pub subject: String,
    /// The part as a term, if the demands are on that.
    pub term: Option<Term>,
    /// All demands on the part.
    pub wanted: Vec<Demand>,
    pub got: String,
    /// The number of further differences of the part, which are not told.
    pub hidden: usize,
}

/// Can the text of a value be shown as a whole?
pub(super) fn is_short(value: &Value) -> bool {
    format!("{value:#}").chars().count() <= LONGEST_VALUE
}

/// Combines each way of the first list with each way of the second.
pub(super) fn combine_ways(
    ways: &[Vec<Difference>],
    ways_of_part: &[Vec<Difference>],
) -> Vec<Vec<Difference>> {
    let extend = |way| ways_of_part.iter().map(move |of_part| [way, of_part.as_slice()].concat());
    ways.iter().map(Vec::as_slice).flat_map(extend).take(MOST_WAYS).collect()
}

/// Merges the differences of each subject, with its range. `None`: no value meets all demands.
pub(super) fn merge_differences(way: Vec<Difference>, bounds: &[Difference]) -> Option<Vec<Difference>> {
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
type ValueEnd = Option<(Value, bool)>;

/// Returns the ends of a range: the greatest lower one and the least upper one.
fn range_ends(demands: &[Demand]) -> (ValueEnd, ValueEnd) {
    let (mut low, mut high): (ValueEnd, ValueEnd) = (None, None);
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
            // An end that is not in the range is narrower than an equal one that is.
            Ordering::Equal => !is_in,
            order => (order == Ordering::Greater) == is_low,
        });
        if is_narrower {
            *known = Some((end, is_in));
        }
    }
    (low, high)
}

/// Returns the value that one of the demands names.
pub(super) fn demanded_value(demands: &[Demand]) -> Option<&Value> {
    demands.iter().find_map(|demand| if let Demand::Value(value) = demand { Some(value) } else { None })
}

/// Returns the demands as a text: `= 3`, `in 1..9`, `>= 2`. `None`: no value meets all of them.
pub(super) fn demand_text(demands: &[Demand]) -> Option<String> {
    if let Some(value) = demanded_value(demands) {
        let meets = |demand: &Demand| match demand {
            Demand::Value(demanded) => demanded == value,
            Demand::Bound(comparison, end) => comparison.holds(value.cmp(end)),
            Demand::Except(excluded) => excluded != value,
            Demand::Text(_) | Demand::ToHold => true,
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
        (Some((low, _)), Some((high, _))) if low == high => return None,
        (Some((low, true)), Some((high, true))) => {
            vec![format!("in {}..{}", value_text(low), value_text(high))]
        }
        // An end is missing, or not in the range.
        _ => low.iter().map(|low| end(">", low)).chain(high.iter().map(|high| end("<", high))).collect(),
    };
    let mut excluded: BTreeSet<&Value> = BTreeSet::new();
    for demand in demands {
        match demand {
            Demand::Text(text) => texts.push(text.clone()),
            Demand::ToHold => texts.push("to hold".to_owned()),
            Demand::Except(value) => drop(excluded.insert(value)),
            Demand::Value(_) | Demand::Bound(..) => {}
        }
    }
    let named: Vec<String> = excluded.iter().take(FEW_SHOWN).map(|value| value_text(value)).collect();
    match excluded.len() {
        0 => {}
        1 => texts.push(format!("!= {}", named[0])),
        count if count > FEW_SHOWN => {
            texts.push(format!("not in {{{}, and {} more}}", named.join(", "), count - FEW_SHOWN));
        }
        _ => texts.push(format!("not in {{{}}}", named.join(", "))),
    }
    texts.dedup();
    Some(texts.join(" and "))
}

/// Returns the demands on a time as a text: `within 1.2..2 s`, since the last event.
pub(super) fn instants_text(demands: &[Demand]) -> String {
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
pub(super) fn compare_values(subject: String, wanted: &Value, got: &Value, found: &mut Vec<Difference>) {
    let mut add = |subject, demand, got_text| add_difference(subject, demand, got_text, [wanted, got], found);
    match (wanted, got) {
        _ if wanted == got => {}
        (Value::Record(ty, wanted_parts), Value::Record(_, got_parts)) if ty.form == RecordForm::Plain => {
            for ((name, _), (wanted_part, got_part)) in
                ty.fields.iter().zip(wanted_parts.iter().zip(got_parts.iter()))
            {
                compare_values(format!("{subject}.{name}"), wanted_part, got_part, found);
            }
        }
        (Value::Record(ty, _), Value::Record(..)) if ty.form == RecordForm::List => {
            compare_lists(subject, wanted, got, found);
        }
        (Value::Record(ty, _), Value::Record(..))
            if matches!(ty.form, RecordForm::Keyed(_) | RecordForm::Entries(..)) =>
        {
            compare_keyed(subject, wanted, got, found);
        }
        // Values of one alternative are compared by their fields, unless it is short and has only one.
        (Value::Record(ty, wanted_parts), Value::Record(_, got_parts))
            if wanted_parts[0] == got_parts[0]
                && (ty.counting(wanted_parts).count() > 1
                    || value_text(wanted) == value_text(got)
                    || differ_in_records(wanted_parts, got_parts)) =>
        {
            for (position, (name, _)) in ty.fields.iter().enumerate() {
                if ty.counts(&wanted_parts[0], position) {
                    let subject = match name.rsplit_once('\'') {
                        Some((_, field)) => format!("{subject}.{field}"),
                        None => subject.clone(),
                    };
                    compare_values(subject, &wanted_parts[position], &got_parts[position], found);
                }
            }
        }
        (Value::Array(wanted_parts), Value::Array(got_parts)) => {
            // All cells are compared, unless there are very many. Then those that a value names are.
            let all = Value::enumerate(&wanted_parts.ty.index, MOST_VALUES);
            let is_whole = all.is_some();
            let named = || wanted_parts.cells.keys().chain(got_parts.cells.keys()).cloned().collect();
            for key in all.map_or_else(named, BTreeSet::from_iter) {
                // Arrays of arrays may differ in more cells than anybody counts.
                if found.len() > MOST_VALUES {
                    return;
                }
                let parts = (wanted_parts.get(&key), got_parts.get(&key));
                compare_values(format!("{subject}[{key}]"), parts.0, parts.1, found);
            }
            if !is_whole && wanted_parts.default != got_parts.default {
                compare_values(format!("{subject}[..]"), &wanted_parts.default, &got_parts.default, found);
            }
        }
        // Long texts are compared from the first sign that differs.
        (Value::String(wanted_text), Value::String(got_text))
            if wanted_text.chars().count().max(got_text.chars().count()) > LONGEST_VALUE =>
        {
            let signs = wanted_text.chars().zip(got_text.chars());
            let equal = signs.take_while(|(wanted_sign, got_sign)| wanted_sign == got_sign).count();
            let rest = |text: &str| Value::string(&text.chars().skip(equal).collect::<String>());
            let demand = Demand::Value(rest(wanted_text));
            add(format!("{subject}[{equal}..]"), demand, value_text(&rest(got_text)));
        }
        (Value::String(wanted_text), Value::String(got_text)) => {
            let hint = describe_small_difference(wanted_text, got_text);
            add(subject, Demand::Value(wanted.clone()), value_text(got) + hint);
        }
        _ => add(subject, Demand::Value(wanted.clone()), value_text(got)),
    }
}

/// Adds a difference of two values. If both are cut to one text, the text begins before the difference.
fn add_difference(
    subject: String,
    mut demand: Demand,
    mut got_text: String,
    [wanted, got]: [&Value; 2],
    found: &mut Vec<Difference>,
) {
    if matches!(&demand, Demand::Value(wanted) if value_text(wanted) == got_text) {
        let [wanted_text, other_text] = cut_before_difference(wanted, got);
        (demand, got_text) = (Demand::Text(format!("= {wanted_text}")), other_text);
    }
    found.push(Difference { subject, term: None, wanted: vec![demand], got: got_text, hidden: 0 });
}

/// Compares two lists, first by their lengths, then by their elements. Stops where one text tells it all.
fn compare_lists(subject: String, wanted: &Value, got: &Value, found: &mut Vec<Difference>) {
    let (Value::Record(ty, wanted_parts), Value::Record(_, got_parts)) = (wanted, got) else { return };
    let mut add = |subject, demand, got_text| add_difference(subject, demand, got_text, [wanted, got], found);
    let [wanted_elements, got_elements] =
        [wanted_parts, got_parts].map(|parts| ty.counting(parts).collect::<Vec<_>>());
    // The first part of a list is its length. If it differs, short lists are shown as a whole.
    if wanted_parts[0] != got_parts[0] {
        let [missing, surplus] = list_unequal(&wanted_elements, &got_elements);
        let changed = describe_changed(&missing, &surplus);
        if is_short(wanted) {
            let surplus: Vec<&Value> = surplus.into_iter().map(|(_, element)| element).collect();
            let are_many = wanted_elements.len().max(got_elements.len()) > FEW_SHOWN;
            let changed = changed.filter(|_| are_many && !wanted_elements.is_empty());
            let hint = changed.map_or_else(String::new, |changed| format!(" ({changed})"));
            return add(subject, Demand::Value(wanted.clone()), text_with(got, &surplus) + &hint);
        }
        if let Some(changed) = changed {
            let demand = Demand::Text(format!("with {} elements", wanted_elements.len()));
            return add(subject, demand, format!("{}: {changed}", got_elements.len()));
        }
        let length = Demand::Value(wanted_parts[0].clone());
        add(format!("len({subject})"), length, got_parts[0].to_string());
    }
    let pairs = || wanted_elements.iter().zip(&got_elements).enumerate();
    if is_reordered(wanted, got) && is_short(wanted) {
        let got_text = format!("{} (the same elements {REORDERED})", value_text(got));
        return add(subject, Demand::Value(wanted.clone()), got_text);
    }
    if let Some((index, (wanted_element, got_element))) = pairs().find(|(_, (one, other))| one != other)
        && is_reordered(wanted, got)
    {
        if let Some([wanted_order, got_order]) = name_order(&wanted_elements, &got_elements) {
            return add(subject, Demand::Text(format!("{REORDERED}: {wanted_order}")), got_order);
        }
        let demand = format!("{REORDERED}, with {} at [{index}]", value_text(wanted_element));
        return add(subject, Demand::Text(demand), value_text(got_element));
    }
    // Two short lists of which nothing agrees are shown.
    let are_short = [wanted, got].iter().all(|list| format!("{list:#}").chars().count() <= LONGEST_TEXT);
    if are_short && pairs().count() > FEW_SHOWN && pairs().all(|(_, (one, other))| one != other) {
        let whole = format!("= {wanted:#}");
        return add(subject, Demand::Text(whole), format!("{got:#}"));
    }
    for (index, (wanted_element, got_element)) in pairs() {
        compare_entries(format!("{subject}[{index}]"), wanted_element, got_element, found);
    }
}

/// Compares two sets or maps: their keys, and then the values of the keys that both have.
fn compare_keyed(subject: String, wanted: &Value, got: &Value, found: &mut Vec<Difference>) {
    let (Value::Record(ty, wanted_parts), Value::Record(_, got_parts)) = (wanted, got) else { return };
    let [wanted_entries, got_entries] =
        [wanted_parts, got_parts].map(|parts| ty.entries(parts).into_iter().collect::<BTreeMap<_, _>>());
    if !wanted_entries.keys().eq(got_entries.keys()) {
        let mut add =
            |demand, got_text| add_difference(subject.clone(), demand, got_text, [wanted, got], found);
        let demands = list_key_demands(&wanted_entries, &got_entries);
        // One key of several says more than both wholes.
        let is_one_of_many = demands.len() == 1 && wanted_entries.len().max(got_entries.len()) >= FEW_SHOWN;
        if is_short(wanted) && !is_one_of_many {
            return add(Demand::Value(wanted.clone()), value_text(got));
        }
        let hidden = demands.len().saturating_sub(FEW_SHOWN);
        let and_more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
        let named = demands[..demands.len() - hidden].join(" and ") + &and_more;
        let surplus = got_entries.keys().filter(|key| !wanted_entries.contains_key(key));
        add(Demand::Text(named), text_with(got, &surplus.collect::<Vec<_>>()));
    }
    for (key, wanted_part) in &wanted_entries {
        if let (Some(wanted_part), Some(Some(got_part))) = (wanted_part, got_entries.get(key)) {
            compare_entries(format!("{subject}[{key}]"), wanted_part, got_part, found);
        }
    }
}

/// Says that two lists have the same elements, for people and for a hint.
pub const REORDERED: &str = "in another order";

/// Are these two lists of the same elements?
fn is_reordered(one: &Value, other: &Value) -> bool {
    let (Value::Record(ty, one), Value::Record(_, other)) = (one, other) else { return false };
    let sorted = |fields| {
        let mut elements: Vec<&Value> = ty.counting(fields).collect();
        elements.sort();
        elements
    };
    ty.form == RecordForm::List && one[0] == other[0] && sorted(one) == sorted(other)
}

/// Names the order of two lists of records by the first field that tells the records apart: `name "b", "a"`.
/// `None`: no field does, or the text is long.
fn name_order(wanted: &[&Value], got: &[&Value]) -> Option<[String; 2]> {
    let Value::Record(ty, _) = wanted.first()? else { return None };
    let field = |element: &&Value, position: usize| match element {
        Value::Record(_, fields) => fields[position].clone(),
        _ => (*element).clone(),
    };
    let tells_apart = |position: &usize| {
        let values: BTreeSet<Value> = wanted.iter().map(|element| field(element, *position)).collect();
        values.len() == wanted.len()
    };
    let position = (0..ty.fields.len()).find(tells_apart).filter(|_| ty.form == RecordForm::Plain)?;
    let name = &ty.fields[position].0;
    let order = |elements: &[&Value]| {
        let values = elements.iter().map(|element| format!("{:#}", field(element, position)));
        format!("{name} {}", values.collect::<Vec<_>>().join(", "))
    };
    let texts = [wanted, got].map(order);
    texts.iter().all(|text| text.chars().count() <= LONGEST_VALUE).then_some(texts)
}

/// Are all parts that differ plain records, so that their fields say more?
fn differ_in_records(wanted: &[Value], got: &[Value]) -> bool {
    let is_record = |part: &Value| matches!(part, Value::Record(ty, _) if ty.form == RecordForm::Plain);
    wanted.iter().zip(got).all(|(wanted, got)| wanted == got || is_record(wanted))
}

/// Compares two elements of a list, or two values of one key of a map. If they differ in several parts and
/// are short, they are shown.
fn compare_entries(subject: String, wanted: &Value, got: &Value, found: &mut Vec<Difference>) {
    let before = found.len();
    compare_values(subject.clone(), wanted, got, found);
    if found.len() > before + 1 && is_short(wanted) {
        found.truncate(before);
        let demand = Demand::Value(wanted.clone());
        found.push(Difference { subject, term: None, wanted: vec![demand], got: value_text(got), hidden: 0 });
    }
}

/// Lists the keys that are missing, and then those that are too many: `with 3`, `without 4`.
fn list_key_demands<T>(wanted: &BTreeMap<Value, T>, got: &BTreeMap<Value, T>) -> Vec<String> {
    let missing = wanted.keys().filter(|key| !got.contains_key(key)).map(|key| format!("with {key}"));
    let surplus = got.keys().filter(|key| !wanted.contains_key(key)).map(|key| format!("without {key}"));
    missing.chain(surplus).collect()
}

/// Returns the texts of two long values from shortly before the place where they differ.
fn cut_before_difference(wanted: &Value, got: &Value) -> [String; 2] {
    let texts = [wanted, got].map(|value| format!("{value:#}"));
    let equal = texts[0].chars().zip(texts[1].chars()).take_while(|(one, other)| one == other).count();
    texts.map(|text| {
        let rest: String = text.chars().skip(equal.saturating_sub(LONGEST_VALUE / 3)).collect();
        format!("...{}", cut_text(&rest, LONGEST_VALUE))
    })
}

/// Lists the elements with their positions that only the first list has, and those that only the second has.
fn list_unequal<'v>(wanted: &[&'v Value], got: &[&'v Value]) -> [Vec<(usize, &'v Value)>; 2] {
    let list_only = |own: &[&'v Value], other: &[&'v Value]| {
        let mut others = other.to_vec();
        let mut only: Vec<(usize, &'v Value)> = own.iter().copied().enumerate().collect();
        only.retain(|(_, element)| {
            let found = others.iter().position(|other| other == element);
            found.map(|at| others.swap_remove(at)).is_none()
        });
        only
    };
    [list_only(wanted, got), list_only(got, wanted)]
}

/// Says which elements of a list are missing or were not expected. `None`: they are many, or long.
fn describe_changed(missing: &[(usize, &Value)], surplus: &[(usize, &Value)]) -> Option<String> {
    let count = missing.len() + surplus.len();
    if count > FEW_SHOWN || (count > 1 && missing.iter().chain(surplus).any(|(_, value)| !is_short(value))) {
        return None;
    }
    let describe = |elements: &[(usize, &Value)], [one, several]: [&str; 2]| {
        let texts: Vec<String> =
            elements.iter().map(|(at, element)| format!("{} at [{at}]", value_text(element))).collect();
        let verb = if texts.len() == 1 { one } else { several };
        (!texts.is_empty()).then(|| format!("{} {verb}", join_words(&texts, "and")))
    };
    let missing = describe(missing, ["is missing", "are missing"]);
    let surplus = describe(surplus, ["was not expected", "were not expected"]);
    Some(missing.into_iter().chain(surplus).collect::<Vec<_>>().join(", and "))
}

/// Names a difference between texts that is easily overlooked.
fn describe_small_difference(wanted: &str, got: &str) -> &'static str {
    match () {
        () if wanted.trim_end() == got => " (without the blank at its end)",
        () if got.trim_end() == wanted => " (with a blank at its end)",
        () if wanted.trim_start() == got => " (without the blank at its start)",
        () if got.trim_start() == wanted => " (with a blank at its start)",
        () if wanted.to_lowercase() == got.to_lowercase() => " (with other capital letters)",
        () if has_other_form(wanted, got) || has_other_form(got, wanted) => {
            " (the same text in another form of Unicode: let the system keep the form)"
        }
        () if TextEncoding::Percent.decoded(got).as_deref() == Some(wanted) => {
            " (with `%`, as in the request: let the system decode it)"
        }
        () => "",
    }
}

/// Does one text have letters and marks where the other has letters with these marks?
fn has_other_form(composed: &str, decomposed: &str) -> bool {
    let is_mark = |sign: &char| ('\u{300}'..='\u{36f}').contains(sign);
    let mut rest = decomposed.chars().peekable();
    let is_same = composed.chars().all(|letter| {
        let base = rest.next();
        let has_marks = std::iter::from_fn(|| rest.next_if(is_mark)).count() > 0;
        base == Some(letter) && !has_marks
            || has_marks
                && !letter.is_ascii()
                && letter.is_alphabetic()
                && base.is_some_and(char::is_alphabetic)
    });
    is_same && rest.next().is_none()
}

/// Returns the text of a value. A real number has the short form of a time.
fn number_text(value: &Value) -> String {
    match value {
        Value::Real(number) => time_text(number),
        value => value.to_string(),
    }
}

/// Returns the text of a value for people, cut if it is long.
pub(super) fn value_text(value: &Value) -> String {
    text_with(value, &[])
}

/// Returns the text of a value for people. If it is cut, the elements with these values are kept.
fn text_with(value: &Value, kept: &[&Value]) -> String {
    let kept: Vec<String> = kept.iter().map(|value| format!("{value:#}")).collect();
    let kept: Vec<(&str, &str)> = kept.iter().map(|text| ("", text.as_str())).collect();
    shorten_collection(&format!("{value:#}"), &[], &kept, LONGEST_VALUE)
}

/// Returns the alternatives in words: `pNumber = 11, got 12`. `None`: there are none.
pub(super) fn alternatives_text(action: &str, alternatives: &[Vec<Difference>]) -> Option<String> {
    let text = |difference: &Difference| match difference.subject.is_empty() {
        true => format!("{action} {}", instants_text(&difference.wanted)),
        false => format!("{} {}", difference.subject, demand_text(&difference.wanted).unwrap_or_default()),
    };
    let got = |difference: &Difference| match difference.subject.is_empty() {
        true => format!("got it at {}", difference.got),
        false => format!("got {}", difference.got),
    };
    let and_hidden = |difference: &Difference| match difference.hidden {
        0 => String::new(),
        1 => " and 1 more difference".to_owned(),
        count => format!(" and {count} more differences"),
    };
    let first = alternatives.first()?.first()?;
    // If all alternatives are about one part, it is named once.
    let is_about_first = |way: &Vec<Difference>| matches!(way.as_slice(), [only] if only.subject == first.subject && only.got == first.got);
    let hidden = alternatives.len().saturating_sub(FEW_SHOWN);
    let shown = &alternatives[..alternatives.len() - hidden];
    let and_more = if hidden > 0 { format!(" or {hidden} more") } else { String::new() };
    if alternatives.iter().all(is_about_first) {
        let start = format!("{} ", first.subject);
        let texts = shown.iter().flatten().map(&text).enumerate();
        let texts = texts.map(|(index, text)| match text.strip_prefix(&start) {
            Some(demand) if index > 0 => demand.strip_prefix("= ").unwrap_or(demand).to_owned(),
            _ => text,
        });
        let demands = join_words(&texts.collect::<Vec<_>>(), "or");
        return Some(format!("{demands}{and_more}, {}{}", got(first), and_hidden(first)));
    }
    let way_text = |way: &Vec<Difference>| {
        let parts = way.iter().map(|difference| {
            format!("{} ({}){}", text(difference), got(difference), and_hidden(difference))
        });
        parts.collect::<Vec<_>>().join(" and ")
    };
    Some(shown.iter().map(way_text).collect::<Vec<_>>().join(", or ") + &and_more)
}
