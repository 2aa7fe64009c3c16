//! Each door of the library takes mutated input for some seconds:
//! `KGARD_FUZZ_SECONDS` of them, two unless told otherwise.
#![allow(missing_docs, clippy::pedantic)]
#![cfg(all(feature = "std", feature = "serde"))]

#[allow(unreachable_pub, unused_imports, dead_code)]
#[path = "../fuzz/doors.rs"]
mod doors;
#[allow(unreachable_pub)]
#[path = "../fuzz/driver.rs"]
mod driver;

use std::path::Path;

fn run(name: &str) {
    let door = doors::DOORS.iter().find(|door| door.0 == name).expect("a door").1;
    driver::run(name, door, &Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds"));
}

macro_rules! doors {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn all_doors_are_here() {
            let names: Vec<_> = doors::DOORS.iter().map(|door| door.0).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

doors!(plan_bytes, fit, line, stream, models, kernels, planes, bm3d, tiff);
