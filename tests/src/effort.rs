//! How many cases a test takes: few in `scripts/test`, which has to end soon, and many in
//! `scripts/test --thorough`, which sets `COREACH_THOROUGH`.

/// So many of the cases, which begin with the same ones.
pub fn cases(soon: u64, thorough: u64) -> u64 {
    if is_thorough() { thorough } else { soon }
}

/// Is all wanted, however long it takes?
pub fn is_thorough() -> bool {
    std::env::var_os("COREACH_THOROUGH").is_some()
}
