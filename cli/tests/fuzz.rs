//! The door of tables takes mutated input for some seconds: `KGARD_FUZZ_SECONDS` of them, two
//! unless told otherwise. (`kgard serve` has its own test of mutated requests.)
#![allow(missing_docs, clippy::pedantic, dead_code, unreachable_pub, unused_imports)]

#[path = "../../fuzz/table.rs"]
mod door;
#[path = "../../fuzz/driver.rs"]
mod driver;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/input.rs"]
mod input;
#[path = "../src/messages.rs"]
mod messages;
#[path = "../src/table/mod.rs"]
mod table;

use std::path::Path;

#[test]
fn table() {
    messages::set_loudness(messages::Loudness::Quiet);
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    driver::run("table", door::table, &seeds);
}
