//! Hands the memory map to the linker.

fn main() {
    let folder = env!("CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-T{folder}/memory.ld");
    println!("cargo::rerun-if-changed=memory.ld");
}
