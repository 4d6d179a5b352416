//! See [`brain_fuzz::paths`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::paths::check(data));
