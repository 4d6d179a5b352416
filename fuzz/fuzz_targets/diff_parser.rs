//! See [`brain_fuzz::diff_parser`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::diff_parser::check(data));
