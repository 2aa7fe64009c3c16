//! Random bytes, and random pieces of CSV and JSON, are refused or read, and
//! never crash the program.

use crate::common::{Folder, Random, csv, sine};

const ROUNDS: usize = 150;
const PIECES: [&[u8]; 24] = [
    b"1",
    b"2.5",
    b"-3e4",
    b"1e308",
    b"1e-320",
    b"0",
    b"nan",
    b"inf",
    b"x",
    b"\"",
    b"\"\"",
    b",",
    b",",
    b",",
    b"\n",
    b"\n",
    b"\n",
    b"\r",
    b"\r\n",
    b" ",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc3\xa9",
];

fn garbage(random: &mut Random) -> Vec<u8> {
    let len = random.below(60);
    if random.below(4) == 0 {
        return (0..len).map(|_| u8::try_from(random.below(256)).expect("a byte")).collect();
    }
    (0..len).flat_map(|_| PIECES[random.below(PIECES.len())].to_vec()).collect()
}

/// Exit code 0, or 1 with one line of message: not a crash.
#[track_caller]
fn survives(folder: &Folder, command: &str, input: &[u8]) {
    let run = folder.kgard_stdin(command, input);
    // It may warn of the data.
    let said =
        run.stderr().lines().filter(|line| !line.is_empty() && !line.starts_with("warning: "));
    match (run.code(), &said.collect::<Vec<_>>()[..]) {
        (0, []) => {}
        (1, [error]) => assert!(error.starts_with("error: "), "{command}: {error}"),
        (code, _) => panic!("{command}: exit code {code} for {input:?}: {}", run.stderr()),
    }
}

#[test]
fn as_data_and_as_grid() {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("x,y", &[&x, &y]));
    folder.kgard("fit data.csv --sigma 0.2 --lambda 0.1 -o model.json").ok();
    let mut random = Random::new(11);
    for _ in 0..ROUNDS {
        let input = garbage(&mut random);
        survives(&folder, "fit - --sigma 1 --lambda 0.1 --target 1", &input);
        survives(&folder, "predict model.json -", &input);
    }
    assert_eq!(folder.names(), ["data.csv", "model.json"]);
}

#[test]
fn rectangles_of_odd_numbers() {
    let folder = Folder::new();
    let mut random = Random::new(12);
    let odd = ["0", "-0", "1", "1", "2", "1e308", "-1e308", "1e-320", "1e154", "0.1"];
    for round in 0..ROUNDS {
        let (rows, columns) = (1 + random.below(6), 2 + random.below(2));
        let mut text = String::new();
        for _ in 0..rows {
            let row: Vec<&str> = (0..columns).map(|_| odd[random.below(odd.len())]).collect();
            text += &row.join(",");
            text.push('\n');
        }
        let options = ["--sigma 1", "--sigma 1e-200", "--sigma 1e200", "--kernel polynomial"];
        let norm = ["l2", "rkhs"][round % 2];
        let options = options[random.below(options.len())];
        let command = format!("fit - {options} --lambda 1e-3 --regularizer {norm} --json");
        survives(&folder, &command, text.as_bytes());
    }
}

#[test]
fn as_models() {
    let folder = Folder::new();
    folder.write("data.csv", "x,y\n1,2\n2,3\n3,5\n");
    folder.write("grid.csv", "x\n1\n");
    folder.kgard("fit data.csv --sigma 1 --lambda 0.1 -o model.json").ok();
    let model = folder.read("model.json").into_bytes();
    let mut random = Random::new(13);
    for _ in 0..ROUNDS {
        let mut damaged = model.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            match random.below(3) {
                0 => damaged.truncate(at.max(1)),
                1 => damaged[at] = u8::try_from(random.below(256)).expect("a byte"),
                _ => drop(damaged.remove(at)),
            }
        }
        survives(&folder, "predict - grid.csv", &damaged);
    }
}
