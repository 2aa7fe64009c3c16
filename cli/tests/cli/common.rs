//! A folder to work in, the program, and data with planted outliers.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Output;
use tempfile::TempDir;

/// A folder of its own for each test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file is written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file is read")
    }

    /// The names of all files, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder is listed");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().into_string().expect("a name in UTF-8")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// Runs the program here, with the words of `command` as arguments.
    pub(crate) fn kgard(&self, command: &str) -> Run {
        self.kgard_stdin(command, "")
    }

    pub(crate) fn kgard_stdin(&self, command: &str, stdin: impl Into<Vec<u8>>) -> Run {
        let output = self.program(command).write_stdin(stdin.into()).output();
        Run { command: command.to_owned(), output: output.expect("the program starts") }
    }

    /// With arguments that have spaces in them.
    pub(crate) fn kgard_args(&self, arguments: &[&str]) -> Run {
        let output = self.program("").args(arguments).output();
        Run { command: arguments.join(" "), output: output.expect("the program starts") }
    }

    /// The same in an environment with these variables.
    #[cfg(feature = "gpu")]
    pub(crate) fn kgard_env(&self, command: &str, variables: &[(&str, &str)]) -> Run {
        let output = self.program(command).envs(variables.iter().copied()).output();
        Run { command: command.to_owned(), output: output.expect("the program starts") }
    }

    fn program(&self, command: &str) -> assert_cmd::Command {
        let mut program = assert_cmd::cargo::cargo_bin_cmd!("kgard");
        program.args(command.split_whitespace()).current_dir(self.0.path());
        program
    }
}

#[cfg(unix)]
impl Folder {
    /// Runs a line as a shell would, with our `kgard` before any other.
    pub(crate) fn shell(&self, line: &str) -> Run {
        let program = assert_cmd::cargo::cargo_bin!("kgard");
        let ours = program.parent().expect("a folder").to_owned();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(ours).chain(std::env::split_paths(&others));
        let output = std::process::Command::new("bash")
            .args(["-o", "pipefail", "-c", line])
            .env("PATH", std::env::join_paths(path).expect("a search path"))
            .current_dir(self.0.path())
            .output()
            .expect("bash starts");
        Run { command: line.to_owned(), output }
    }
}

/// What a run of the program left.
pub(crate) struct Run {
    command: String,
    output: Output,
}

impl Run {
    pub(crate) fn code(&self) -> i32 {
        self.output.status.code().expect("an exit code")
    }

    pub(crate) fn stdout(&self) -> &str {
        std::str::from_utf8(&self.output.stdout).expect("UTF-8")
    }

    /// It succeeded; gives standard output as bytes.
    #[track_caller]
    pub(crate) fn bytes(&self) -> &[u8] {
        assert_eq!(self.code(), 0, "{}: {}", self.command, self.stderr());
        &self.output.stdout
    }

    pub(crate) fn stderr(&self) -> &str {
        std::str::from_utf8(&self.output.stderr).expect("UTF-8")
    }

    /// It succeeded; gives standard output.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code(), 0, "{}: {}", self.command, self.stderr());
        self.stdout()
    }

    /// It succeeded, and standard output is one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.ok()).expect("one JSON value")
    }

    /// It failed with this code, nothing on standard output, and one line
    /// `error: ...` that contains all of these texts.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code(), code, "{}: {}", self.command, self.stderr());
        assert_eq!(self.stdout(), "", "{}", self.command);
        let stderr = self.stderr();
        assert!(stderr.starts_with("error: "), "{}: {stderr}", self.command);
        for text in texts {
            assert!(stderr.contains(text), "{}: no {text:?} in {stderr}", self.command);
        }
        // clap adds a hint about --help to its own messages.
        let lines = stderr.trim_end().lines().count();
        assert!(lines == 1 || stderr.contains("try '--help'"), "{stderr}");
    }
}

/// A small generator of numbers (xorshift), the same ones each time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % n
    }

    /// In [-1, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// The rows of [`sine`] that are wrong.
pub(crate) const PLANTED: [usize; 3] = [13, 50, 77];

/// A sine with a little noise and three wrong values.
pub(crate) fn sine() -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(7);
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
    let mut y: Vec<f64> = x.iter().map(|x| (10.0 * x).sin() + 0.05 * random.unit()).collect();
    for (i, j) in PLANTED.into_iter().enumerate() {
        y[j] += 4.0 + i as f64;
    }
    (x, y)
}

/// Columns as CSV, with a header if it is not empty.
pub(crate) fn csv(header: &str, columns: &[&[f64]]) -> String {
    let mut text = String::new();
    if !header.is_empty() {
        text = format!("{header}\n");
    }
    for row in 0..columns[0].len() {
        let cells: Vec<String> =
            columns.iter().map(|column| format!("{:?}", column[row])).collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    text
}

/// The numbers of a JSON array.
pub(crate) fn numbers(value: &serde_json::Value) -> Vec<f64> {
    let array = value.as_array().expect("an array");
    array.iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// The indices of the outliers of a report.
pub(crate) fn indices(json: &serde_json::Value) -> Vec<usize> {
    let outliers = json["outliers"].as_array().expect("outliers");
    let index = |o: &serde_json::Value| {
        usize::try_from(o["index"].as_u64().expect("an index")).expect("a small index")
    };
    outliers.iter().map(index).collect()
}
