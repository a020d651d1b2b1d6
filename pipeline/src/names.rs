//! Fresh identifiers: names that a stage makes and that nothing else bears.

use std::collections::HashSet;

/// The names in use.
#[derive(Default)]
pub struct Names(HashSet<String>);

impl Names {
    /// Starts with these in use.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Names(names.into_iter().map(str::to_owned).collect())
    }

    /// The wanted name, or the first of `wanted_2`, `wanted_3`, ... that is free; in use from now on.
    pub fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.0.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}
