//! See [`brain_fuzz::manifest`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::manifest::check(data));
