//! Hands each program its memory map: the flash that its code may take.

fn main() {
    let folder = env!("CARGO_MANIFEST_DIR");
    for (program, flash) in [("stream-budget", "8K"), ("fit-budget", "6K")] {
        println!("cargo::rustc-link-arg-bin={program}=--defsym=__flash={flash}");
    }
    println!("cargo::rustc-link-arg-bins=-T{folder}/memory.ld");
    println!("cargo::rerun-if-changed=memory.ld");
}
