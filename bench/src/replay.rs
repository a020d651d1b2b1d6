//! One library performs one sequence.

use std::time::{Duration, Instant};

use coreach_tests::sequence::Sequence;

use crate::library::LibraryKind;
use crate::library::{Library, LibraryAnswer, dimensions, is_strict};
use crate::with_library;

/// A sequence that a library is ready to perform.
pub struct Ready<L: Library> {
    library: L,
    steps: Vec<L::Prepared>,
}

impl<L: Library> Ready<L> {
    /// Converts the arguments.
    ///
    /// # Errors
    /// What the library says; a sequence whose numbers are not there.
    pub fn of(sequence: &Sequence) -> Result<Self, String> {
        let library = L::new(is_strict(sequence))?;
        let dimensions = dimensions(sequence).ok_or("a step names what is not there")?;
        let steps = sequence.steps.iter().zip(dimensions).map(|(step, at)| library.prepare(step, at));
        Ok(Ready { steps: steps.collect::<Result<_, _>>()?, library })
    }

    /// Performs all steps and frees what they made; the time of it. If `all_listed`, what a step makes is
    /// asked for its minimal constraints at once.
    pub fn whole(&mut self, all_listed: bool) -> Result<Duration, String> {
        let start = Instant::now();
        let mut made = Vec::new();
        for step in &mut self.steps {
            if let LibraryAnswer::Made(new) = self.library.perform(step, &made)? {
                if all_listed {
                    self.library.list(&new)?;
                }
                made.push(new);
            }
        }
        drop(made);
        Ok(start.elapsed())
    }

    /// The time of each step. What a step makes is asked for its minimal constraints, as part of the step:
    /// otherwise a lazy library would have its work counted for whichever step asks first.
    pub fn by_step(&mut self) -> Result<Vec<Duration>, String> {
        let mut made = Vec::new();
        let mut times = Vec::with_capacity(self.steps.len());
        for step in &mut self.steps {
            let start = Instant::now();
            if let LibraryAnswer::Made(new) = self.library.perform(step, &made)? {
                self.library.list(&new)?;
                times.push(start.elapsed());
                made.push(new);
            } else {
                times.push(start.elapsed());
            }
        }
        Ok(times)
    }
}

/// [`Ready`] without the type of the library.
pub trait Performer {
    /// [`Ready::whole`].
    fn whole(&mut self, all_listed: bool) -> Result<Duration, String>;
    /// [`Ready::by_step`].
    fn by_step(&mut self) -> Result<Vec<Duration>, String>;
}

impl<L: Library> Performer for Ready<L> {
    fn whole(&mut self, all_listed: bool) -> Result<Duration, String> {
        Ready::whole(self, all_listed)
    }
    fn by_step(&mut self) -> Result<Vec<Duration>, String> {
        Ready::by_step(self)
    }
}

/// A library made ready for a sequence.
pub fn performer(kind: LibraryKind, sequence: &Sequence) -> Result<Box<dyn Performer>, String> {
    with_library!(kind, L => Ok(Box::new(Ready::<L>::of(sequence)?)))
}
