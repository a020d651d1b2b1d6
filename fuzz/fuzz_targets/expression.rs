//! See `coreach_fuzz::expression`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| coreach_fuzz::expression(bytes));
