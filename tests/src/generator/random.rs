//! The random numbers of the generator: those of the tester, so that a seed is one thing everywhere.

pub use coreach_model::random::Random;
