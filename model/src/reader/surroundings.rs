//! The surroundings of a transition: the names that its model declares.

use crate::data::Datum;
use crate::reader::declarations::Actions;
use crate::reader::scope::Names;

#[derive(Debug)]
pub struct Surroundings<'a> {
    pub names: &'a Names,
    /// Σ
    pub actions: &'a Actions,
    /// May a transition be on a set of actions? This is so in purposes.
    pub takes_sets: bool,
    /// The clocks that may be reset, which are the model's own. `None` if the model is not timed.
    pub clocks: Option<&'a [Datum]>,
}
