//! All tests of this crate are one program.

mod hostile;
mod round;
mod schema;
