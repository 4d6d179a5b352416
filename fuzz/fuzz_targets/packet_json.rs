//! See [`brain_fuzz::packet_json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| brain_fuzz::packet_json::check(data));
