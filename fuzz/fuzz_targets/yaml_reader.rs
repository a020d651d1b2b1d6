//! See `coreach_fuzz::yaml_reader`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| coreach_fuzz::yaml_reader(bytes));
