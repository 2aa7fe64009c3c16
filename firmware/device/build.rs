//! Hands the memory map to the linker.

use std::env;

fn main() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let machine = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("riscv32") => "riscv",
        _ => "arm",
    };
    for script in [machine, "sections"] {
        println!("cargo::rustc-link-arg-bins=-T{folder}/{script}.ld");
        println!("cargo::rerun-if-changed={script}.ld");
    }
}
