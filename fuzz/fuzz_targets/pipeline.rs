//! See `coreach_fuzz::pipeline`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| coreach_fuzz::pipeline(bytes));
