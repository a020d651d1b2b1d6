//! The ids of a stored run, as the system names them now.
//!
//! **Problem.** A system hands out other ids in each run. A stimulus of a stored run with an old id means
//! nothing to the system any more, and no two runs are the same.
//!
//! **Method.** Each observation is compared with that of the stored run. If both are alike but for ids, each
//! id of the stored run stands from then on for the one at its place. An id that was not observed was chosen
//! by the tester: it stays.

use std::collections::BTreeMap;

use coreach_model::Value;
use coreach_model::semantics::Event;
use coreach_model::types::RecordForm;
use coreach_model::value::ArrayValue;

#[derive(Default)]
pub(crate) struct RenamedIds(BTreeMap<Value, Value>);

impl RenamedIds {
    /// Learns the ids of an observation. Returns whether they agree with the known ones, one to one.
    pub(crate) fn learn(&mut self, stored: &Event, now: &Event) -> bool {
        let mut pairs = Vec::new();
        let is_alike = stored.action == now.action
            && stored.values.len() == now.values.len()
            && stored.values.iter().zip(&now.values).all(|(one, other)| pair_ids(one, other, &mut pairs));
        let mut agrees = true;
        for (one, other) in pairs.into_iter().filter(|_| is_alike) {
            let is_taken = |(known, by): (&Value, &Value)| by == other && known != one;
            agrees &= self.0.get(one).is_none_or(|known| known == other) && !self.0.iter().any(is_taken);
            self.0.insert(one.clone(), other.clone());
        }
        agrees
    }

    /// Gives an event of the stored run the ids of this run.
    pub(crate) fn rename(&self, event: &Event) -> Event {
        Event::new(event.action.clone(), event.values.iter().map(|value| self.rename_value(value)))
    }

    /// Replaces the ids in a value, also within its parts.
    fn rename_value(&self, value: &Value) -> Value {
        match value {
            Value::Id(..) => self.0.get(value).unwrap_or(value).clone(),
            Value::Record(record, fields) => {
                let fields = fields.iter().map(|field| self.rename_value(field)).collect();
                Value::Record(record.clone(), record.canonical(fields).into())
            }
            Value::Array(array) => {
                let cells = array.cells.iter();
                let array = ArrayValue {
                    ty: array.ty.clone(),
                    default: self.rename_value(&array.default),
                    cells: cells.map(|(at, cell)| (self.rename_value(at), self.rename_value(cell))).collect(),
                };
                Value::Array(array.canonical().into())
            }
            _ => value.clone(),
        }
    }
}

/// Collects the ids at the same places of two values. `false`: the values are not alike. In arrays, only
/// cells at the same index are compared.
fn pair_ids<'v>(one: &'v Value, other: &'v Value, pairs: &mut Vec<(&'v Value, &'v Value)>) -> bool {
    match (one, other) {
        (Value::Id(name, _), Value::Id(same, _)) if name == same => {
            pairs.push((one, other));
            true
        }
        // Entries with ids as keys are sorted by these ids, so places do not correspond.
        (Value::Record(a, _), Value::Record(..)) if matches!(&a.form, RecordForm::Entries(key, _) if key.is_id()) => {
            true
        }
        (Value::Record(a, ours), Value::Record(b, theirs)) => {
            a == b && ours.iter().zip(theirs.iter()).all(|(one, other)| pair_ids(one, other, pairs))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.cells.keys().eq(b.cells.keys())
                && pair_ids(&a.default, &b.default, pairs)
                && a.cells.values().zip(b.cells.values()).all(|(one, other)| pair_ids(one, other, pairs))
        }
        // Other values may differ: only ids are compared here.
        _ => true,
    }
}
