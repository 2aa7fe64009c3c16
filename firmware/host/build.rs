//! Leaves everything out of the program that a C compiler would put in.

fn main() {
    for argument in ["-nostdlib", "-nostartfiles", "-static", "-no-pie"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
