//! Each kind of bad input: its message and its exit code.

use crate::common::{Folder, csv, sine};

const NUMBERS: &str = "--sigma 1 --lambda 1";

#[test]
fn bad_data() {
    let folder = Folder::new();
    let check = |options: &str, bytes: &[u8], text: &str| {
        folder.write("data.csv", bytes);
        let run = folder.kgard(&format!("fit data.csv {NUMBERS} {options}"));
        run.fails(1, &["error: data.csv: ", text]);
        let run = folder.kgard_stdin(&format!("fit - {NUMBERS} {options}"), bytes);
        run.fails(1, &["error: standard input: ", text]);
    };
    check("", b"", "is empty: give at least one row");
    check("", b"\n \n\r\n", "is empty");
    check("", b"x,y\n", "line 1: no rows follow the header");
    check("", b"1\n2\n", "line 1: there is no input column");
    check("", b"1:2\n3:4\n", "line 2: there is no input column");
    check("", b"x,y\n1,2\n3,abc\n", "line 3, column 2 (\"y\"): \"abc\" is not a number");
    check("", b"1,2\n\n3,4\nabc,6\n", "line 4, column 1: \"abc\" is not a number");
    let missing = "--missing error";
    check(missing, b"1,2\n3,NaN\n", "line 2, column 2: \"NaN\" stands for no value");
    check(missing, b"nan,2\n3,4\n", "line 1, column 1: \"nan\" stands for no value");
    check("", b"1,2\n-inf,4\n", "line 2, column 1: \"-inf\" is not finite");
    check("", b"1,2\n3,1e999\n", "line 2, column 2: \"1e999\" is not finite");
    check(missing, b"1,2\n3,\n", "line 2, column 2: the cell is empty");
    check("", b"x,y\n1,\nNA,3\n", "all 2 rows have missing values: choose other columns");
    check("", b"1,2,3\n4,5\n", "line 2, column 3: the row has 2 cells, but line 1 has 3");
    check("", b"1,2\n4,5,6\n", "line 2, column 3: the row has 3 cells, but line 1 has 2");
    check("", b"x,y\n1,2\n3,\xff\n", "line 3, column 2: is not UTF-8 text");
    check("", b"\xff\xfex\x00,\x00", "line 1, column 1: is not UTF-8 text");
    check("", b"x,x,y\n1,2,3\n", "line 1, column 2: the name \"x\" is that of column 1");
    check("--target z", b"x,y\n1,2\n", "no column \"z\": the columns are \"x\", \"y\"");
    check("--target y", b"1,2\n3,4\n", "there is no header line: give the column's number");
    check("--target 3", b"1,2\n3,4\n", "there is no column 3: columns are numbered from 1 to 2");
    check("--target 0", b"x,y\n3,4\n", "there is no column 0");
    let long = format!("1,2\n3,\"{}\n", "word ".repeat(1000));
    check("", long.as_bytes(), "line 2, column 2: \"word word word word word word word word \"...");
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::new();
    folder.kgard(&format!("fit none.csv {NUMBERS}")).fails(1, &["none.csv: cannot be read: "]);
    folder.kgard(&format!("fit . {NUMBERS}")).fails(1, &[".: cannot be read: "]);
    folder.kgard(&format!("plan none.csv {NUMBERS} -o p.rs")).fails(1, &["none.csv"]);
}

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("", &[&x, &y]));
    let check = |options: &str, text: &str| {
        folder.kgard(&format!("fit data.csv {options}")).fails(2, &[text]);
    };
    for option in ["--sigma", "--lambda", "--alpha", "--gamma", "--refit-lambda"] {
        for value in ["0", "-1", "nan", "inf", "x"] {
            check(&format!("{option} {value}"), option);
        }
    }
    check("--sigma -1", "invalid value '-1' for '--sigma <S>': it must be positive and finite");
    check("--offset -1", "it must be zero or more");
    check("--degree -1", "--degree");
    check("--at-most -1", "--at-most");
    for rule in ["none", "max", "max:", "max:x", "max:-1", "norm:nan", "auto:1", "-"] {
        check(&format!("--stop {rule}"), "--stop");
    }
    for border in ["5", "x:5", "5:0", "5:-1", "-5:5", "5:5:5", ":"] {
        check(&format!("--border {border}"), "--border");
    }
    check(
        "--kernel cubic",
        "\"cubic\": there is no such kernel: the kernels are gaussian, laplacian",
    );
    check("--method ols", "[possible values: kgard, krr");
    check(&format!("{NUMBERS} --border 5:5 --regularizer rkhs"), "--border works with");
    check(&format!("{NUMBERS} --alpha 1"), "the gaussian kernel has no --alpha");
    check(&format!("{NUMBERS} --degree 1"), "the gaussian kernel has no --degree");
    check(&format!("{NUMBERS} --kernel linear"), "the linear kernel has no --sigma");
    check(&format!("{NUMBERS} --method krr --stop auto"), "--stop means nothing to --method krr");
    check(&format!("{NUMBERS} --method krr --at-most 1"), "--at-most means nothing");
    check(&format!("{NUMBERS} --method krr --refit-lambda 1"), "--refit-lambda means nothing");
    check(&format!("{NUMBERS} --json -o -"), "--json and -o - both write to standard output");
    let both = "--predict data.csv --predictions";
    check(&format!("{NUMBERS} --json {both} -"), "--json and --predictions - both write");
    check(&format!("{NUMBERS} -o same {both} same"), "cannot go to the same place");
    for wrong in ["", "fit", "frobnicate", "fit data.csv --frobnicate", "predict a", "plan a"] {
        let run = folder.kgard(wrong);
        assert_eq!((run.code(), run.stdout()), (2, ""), "{wrong}");
    }
    let run = folder.kgard(&format!("fit data.csv {NUMBERS} --predict data.csv"));
    assert_eq!(run.code(), 2);
    folder
        .kgard(&format!("fit - {NUMBERS} --predict - --predictions out.csv"))
        .fails(2, &["standard input can be read only once"]);
    assert_eq!(folder.names(), ["data.csv"]);
}

#[test]
fn numbers_that_overflow_are_named() {
    let folder = Folder::new();
    folder.write("data.csv", "1,1e308\n2,-1e308\n3,1e308\n");
    let run = folder.kgard("fit data.csv --sigma 1 --lambda 1e-300");
    assert_eq!((run.code(), run.stdout()), (1, ""), "{}", run.stderr());
    folder.write("data.csv", "1e200,1\n2e200,2\n");
    let run = folder.kgard("fit data.csv --kernel polynomial --degree 9 --lambda 1");
    assert_eq!((run.code(), run.stdout()), (1, ""), "{}", run.stderr());
    folder.write("data.csv", "1,1\n2,2\n3,4\n");
    folder.kgard("fit data.csv --kernel polynomial --degree 3 --lambda 1 -o model.json").ok();
    folder.write("grid.csv", "1\n1e200\n");
    folder.kgard("predict model.json grid.csv").fails(1, &["grid.csv: line 2: the prediction"]);
}

#[test]
fn help_shows_examples() {
    let folder = Folder::new();
    for command in ["--help", "fit --help", "predict --help", "plan --help", "fit -h"] {
        let run = folder.kgard(command);
        assert!(run.ok().contains("Examples:\n  kgard "), "{command}");
    }
    assert!(folder.kgard("fit --help").ok().contains("Rows are counted from 0"));
    assert!(folder.kgard("--version").ok().starts_with("kgard "));
}
