//! Adds the bounds of runs up.

use crate::coverage::explanations::ItemBounds;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Count {
    /// The number of runs that met it by every explanation.
    pub runs: u64,
    /// The number of runs with an explanation that meets it, those of `runs` included.
    pub possible_runs: u64,
    /// How often it was met at least, in all runs together.
    pub least: u64,
    pub most: u64,
}

impl Count {
    /// Is it certain that some run met it?
    pub fn is_covered(&self) -> bool {
        self.runs > 0
    }

    fn add(&mut self, other: &Count) {
        self.runs = self.runs.saturating_add(other.runs);
        self.possible_runs = self.possible_runs.saturating_add(other.possible_runs);
        self.least = self.least.saturating_add(other.least);
        self.most = self.most.saturating_add(other.most);
    }
}

/// Sums over runs, an entry for each item.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    pub runs: u64,
    pub counts: Vec<Count>,
}

impl Tally {
    pub fn new(items: usize) -> Self {
        Tally { runs: 0, counts: vec![Count::default(); items] }
    }

    /// Adds a run. Our items are those from `first` on.
    pub fn add_run(&mut self, bounds: &ItemBounds, first: usize) {
        self.runs += 1;
        let met = bounds.least.iter().zip(&bounds.most).skip(first);
        for (count, (&least, &most)) in self.counts.iter_mut().zip(met) {
            count.add(&Count {
                runs: u64::from(least > 0),
                possible_runs: u64::from(most > 0),
                least: least.into(),
                most: most.into(),
            });
        }
    }

    pub fn merge(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| count.add(other));
    }
}
