//! Turns a run's document into a timed sequence.
//!
//! The document of a timed run, from `test --keep`, has the delay of each event among its values, and silence
//! as a step. Delays are those that the run was judged with: within the tolerance of the measured ones.

use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::delayed::Delayed;
use coreach_model::{Value, codec};
use dashu_ratio::RBig;

use crate::offline::sequence::{Placed, SeqItem};
use crate::outcome;
use crate::record::{Record, read_occurrence};
use crate::run::{Cause, Occurrence, Outcome};
use crate::timed::exact_seconds;

/// Returns the sequence of a run, its last silence included. A member's line is the number of its step.
pub fn sequence_of_record(form: &Delayed, record: &Record) -> Result<Vec<Placed>, String> {
    let mut items = Vec::new();
    for (number, step) in record.trace.iter().enumerate() {
        let line = number + 1;
        let wrong = |why: String| format!("step {line}: {why}");
        let mut push = |item| items.push(Placed { line, item });
        match read_occurrence(&form.iosts, step).map_err(wrong)? {
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => {
                let action = form.iosts.find_action(&event.action);
                let (Some(action), Some((Value::Real(delay), values))) = (action, event.values.split_first())
                else {
                    return Err(wrong(format!("`{}` has no delay", event.action)));
                };
                if *delay < RBig::ZERO {
                    return Err(wrong("its delay is negative".to_owned()));
                }
                if *delay > RBig::ZERO {
                    push(SeqItem::Delay(delay.clone()));
                }
                push(SeqItem::Event(action, values.to_vec()));
            }
            Occurrence::Silence(time) | Occurrence::Delay(time) => push(SeqItem::Delay(exact_seconds(time))),
        }
    }
    if let Outcome::Verdict(_, Cause::Silence(time)) =
        outcome::read_outcome(record.verdict, &record.cause, &record.detail)?
    {
        items.push(Placed { line: record.trace.len() + 1, item: SeqItem::Delay(exact_seconds(time)) });
    }
    items.retain(|placed| placed.item != SeqItem::Delay(RBig::ZERO));
    Ok(items)
}

/// Returns the values of the model's constants in the run.
pub fn constants_of_record(form: &Delayed, record: &Record) -> Result<Valuation, String> {
    let mut known = Valuation::new();
    for datum in &form.iosts.constants {
        let Some(json) = record.constants.get(datum.name()) else { continue };
        let value = codec::from_json(json, datum.ty()).map_err(|why| format!("`{datum}`: {why}"))?;
        known.insert(datum.clone(), value);
    }
    Ok(known)
}
