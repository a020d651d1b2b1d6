//! See `coreach_fuzz::configuration`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| coreach_fuzz::configuration(bytes));
