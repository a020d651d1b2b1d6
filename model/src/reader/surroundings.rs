//! What a transition is read against: the names that its model declares.

use crate::data::Datum;
use crate::reader::declarations::Actions;
use crate::reader::scope::Names;

#[derive(Debug)]
pub struct Surroundings<'a> {
    pub names: &'a Names,
    /// Σ
    pub actions: &'a Actions,
    /// May a transition be on a set of actions? In purposes.
    pub sets: bool,
    /// The clocks that may be reset: of a timed model, those of its own. `None` where there is no time.
    pub clocks: Option<&'a [Datum]>,
}
