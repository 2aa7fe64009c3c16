//! Many pictures at once, and what is said about them.

use crate::common::Folder;
use crate::pictures::{clean, decode, noisy};
use image::ColorType;

/// Twenty pictures, of which two are broken.
fn twenty() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).expect("a folder");
    for i in 0..20 {
        folder.save(&format!("in/{i:02}.png"), &noisy(ColorType::L8, 20 + i, 24));
    }
    folder.write("in/07.png", &folder.bytes("in/07.png")[..100]);
    folder.write("in/13.png", "not a picture");
    // What is no picture by its name is none of the folder's pictures.
    folder.write("in/notes.txt", "not a picture");
    folder.write("in/.hidden.png", "not a picture");
    folder
}

fn count(folder: &Folder, name: &str) -> usize {
    std::fs::read_dir(folder.path(name)).map_or(0, Iterator::count)
}

#[test]
fn two_of_twenty_are_broken() {
    for inputs in ["in", "in/*.png", "in/0*.png in/1?.png"] {
        let folder = twenty();
        let run = folder.kgard(&format!("denoise {inputs} -o out"));
        assert_eq!((run.code(), run.stdout()), (1, ""), "{}", run.stderr());
        assert_eq!(count(&folder, "out"), 18, "{inputs}");
        let failed: Vec<&str> =
            run.stderr().lines().filter(|line| line.starts_with("failed: ")).collect();
        assert_eq!(failed.len(), 2, "{}", run.stderr());
        assert!(failed[0].starts_with("failed: in/07.png: is not a usable picture"));
        assert!(failed[1].starts_with("failed: in/13.png: is not a picture that kgard can read"));
        let last = "error: 2 of 20 pictures failed: in/07.png, in/13.png";
        assert_eq!(run.stderr().lines().last(), Some(last));
        // A folder's other files are named; there are no bars where there is no terminal.
        let lines = 21 + usize::from(inputs == "in");
        assert_eq!(run.stderr().lines().count(), lines, "{}", run.stderr());
    }
}

#[test]
fn patterns_and_folders_that_are_empty() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("none")).expect("a folder");
    folder.kgard("denoise none -o out").fails(1, &["none: there is no picture in it"]);
    folder.kgard("denoise no*.png -o out").fails(1, &["no*.png: no file is called like this"]);
    folder.kgard("denoise a[.png -o out").fails(2, &["a[.png: is not a pattern"]);
    assert_eq!(folder.names(), ["none"]);
    // A file may be called like a pattern.
    folder.save("a[1].png", &noisy(ColorType::L8, 20, 20));
    folder.kgard("denoise a[1].png -o b.png").ok();
}

#[test]
fn no_picture_that_is_still_to_be_read_is_written_over() {
    let folder = Folder::new();
    for name in ["one", "two"] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
    }
    folder.save("one/a.png", &noisy(ColorType::L8, 20, 20));
    folder.save("two/a.png", &noisy(ColorType::L8, 30, 20));
    let before = folder.bytes("two/a.png");
    let run = folder.kgard("denoise one/a.png two/a.png -o two");
    assert_eq!(run.code(), 1);
    assert!(run.stderr().contains("one/a.png: would be written over another picture"));
    assert_eq!(folder.bytes("two/a.png"), before);
    let run = folder.kgard("denoise one two -o two --overwrite");
    assert_eq!(run.code(), 1);
    assert_eq!(folder.bytes("two/a.png"), before);
}

#[test]
fn a_dry_run_touches_nothing() {
    let folder = twenty();
    folder.save("a.png", &noisy(ColorType::Rgb16, 40, 32));
    let before = folder.names();
    let run = folder.kgard("denoise in -o out --outliers maps --dry-run");
    assert_eq!((run.code(), run.stdout().lines().count()), (1, 18), "{}", run.stdout());
    let line = "would read in/00.png (20 x 24 pixels, 8-bit grey, PNG), would write out/00.png, \
                maps/00.png";
    assert_eq!(run.stdout().lines().next(), Some(line));
    assert_eq!(run.stderr().lines().count(), 4);
    let run = folder.kgard("denoise a.png -o b.png --compare c.png --dry-run --json");
    let json = run.json();
    assert_eq!(json["pictures"][0]["kind"], "40 x 32 pixels, 16-bit RGB, PNG");
    assert_eq!(json["pictures"][0]["writes"], serde_json::json!(["b.png", "c.png"]));
    for (command, text) in [
        ("denoise a.png -o a.png", "would be written over"),
        ("denoise none.png -o b.png", "none.png: cannot be read"),
        ("denoise a.png -o none/b.png", "none/b.png: cannot be written: there is no such folder"),
        ("denoise a.png -o b.png --reference in/00.png", "a.png: has 40 x 32"),
    ] {
        folder.kgard(&format!("{command} --dry-run")).fails(1, &[text]);
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn quiet_and_verbose() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::Rgb8, 40, 32));
    folder.write("bad.png", "not a picture");
    let run = folder.kgard("-q denoise a.png -o b.png");
    assert_eq!((run.ok(), run.stderr()), ("", ""));
    let run = folder.kgard("denoise a.png bad.png -o out -q");
    assert_eq!((run.code(), run.stderr().lines().count()), (1, 2), "{}", run.stderr());
    // A result is no message.
    let run = folder.kgard_stdin("denoise - -o - --json --quiet", folder.bytes("a.png"));
    assert_eq!(decode(run.bytes()).width(), 40);
    assert!(run.stderr().starts_with('{'));
    let run = folder.kgard("denoise a.png -o b.png --verbose");
    run.ok();
    for text in ["40 x 32 pixels of 8 bits", "method kg-bm3d", "BM3D 0.", "\n  green: noise "] {
        assert!(run.stderr().contains(text), "{}", run.stderr());
    }
}

#[cfg(unix)]
/// What a shell would do with `cat a.png | kgard denoise - -o - > b.png`.
#[test]
fn in_a_pipe() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    let run = folder.shell("cat a.png | kgard denoise - -o - > b.png");
    run.ok();
    assert_eq!(folder.open("b.png").width(), 40);
    folder.kgard("denoise a.png -o c.png").ok();
    assert_eq!(folder.bytes("b.png"), folder.bytes("c.png"));
}

/// A terminal gets bars and colours, unless it has asked for none.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal() {
    if std::process::Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `script` to make a terminal");
        return;
    }
    let folder = twenty();
    folder.save("clean.png", &clean(ColorType::L8, 20, 20));
    let command = "script -qec 'kgard denoise in -o out' /dev/null || true";
    let run = folder.shell(command);
    assert!(run.stdout().contains("20 pictures, "), "{}", run.stdout());
    assert!(run.stdout().contains("\u{1b}[31mfailed:"), "{}", run.stdout());
    let run = folder.shell(&format!("NO_COLOR=1 {command}"));
    assert!(run.stdout().contains("failed: in/07.png"), "{}", run.stdout());
    assert!(!run.stdout().contains("\u{1b}[31m"), "{}", run.stdout());
}
