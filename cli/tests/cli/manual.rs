//! `kgard completions` and `kgard man`.

use crate::common::Folder;
use std::process::Command;

#[test]
fn completions() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = folder.kgard(&format!("completions {shell}"));
        for word in ["denoise", "noise-sigma", "reproduce"] {
            assert!(run.ok().contains(word), "{shell}: {word}");
        }
        folder.write(shell, run.ok());
    }
    folder.kgard("completions tcsh").fails(2, &["SHELL"]);
    // Shells that are here read their own.
    for (shell, option) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if let Ok(output) = Command::new(shell).arg(option).arg(folder.path(shell)).output() {
            assert!(output.status.success(), "{shell}: {output:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_completes() {
    let folder = Folder::new();
    let script = "source <(kgard completions bash); COMP_WORDS=(kgard deno); COMP_CWORD=1; \
                  _kgard kgard deno kgard; echo ${COMPREPLY[@]}";
    assert_eq!(folder.shell(script).ok(), "denoise\n");
}

#[test]
fn manual_pages() {
    let folder = Folder::new();
    let page = folder.kgard("man").ok().to_owned();
    assert!(page.contains(".TH kgard 1") && page.contains("denoise"), "{page}");
    folder.kgard("man -o man1").ok();
    assert_eq!(folder.read("man1/kgard.1"), page);
    let names = std::fs::read_dir(folder.path("man1")).expect("a folder");
    for entry in names {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a page");
        assert!(text.contains(".SH EXAMPLES"), "{path:?}");
        let mut man = Command::new("man");
        man.args(["--warnings", "-l"]).arg(&path).env("LC_ALL", "C.UTF-8");
        // Only where there is a `man` that knows these options.
        if let Ok(output) = man.output()
            && output.status.success()
        {
            assert!(output.stderr.is_empty(), "{path:?}: {output:?}");
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(shown.contains("SYNOPSIS") && shown.contains("  kgard "), "{shown}");
        }
    }
}
