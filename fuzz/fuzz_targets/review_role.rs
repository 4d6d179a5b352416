//! See [`brain_fuzz::review_role`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::review_role::check(data));
