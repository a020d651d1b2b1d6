//! The values of data: what a state holds.
//!
//! A run makes thousands of states that differ in one value. So the data are shared between valuations, and
//! so are the values until one of them changes.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::data::Datum;
use crate::value::Value;

/// A value for each of some data, in the order of the data.
#[derive(Clone, Default)]
pub struct Valuation {
    data: Arc<Vec<Datum>>,
    /// The values, in the order of `data`.
    values: Arc<Vec<Value>>,
}

impl Valuation {
    pub fn new() -> Self {
        Valuation::default()
    }

    /// The place of the datum, or as an error the place at which it would be inserted.
    fn find_place(&self, datum: &Datum) -> Result<usize, usize> {
        // To compare a few addresses is faster than to compare names.
        match self.data.iter().take(24).position(|known| known == datum) {
            Some(place) => Ok(place),
            None => self.data.binary_search(datum),
        }
    }

    pub fn get(&self, datum: &Datum) -> Option<&Value> {
        self.find_place(datum).ok().map(|place| &self.values[place])
    }

    pub fn get_mut(&mut self, datum: &Datum) -> Option<&mut Value> {
        let place = self.find_place(datum).ok()?;
        Some(&mut Arc::make_mut(&mut self.values)[place])
    }

    pub fn contains_key(&self, datum: &Datum) -> bool {
        self.find_place(datum).is_ok()
    }

    /// Gives the datum a value, and returns the one before, if it had one.
    pub fn insert(&mut self, datum: Datum, value: Value) -> Option<Value> {
        match self.find_place(&datum) {
            Ok(place) => Some(std::mem::replace(&mut Arc::make_mut(&mut self.values)[place], value)),
            Err(place) => {
                Arc::make_mut(&mut self.data).insert(place, datum);
                Arc::make_mut(&mut self.values).insert(place, value);
                None
            }
        }
    }

    /// Gives the datum the simplest value of its type, unless it has one.
    pub fn complete(&mut self, datum: &Datum) {
        if !self.contains_key(datum) {
            self.insert(datum.clone(), Value::any(datum.ty()));
        }
    }

    /// Takes a datum out, and returns its value.
    pub fn remove(&mut self, datum: &Datum) -> Option<Value> {
        let place = self.find_place(datum).ok()?;
        Arc::make_mut(&mut self.data).remove(place);
        Some(Arc::make_mut(&mut self.values).remove(place))
    }

    /// Keeps the data for which `is_kept` holds.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&Datum, &Value) -> bool) {
        let kept: Vec<bool> = self.iter().map(|(datum, value)| is_kept(datum, value)).collect();
        if kept.iter().all(|kept| *kept) {
            return; // The data and values stay shared.
        }
        let mut kept_data = kept.iter();
        Arc::make_mut(&mut self.data).retain(|_| kept_data.next() == Some(&true));
        let mut kept_values = kept.iter();
        Arc::make_mut(&mut self.values).retain(|_| kept_values.next() == Some(&true));
    }

    pub fn len(&self) -> usize {
        self.data.len()
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub fn iter(&self) -> std::iter::Zip<std::slice::Iter<'_, Datum>, std::slice::Iter<'_, Value>> {
        self.data.iter().zip(self.values.iter())
    }

    pub fn keys(&self) -> std::slice::Iter<'_, Datum> {
        self.data.iter()
    }

    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, Value> {
        Arc::make_mut(&mut self.values).iter_mut()
    }

    pub fn values(&self) -> std::slice::Iter<'_, Value> {
        self.values.iter()
    }
}

impl std::ops::Index<&Datum> for Valuation {
    type Output = Value;

    fn index(&self, datum: &Datum) -> &Value {
        self.get(datum).unwrap_or_else(|| unreachable!("`{datum}` has no value"))
    }
}

impl PartialEq for Valuation {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values && self.data == other.data
    }
}

impl Eq for Valuation {}

impl PartialOrd for Valuation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Valuation {
    fn cmp(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.values, &other.values) && Arc::ptr_eq(&self.data, &other.data) {
            return Ordering::Equal;
        }
        self.iter().cmp(other.iter())
    }
}

/// The data are left out, since valuations that meet mostly have the same data.
impl Hash for Valuation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.values.hash(state);
    }
}

impl fmt::Debug for Valuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Extend<(Datum, Value)> for Valuation {
    fn extend<T: IntoIterator<Item = (Datum, Value)>>(&mut self, pairs: T) {
        for (datum, value) in pairs {
            self.insert(datum, value);
        }
    }
}

impl FromIterator<(Datum, Value)> for Valuation {
    fn from_iter<T: IntoIterator<Item = (Datum, Value)>>(pairs: T) -> Self {
        let mut valuation = Valuation::new();
        valuation.extend(pairs);
        valuation
    }
}

impl<const N: usize> From<[(Datum, Value); N]> for Valuation {
    fn from(pairs: [(Datum, Value); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Valuation {
    type Item = (&'a Datum, &'a Value);
    type IntoIter = std::iter::Zip<std::slice::Iter<'a, Datum>, std::slice::Iter<'a, Value>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Valuation {
    type Item = (Datum, Value);
    type IntoIter = std::iter::Zip<std::vec::IntoIter<Datum>, std::vec::IntoIter<Value>>;

    fn into_iter(self) -> Self::IntoIter {
        let data = Arc::unwrap_or_clone(self.data);
        data.into_iter().zip(Arc::unwrap_or_clone(self.values))
    }
}
