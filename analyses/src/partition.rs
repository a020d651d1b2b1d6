//! Abstract values, with a partition by Booleans and enumerations.
//!
//! An [`AbstractValue`] maps cells (valuations of the finite places, numbered by [`crate::frame::Frame`]) to
//! elements of the numerical domain. An absent cell is bottom. [`Elements`] stores each distinct element
//! once. An element is known by its canonical constraints and congruences. Each constraint is stored once as
//! well, because it has a coefficient for every number, and thousands of elements share few constraints. So a
//! value is a short list of numbers, equality is cheap, and every binary operation is done once per pair.
//! This pays, because many locations of products have the same elements, and a fixpoint repeats its
//! operations.
//!
//! Cost: a look-up for each repeated operation. The memory is that of the distinct elements and pairs, which
//! the engine's step limit bounds.

use std::hash::Hash;
use std::rc::Rc;

use coreach_model::budget;
use coreach_model::hash::FastMap;
use coreach_polyhedra::Constraint;

use crate::domains::any::{AnyDomain, AnyElement};
use crate::grid::Congruence;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ElementId(u32);

/// A map from cells to elements other than bottom, by increasing cell.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct AbstractValue(Rc<Vec<(u32, ElementId)>>);

impl AbstractValue {
    pub fn bottom() -> Self {
        AbstractValue::default()
    }

    /// Makes a value from cells in increasing order, each once.
    pub fn new(cells: Vec<(u32, ElementId)>) -> Self {
        debug_assert!(cells.is_sorted_by(|a, b| a.0 < b.0));
        AbstractValue(Rc::new(cells))
    }

    pub fn is_bottom(&self) -> bool {
        self.0.is_empty()
    }

    pub fn cells(&self) -> &[(u32, ElementId)] {
        &self.0
    }

    pub fn get(&self, cell: u32) -> Option<ElementId> {
        self.0.binary_search_by_key(&cell, |(cell, _)| *cell).ok().map(|at| self.0[at].1)
    }
}

/// Stores each value once, and numbers the values.
struct Interner<T> {
    values: Vec<T>,
    numbers: FastMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), numbers: FastMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn number(&mut self, value: T) -> u32 {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() as u32 - 1
        })
    }

    fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

/// The content of an element: the numbers of its constraints, and the number of its list of congruences.
type ElementContent = (Rc<[u32]>, u32);

/// The elements of one analysis, and what was computed about them.
pub struct Elements {
    pub domain: AnyDomain,
    integer: Vec<bool>,
    elements: Vec<AnyElement>,
    known_constraints: Interner<Rc<Constraint>>,
    /// The elements by their content.
    ids: FastMap<ElementContent, ElementId>,
    contents: Vec<ElementContent>,
    classes: Interner<Rc<[Congruence]>>,
    joins: FastMap<(ElementId, ElementId), ElementId>,
    meets: FastMap<(ElementId, ElementId), Option<ElementId>>,
    orders: FastMap<(ElementId, ElementId), bool>,
    /// How many results were made coarser because of limits.
    pub coarsened: usize,
}

impl Elements {
    pub fn new(domain: AnyDomain, integer: &[bool]) -> Self {
        Elements {
            domain,
            integer: integer.to_vec(),
            elements: Vec::new(),
            known_constraints: Interner::default(),
            ids: FastMap::default(),
            contents: Vec::new(),
            classes: Interner::default(),
            joins: FastMap::default(),
            meets: FastMap::default(),
            orders: FastMap::default(),
            coarsened: 0,
        }
    }

    pub fn integer(&self) -> &[bool] {
        &self.integer
    }

    pub fn dimensions(&self) -> usize {
        self.integer.len()
    }

    /// The number of distinct elements.
    pub fn count(&self) -> usize {
        self.elements.len()
    }

    /// Returns the number of an element, and stores a new one. `None`: it is bottom.
    pub fn add(&mut self, element: AnyElement) -> Option<ElementId> {
        budget::ask_now();
        let element = element.meet_congruences(&[], &self.integer);
        self.coarsened += usize::from(element.coarsened());
        if element.is_bottom() {
            return None;
        }
        let numbers: Rc<[u32]> = element
            .constraints()
            .into_iter()
            .map(|constraint| self.known_constraints.number(Rc::new(constraint)))
            .collect();
        let content = (numbers, self.classes.number(element.congruences().into()));
        if let Some(known) = self.ids.get(&content) {
            return Some(*known);
        }
        let id = ElementId(self.elements.len() as u32);
        self.elements.push(element);
        self.ids.insert(content.clone(), id);
        self.contents.push(content);
        Some(id)
    }

    pub fn get(&self, id: ElementId) -> &AnyElement {
        &self.elements[id.0 as usize]
    }

    pub fn constraints(&self, id: ElementId) -> impl ExactSizeIterator<Item = &Constraint> {
        let (numbers, _) = &self.contents[id.0 as usize];
        numbers.iter().map(|number| &**self.known_constraints.get(*number))
    }

    pub fn congruences(&self, id: ElementId) -> &[Congruence] {
        let (_, class) = &self.contents[id.0 as usize];
        self.classes.get(*class)
    }

    /// Lists the dimensions to which one constraint of the element gives a single value, in order. The second
    /// list has the number of that constraint for each.
    pub fn fixed(&self, id: ElementId) -> (Vec<usize>, Vec<u32>) {
        let (numbers, _) = &self.contents[id.0 as usize];
        let fixes = |number: &u32| Some((self.known_constraints.get(*number).fixes()?, *number));
        let mut fixed: Vec<(usize, u32)> = numbers.iter().filter_map(fixes).collect();
        fixed.sort_unstable();
        fixed.into_iter().unzip()
    }

    /// Is every vector of `a` in `b`, as far as the domain can tell?
    pub fn is_within(&self, a: ElementId, b: ElementId) -> bool {
        a == b || self.orders.get(&(a, b)).copied().unwrap_or_else(|| self.get(a).is_leq(self.get(b)))
    }

    /// Forgets these dimensions in every cell.
    pub fn forget(&mut self, value: &AbstractValue, dimensions: &[usize]) -> AbstractValue {
        let forget =
            |(cell, id): &(u32, ElementId)| Some((*cell, self.add(self.get(*id).forget(dimensions))?));
        AbstractValue::new(value.cells().iter().filter_map(forget).collect())
    }

    /// An upper bound of two elements.
    pub fn join_ids(&mut self, a: ElementId, b: ElementId) -> ElementId {
        if a == b {
            return a;
        }
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.joins.get(&key) {
            return *known;
        }
        let joined = if self.is_leq_elements(a, b) {
            b
        } else if self.is_leq_elements(b, a) {
            a
        } else {
            let joined = self.get(key.0).join(self.get(key.1));
            let Some(joined) = self.add(joined) else {
                panic!("the join of two elements that are not bottom is bottom: {:?}, {:?}", key.0, key.1)
            };
            joined
        };
        self.joins.insert(key, joined);
        joined
    }

    /// Returns the meet of two elements. `None` if it is empty.
    pub fn meet_ids(&mut self, a: ElementId, b: ElementId) -> Option<ElementId> {
        if a == b {
            return Some(a);
        }
        let key = (a.min(b), a.max(b));
        if let Some(known) = self.meets.get(&key) {
            return *known;
        }
        let met = if self.is_leq_elements(a, b) {
            Some(a)
        } else if self.is_leq_elements(b, a) {
            Some(b)
        } else {
            let met = self.get(key.0).meet(self.get(key.1), &self.integer);
            self.add(met)
        };
        self.meets.insert(key, met);
        met
    }

    fn is_leq_elements(&mut self, a: ElementId, b: ElementId) -> bool {
        if a == b {
            return true;
        }
        if let Some(known) = self.orders.get(&(a, b)) {
            return *known;
        }
        let order = self.get(a).is_leq(self.get(b));
        self.orders.insert((a, b), order);
        order
    }

    pub fn is_leq(&mut self, a: &AbstractValue, b: &AbstractValue) -> bool {
        Rc::ptr_eq(&a.0, &b.0)
            || a.cells().iter().all(|(cell, element)| {
                b.get(*cell).is_some_and(|other| self.is_leq_elements(*element, other))
            })
    }

    /// An upper bound, cell by cell.
    pub fn join(&mut self, a: &AbstractValue, b: &AbstractValue) -> AbstractValue {
        if a == b || b.is_bottom() {
            return a.clone();
        }
        if a.is_bottom() {
            return b.clone();
        }
        self.merge(a, b, |store, a, b| store.join_ids(a, b))
    }

    /// Merges two values: `combine` makes the cells that both have, and the other cells stay.
    fn merge(
        &mut self,
        a: &AbstractValue,
        b: &AbstractValue,
        mut combine: impl FnMut(&mut Self, ElementId, ElementId) -> ElementId,
    ) -> AbstractValue {
        // The cells of both are in increasing order, and so must be those of the result.
        let mut result = Vec::with_capacity(a.0.len().max(b.0.len()));
        let mut cells_of_b = b.cells().iter().copied().peekable();
        for &(cell, element) in a.cells() {
            while let Some(only_in_b) = cells_of_b.next_if(|(cell_of_b, _)| *cell_of_b < cell) {
                result.push(only_in_b);
            }
            match cells_of_b.next_if(|(cell_of_b, _)| *cell_of_b == cell) {
                Some((_, element_of_b)) => result.push((cell, combine(self, element, element_of_b))),
                None => result.push((cell, element)),
            }
        }
        result.extend(cells_of_b);
        AbstractValue::new(result)
    }

    /// Meets cell by cell. A cell without an element in one of them has none.
    pub fn meet(&mut self, a: &AbstractValue, b: &AbstractValue) -> AbstractValue {
        if a == b {
            return a.clone();
        }
        let mut result = Vec::new();
        for &(cell, element) in a.cells() {
            let met = b.get(cell).and_then(|other| self.meet_ids(element, other));
            result.extend(met.map(|met| (cell, met)));
        }
        AbstractValue::new(result)
    }

    /// Widens cell by cell. Precondition, ensured by the engine: `old` is below `new`. There are finitely
    /// many cells, so new cells cannot appear for ever.
    pub fn widen(
        &mut self,
        old: &AbstractValue,
        new: &AbstractValue,
        thresholds: &[Constraint],
    ) -> AbstractValue {
        self.merge(old, new, |store, below, above| {
            if below == above {
                return below;
            }
            let widened = store.get(below).widen(store.get(above), thresholds);
            let Some(widened) = store.add(widened) else {
                panic!("the widening of elements that are not bottom is bottom: {below:?}, {above:?}")
            };
            widened
        })
    }

    /// Narrows cell by cell. `new` is below `old`.
    pub fn narrow(&mut self, old: &AbstractValue, new: &AbstractValue) -> AbstractValue {
        let mut result = Vec::new();
        for &(cell, element) in new.cells() {
            let Some(old_element) = old.get(cell) else { continue };
            let narrowed = if self.is_leq_elements(element, old_element) {
                Some(element)
            } else {
                let narrowed = self.get(old_element).narrow(self.get(element), &self.integer);
                self.add(narrowed)
            };
            result.extend(narrowed.map(|narrowed| (cell, narrowed)));
        }
        AbstractValue::new(result)
    }
}
