//! See [`brain_fuzz::change_set`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::change_set::check(data));
