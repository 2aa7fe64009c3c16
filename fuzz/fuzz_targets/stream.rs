#![no_main]

#[allow(dead_code)]
#[path = "../doors.rs"]
mod doors;

libfuzzer_sys::fuzz_target!(|data: &[u8]| doors::stream(data));
