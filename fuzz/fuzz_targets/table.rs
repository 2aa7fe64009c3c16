#![no_main]
#![allow(dead_code)]

#[path = "../table.rs"]
mod door;
#[path = "../../cli/src/error.rs"]
mod error;
#[path = "../../cli/src/input.rs"]
mod input;
#[path = "../../cli/src/messages.rs"]
mod messages;
#[path = "../../cli/src/table/mod.rs"]
mod table;

libfuzzer_sys::fuzz_target!(
    init: messages::set_loudness(messages::Loudness::Quiet),
    |data: &[u8]| door::table(data)
);
