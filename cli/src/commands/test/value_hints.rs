//! Hints at an output whose value the specification allows in another form: other bytes, another encoding, or
//! another unit.
//!
//! Each hint replaces the value by what the system may have meant, and asks the judge of the run. It is shown
//! only if the specification allows the replaced value.

use coreach_adapters::Iut;
use coreach_adapters::description::{Encoding, Field, FieldNumber};
use coreach_adapters::encoding::to_latin1;
use coreach_adapters::integer::WireInteger;
use coreach_execution::Run;
use coreach_execution::explain::allows_instead;
use coreach_execution::judge::make_judge;
use coreach_model::Value as ModelValue;
use coreach_model::semantics::{Event, State};
use coreach_model::types::RecordForm;
use coreach_project::cases::Case;

/// Hints at a number whose bytes came in the other order, if the specification allows it in that order.
pub(super) fn explain_byte_order(case: &Case, iut: &Iut, initial: &State, run: &Run) -> Option<String> {
    let Some(Encoding::Binary(binary)) = iut.way.encoding() else { return None };
    let Event { action, values } = run.trace.last()?.what.event()?;
    let (_, fields) = binary.observations.iter().find(|(name, _)| name == action)?;
    let parameters = &case.test.iosts.action(case.test.iosts.find_action(action)?).parameters;
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    fields.iter().find_map(|field| {
        let Field::Integer(integer, FieldNumber::Named(name)) = field else { return None };
        let position = parameters.iter().position(|datum| datum.name() == name)?;
        let ModelValue::Int(got) = values.get(position)? else { return None };
        let other = WireInteger { is_little: !integer.is_little, ..*integer };
        let meant = other.read(&integer.written(i128::try_from(got).ok()?)?)?;
        let mut swapped = values.clone();
        swapped[position] = ModelValue::Int(meant.into());
        allows_instead(judge.as_mut(), run, Event::new(action.clone(), swapped)).then(|| {
            format!(
                "hint: `{got}` has the bytes of `{meant}` in the other order. If the system sends them in that order, \
                 write `{{ as: {}, name: {name} }}` for `{action}` in `observations`\n",
                other.name()
            )
        })
    })
}

/// What a value may have meant, a hint at it, and values that would then be wrong.
type MeantValue = (ModelValue, String, Vec<ModelValue>);

/// Hints at a value that the specification allows in another form: `none`, UTF-8, or another unit.
pub(super) fn explain_form_of_value(case: &Case, initial: &State, run: &Run) -> Option<String> {
    let Event { action, values } = run.trace.last()?.what.event()?;
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    values.iter().enumerate().find_map(|(position, value)| {
        let mut allows = |meant: &ModelValue| {
            let mut changed = values.clone();
            changed[position] = meant.clone();
            allows_instead(judge.as_mut(), run, Event::new(action.clone(), changed))
        };
        let readings =
            read_text_as_none(value).into_iter().chain(read_latin1(value)).chain(read_units(value));
        let mut readings =
            readings.filter(|(meant, _, wrong)| allows(meant) && !wrong.iter().any(&mut allows));
        readings.next().map(|(_, hint, _)| hint)
    })
}

/// Reads a text such as "none" in an option as `none`.
fn read_text_as_none(value: &ModelValue) -> Option<MeantValue> {
    let ModelValue::Record(option, fields) = value else { return None };
    let [tag, ModelValue::String(text)] = &fields[..] else { return None };
    let is_some = option.form == RecordForm::Option && *tag == option.tag(1);
    if !is_some || !["", "none", "null", "nil"].contains(&text.to_lowercase().as_str()) {
        return None;
    }
    let hint = format!("hint: `{value}` is a text. Let the system send `null` where it means `none`\n");
    Some((option.value_of(option.tag(0), Vec::new()), hint, Vec::new()))
}

/// Reads a text in UTF-8 that the system has read as Latin-1.
fn read_latin1(value: &ModelValue) -> Option<MeantValue> {
    let ModelValue::String(text) = value else { return None };
    let read =
        to_latin1(text).and_then(|bytes| String::from_utf8(bytes).ok()).filter(|read| **read != **text)?;
    let hint = format!(
        "hint: the system has read the bytes of `{read}`, which are UTF-8, as another encoding, such as Latin-1: let it read UTF-8\n"
    );
    Some((ModelValue::String(read.into()), hint, Vec::new()))
}

/// Reads a number in units that are 100, 1,000 or 60 times as large or small. Its neighbours must be wrong,
/// or it would fit by chance.
fn read_units(value: &ModelValue) -> Vec<MeantValue> {
    let ModelValue::Int(got) = value else { return Vec::new() };
    // That 1 came for 100 is hardly a matter of units.
    let is_large = |number: i128| !(-1..=1).contains(&number);
    let Some(got) = i128::try_from(got).ok().filter(|got| is_large(*got)) else { return Vec::new() };
    let read = |factor: i128| {
        let multiple = got.checked_mul(factor).map(|meant| (meant, format!("`{got} * {factor}` would fit")));
        let part = got / factor;
        let part = (got % factor == 0 && is_large(part))
            .then(|| (part, format!("`{got}` is {factor} times `{part}`")));
        [multiple, part].into_iter().flatten()
    };
    let readings = [100, 1000, 60].into_iter().flat_map(read).map(|(meant, relation)| {
        let hint = format!(
            "hint: {relation}. If the system counts in another unit, let it or the model convert the number\n"
        );
        let wrong = [meant - 1, meant + 1].map(|number| ModelValue::Int(number.into())).to_vec();
        (ModelValue::Int(meant.into()), hint, wrong)
    });
    readings.collect()
}
