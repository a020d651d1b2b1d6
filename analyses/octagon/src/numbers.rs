//! A matrix in the smallest form that holds it: in machine words, or in numbers of any size.
//!
//! A block keeps whichever form suffices; an operation asks for the form that it works on, and tries words
//! first.

use std::borrow::Cow;

use crate::bound::{Bound, Wide, Word};
use crate::matrix::Matrix;

/// A matrix, in words if they suffice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    Words(Matrix<Word>),
    Wide(Matrix<Wide>),
}

/// A kind of bound whose matrices are kept.
pub(crate) trait Kept: Bound {
    /// The numbers in this form, if they have it.
    fn view(numbers: &Numbers) -> Option<Cow<'_, Matrix<Self>>>;
    /// The matrix in the smallest form it has.
    fn store(matrix: Matrix<Self>) -> Numbers;
}

impl Kept for Word {
    fn view(numbers: &Numbers) -> Option<Cow<'_, Matrix<Self>>> {
        match numbers {
            Numbers::Words(matrix) => Some(Cow::Borrowed(matrix)),
            Numbers::Wide(_) => None,
        }
    }

    fn store(matrix: Matrix<Self>) -> Numbers {
        Numbers::Words(matrix)
    }
}

impl Kept for Wide {
    fn view(numbers: &Numbers) -> Option<Cow<'_, Matrix<Self>>> {
        Some(match numbers {
            Numbers::Words(matrix) => Cow::Owned(widened(matrix)),
            Numbers::Wide(matrix) => Cow::Borrowed(matrix),
        })
    }

    fn store(matrix: Matrix<Self>) -> Numbers {
        let word = |entry: &Self| match entry.parts() {
            Some((value, strict)) => Word::new(&value, strict),
            None => Some(Word::INFINITE),
        };
        match matrix.mapped(word) {
            Some(words) => Numbers::Words(words),
            None => Numbers::Wide(matrix),
        }
    }
}

fn widened(matrix: &Matrix<Word>) -> Matrix<Wide> {
    let wide = |entry: &Word| {
        Some(entry.parts().map_or(Wide::INFINITE, |(value, strict)| Wide::encoded(&value, strict)))
    };
    // The mapping answers always, so the default is never made.
    matrix.mapped(wide).unwrap_or_else(|| Matrix::unbounded(matrix.variables(), matrix.scale().clone()))
}
