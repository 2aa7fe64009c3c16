//! Where reports go.

/// Prints the report, and with `--write` puts it into BENCHMARKS.md between
/// the lines that name it.
pub fn publish(name: &str, report: &str) {
    println!("{report}");
    if !std::env::args().any(|a| a == "--write") {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/BENCHMARKS.md");
    let page = std::fs::read_to_string(path).expect("BENCHMARKS.md is there");
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (head, rest) = page.split_once(&begin).expect("BENCHMARKS.md names the report");
    let (_, tail) = rest.split_once(&end).expect("BENCHMARKS.md closes the report");
    std::fs::write(path, format!("{head}{begin}{report}{end}{tail}")).expect("it can be written");
}
