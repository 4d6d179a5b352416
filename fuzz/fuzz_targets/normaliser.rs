//! See [`brain_fuzz::normaliser`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::normaliser::check(data));
