//! crate
fn main() {}
