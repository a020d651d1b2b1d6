//! Lists whose places have numbers of a type: a location's number can only look up a location.
//!
//! The stages keep many lists in step: a graph's transitions, what each was made of, what is known at each
//! location. With bare numbers, a lookup in the wrong list, or with a number of the artifact before, would
//! succeed as readily as the right one.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The number of a place in a list.
pub trait Number: Copy {
    /// The number of a place, counted from 0.
    ///
    /// # Panics
    ///
    /// Beyond 2³² places; the limits of files and stages end before.
    fn of(place: usize) -> Self;

    fn place(self) -> usize;
}

macro_rules! numbers {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $crate::numbered::Number for $name {
            fn of(place: usize) -> Self {
                $name(u32::try_from(place).expect("a list of fewer than 2^32 places"))
            }

            fn place(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use numbers;

/// A list with numbers of type `N`. It derefs to a slice, for code that wants all of it in order.
///
/// ```
/// use coreach_model::{LocationId, Numbered};
///
/// let mut accepting: Numbered<LocationId, bool> = Numbered::new();
/// let start = accepting.push(false);
/// assert!(!accepting[start]);
/// ```
///
/// A transition's number finds no location, and neither does a bare one:
///
/// ```compile_fail
/// # use coreach_model::{LocationId, Numbered, TransitionId};
/// let accepting: Numbered<LocationId, bool> = Numbered::filled(false, 2);
/// assert!(!accepting[TransitionId(0)]);
/// ```
///
/// ```compile_fail
/// # use coreach_model::{LocationId, Numbered};
/// let accepting: Numbered<LocationId, bool> = Numbered::filled(false, 2);
/// assert!(!accepting[0]);
/// ```
pub struct Numbered<N, T> {
    items: Vec<T>,
    numbers: PhantomData<fn(N) -> N>,
}

impl<N: Number, T> Numbered<N, T> {
    pub fn new() -> Self {
        Numbered { items: Vec::new(), numbers: PhantomData }
    }

    pub fn filled(value: T, places: usize) -> Self
    where
        T: Clone,
    {
        vec![value; places].into()
    }

    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = N> + ExactSizeIterator + use<N, T> {
        (0..self.items.len()).map(N::of)
    }

    /// All numbers, and what is at their places.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (N, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(place, item)| (N::of(place), item))
    }

    /// Adds a place, and returns its number.
    pub fn push(&mut self, item: T) -> N {
        self.items.push(item);
        N::of(self.items.len() - 1)
    }

    /// The number that the next place will have.
    pub fn next_number(&self) -> N {
        N::of(self.items.len())
    }

    /// The item at the number's place, if there is one.
    pub fn find(&self, number: N) -> Option<&T> {
        self.items.get(number.place())
    }

    pub fn has(&self, number: N) -> bool {
        number.place() < self.items.len()
    }

    /// The first number whose item `is_wanted` accepts.
    pub fn first_number(&self, is_wanted: impl FnMut(&T) -> bool) -> Option<N> {
        self.items.iter().position(is_wanted).map(N::of)
    }

    /// A list with the same numbers, whose items are made from these.
    pub fn map<U>(&self, item: impl FnMut(&T) -> U) -> Numbered<N, U> {
        self.items.iter().map(item).collect()
    }

    /// Takes one item out. The numbers after it change.
    pub fn remove(&mut self, number: N) -> T {
        self.items.remove(number.place())
    }

    /// Leaves out the items that `is_wanted` does not accept. The numbers after them change.
    pub fn retain(&mut self, is_wanted: impl FnMut(&T) -> bool) {
        self.items.retain(is_wanted);
    }

    /// Leaves out the places from `places` on.
    pub fn truncate(&mut self, places: usize) {
        self.items.truncate(places);
    }

    /// Leaves out the places from `places` on, and returns them.
    pub fn split_off(&mut self, places: usize) -> Vec<T> {
        self.items.split_off(places)
    }

    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<N, T> From<Vec<T>> for Numbered<N, T> {
    fn from(items: Vec<T>) -> Self {
        Numbered { items, numbers: PhantomData }
    }
}

impl<N, T> FromIterator<T> for Numbered<N, T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<N, T> Extend<T> for Numbered<N, T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.items.extend(items);
    }
}

impl<N: Number, T> Index<N> for Numbered<N, T> {
    type Output = T;

    fn index(&self, number: N) -> &T {
        &self.items[number.place()]
    }
}

impl<N: Number, T> IndexMut<N> for Numbered<N, T> {
    fn index_mut(&mut self, number: N) -> &mut T {
        &mut self.items[number.place()]
    }
}

impl<N, T> Deref for Numbered<N, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<N, T> DerefMut for Numbered<N, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<N, T> IntoIterator for Numbered<N, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, N, T> IntoIterator for &'a Numbered<N, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, N, T> IntoIterator for &'a mut Numbered<N, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

// Derived impls would also ask the numbers for the trait, although only the items need it.

impl<N, T: Clone> Clone for Numbered<N, T> {
    fn clone(&self) -> Self {
        self.items.clone().into()
    }
}

impl<N, T: PartialEq> PartialEq for Numbered<N, T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<N, T: Eq> Eq for Numbered<N, T> {}

impl<N, T> Default for Numbered<N, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<N, T: fmt::Debug> fmt::Debug for Numbered<N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}
