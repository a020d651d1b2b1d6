//! See `coreach_fuzz::wire`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| coreach_fuzz::wire(bytes));
