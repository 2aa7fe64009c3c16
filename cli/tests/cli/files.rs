//! Output files appear whole or not at all.

use crate::common::{Folder, csv, sine};

const FIT: &str = "fit data.csv --sigma 0.2 --lambda 0.1";

fn folder() -> Folder {
    let folder = Folder::new();
    let (x, y) = sine();
    folder.write("data.csv", csv("x,y", &[&x, &y]));
    folder.write("grid.csv", "x\n0.5\n");
    folder
}

#[test]
fn nothing_but_the_results_is_left() {
    let folder = folder();
    let command = format!("{FIT} -o model.json --predict grid.csv --predictions out.csv");
    folder.kgard(&command).ok();
    assert_eq!(folder.names(), ["data.csv", "grid.csv", "model.json", "out.csv"]);
    // Again: the old files are replaced.
    folder.write("model.json", "old");
    folder.kgard(&command).ok();
    assert!(folder.read("model.json").starts_with("{\"format\":\"kgard-model\",\"version\":1,"));
    assert_eq!(folder.names().len(), 4);
}

#[test]
fn a_failure_leaves_everything_as_it_was() {
    let folder = folder();
    folder.write("model.json", "old");
    folder.write("bad.csv", "x\n0.5\nabc\n");
    let check = |command: &str, text: &str| {
        folder.kgard(command).fails(1, &[text]);
        assert_eq!(folder.read("model.json"), "old");
        assert_eq!(folder.names(), ["bad.csv", "data.csv", "grid.csv", "model.json"]);
    };
    let grid = "--predict grid.csv --predictions";
    check(&format!("{FIT} -o none/model.json"), "none/model.json: cannot be written: ");
    check(&format!("{FIT} -o model.json {grid} none/out.csv"), "none/out.csv: cannot be written");
    check(&format!("{FIT} -o model.json {grid} ."), ".: is a folder");
    check(
        &format!("{FIT} -o model.json --predict bad.csv --predictions out.csv"),
        "bad.csv: line 3, column 1",
    );
    check("predict model.json grid.csv -o out.csv", "model.json: is not a usable model");
    check("plan bad.csv --sigma 1 --lambda 1 -o plan.rs", "bad.csv: line 3, column 1");
    let run = folder.kgard(&format!("{FIT} -o none/model.json"));
    assert!(!run.stderr().contains(".kgard-"), "{}", run.stderr());
}

#[test]
fn one_result_on_standard_output() {
    let folder = folder();
    let run = folder.kgard(&format!("{FIT} -o -"));
    assert_eq!(run.json()["format"], "kgard-model");
    assert!(run.stderr().contains("outliers       3"));
    let run = folder.kgard(&format!("{FIT} --predict grid.csv --predictions -"));
    assert!(run.ok().starts_with("x,y\n0.5,"));
    assert!(run.stderr().contains("outliers       3"));
}

#[cfg(unix)]
mod unix {
    use super::{FIT, folder};
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    #[test]
    fn permissions_and_links_stay() {
        let folder = folder();
        folder.write("model.json", "old");
        let path = folder.path("model.json");
        let mode = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, mode(0o640)).expect("permissions");
        symlink("model.json", folder.path("link.json")).expect("a link");
        folder.kgard(&format!("{FIT} -o link.json")).ok();
        assert!(folder.path("link.json").is_symlink());
        assert!(folder.read("model.json").starts_with('{'));
        let found = path.metadata().expect("metadata").permissions().mode();
        assert_eq!(found & 0o777, 0o640);
        std::fs::set_permissions(&path, mode(0o440)).expect("permissions");
        folder.kgard(&format!("{FIT} -o model.json")).fails(1, &["model.json: is read-only"]);
    }

    #[test]
    fn links_to_files_that_are_not_there_yet() {
        let folder = folder();
        std::fs::create_dir(folder.path("sub")).expect("a folder");
        symlink("sub/link.json", folder.path("link.json")).expect("a link");
        symlink("model.json", folder.path("sub/link.json")).expect("a link");
        folder.kgard(&format!("{FIT} -o link.json")).ok();
        assert!(folder.path("link.json").is_symlink() && folder.path("sub/link.json").is_symlink());
        assert!(folder.read("sub/model.json").starts_with('{'));
        symlink("circle.json", folder.path("circle.json")).expect("a link");
        folder.kgard(&format!("{FIT} -o circle.json")).fails(1, &["circle.json: "]);
    }

    /// What a program that was killed has left goes, what another one writes stays.
    #[test]
    fn files_that_were_left() {
        let folder = folder();
        let old = std::time::SystemTime::now() - std::time::Duration::from_mins(10);
        let name = |name: &str| format!(".kgard-{name}.tmp");
        for left in ["left", "written"] {
            folder.write(&name(left), "half");
            let file = std::fs::File::options().write(true).open(folder.path(&name(left)));
            file.and_then(|file| file.set_modified(old)).expect("an older file");
        }
        folder.write(&name("young"), "half");
        let writer = std::fs::File::open(folder.path(&name("written"))).expect("a file");
        writer.lock().expect("a lock");
        folder.kgard(&format!("{FIT} -o model.json")).ok();
        let names = folder.names();
        assert!(!names.contains(&name("left")), "{names:?}");
        assert!(names.contains(&name("written")) && names.contains(&name("young")), "{names:?}");
    }

    /// Killed at any time, the program leaves the old file or the new one.
    #[test]
    fn killed() {
        let folder = folder();
        let old = "old";
        folder.write("model.json", old);
        let mut changed = 0;
        for milliseconds in (0..60).step_by(3) {
            let mut child = Command::new(assert_cmd::cargo::cargo_bin!("kgard"))
                .args(FIT.split_whitespace())
                .args(["-o", "model.json"])
                .current_dir(folder.path(""))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program starts");
            std::thread::sleep(std::time::Duration::from_millis(milliseconds));
            let _ = child.kill();
            child.wait().expect("it ends");
            let found = folder.read("model.json");
            if found != old {
                serde_json::from_str::<serde_json::Value>(&found).expect("a whole model");
                changed += 1;
            }
        }
        // Whatever was left is hidden, and known by its name.
        for name in folder.names().iter().filter(|name| name.starts_with('.')) {
            let end = std::path::Path::new(name).extension();
            assert!(name.starts_with(".kgard-") && end.is_some_and(|end| end == "tmp"), "{name}");
        }
        folder.kgard(&format!("{FIT} -o model.json")).ok();
        println!("{changed} of 20 runs had written their model");
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        let folder = folder();
        folder.kgard(&format!("{FIT} -o /dev/null")).ok();
        let kind = std::fs::metadata("/dev/null").expect("metadata").file_type();
        assert!(kind.is_char_device());
    }

    #[test]
    fn a_closed_pipe_is_told_by_the_exit_code_only() {
        let folder = folder();
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("kgard"))
            .args(FIT.split_whitespace())
            .arg("--json")
            .current_dir(folder.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        // 128 + SIGPIPE, as of other programs.
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(output.stderr, b"");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let folder = folder();
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(assert_cmd::cargo::cargo_bin!("kgard"))
            .args(FIT.split_whitespace())
            .current_dir(folder.path(""))
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(stderr.starts_with("error: standard output: cannot be written: "), "{stderr}");
    }
}
