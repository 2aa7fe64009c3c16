//! The page of `kgard serve` in a browser without a screen, and whatever else
//! stands in `tests/web`.

use crate::steps::{Outcome, Trouble, failed};
use crate::tools::{build_kgard, exists, find, install, kgard, root, run_within, with_arguments};
use std::path::PathBuf;
use std::time::Duration;

/// What distributions call the browser.
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// What tests share is no test.
const SHARED: &str = "browser.mjs";
/// Longest time for a test, on a slow machine.
const TEST: Duration = Duration::from_mins(10);
/// Longest time for the packages of the tests.
const PACKAGES: Duration = Duration::from_mins(5);

/// Runs every test in `tests/web`.
pub(crate) fn tests() -> Outcome {
    if !exists("node") || !exists("npm") {
        install("nodejs npm")?;
    }
    let browser = browser()?;
    build_kgard()?;
    let mut packages = with_arguments("npm", "ci --no-audit --no-fund");
    packages.current_dir(root().join("tests/web"));
    run_within(packages, PACKAGES).map_err(|_| {
        Trouble::Skipped("`npm ci` in tests/web failed: it needs the network the first time".into())
    })?;
    for script in scripts()? {
        let mut test = with_arguments("node", "");
        test.arg(script).env("CHROMIUM", &browser).env("KGARD", kgard());
        run_within(test, TEST)?;
    }
    Ok(())
}

/// The browser, installed if it is missing.
fn browser() -> Result<PathBuf, Trouble> {
    let found = || BROWSERS.iter().find_map(|name| find(name));
    if let Some(browser) = found() {
        return Ok(browser);
    }
    install(BROWSERS[0])?;
    found().ok_or_else(|| Trouble::Skipped("install Chromium, and try again".into()))
}

/// The tests, by name.
fn scripts() -> Result<Vec<PathBuf>, Trouble> {
    let unreadable = |error: std::io::Error| failed(format!("tests/web: {error}"));
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/web")).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_script = path.extension().is_some_and(|extension| extension == "mjs");
        if is_script && path.file_name().is_some_and(|name| name != SHARED) {
            scripts.push(path);
        }
    }
    scripts.sort();
    Ok(scripts)
}
