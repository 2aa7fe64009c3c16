//! The modules of the library depend on each other in one direction: the graph of its files, read
//! off their `use` declarations and paths, has no cycle; and the device sees images and one facade.
//!
//! A `pub use` gives a name another place and is no dependence: paths are followed through it to
//! the file that has the item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The path of a module from the root.
type Module = Vec<String>;

/// The sources as text without comments, strings and tests.
struct Sources {
    files: BTreeMap<Module, String>,
    /// Whether a module is the `mod.rs` of a folder.
    folders: BTreeMap<Module, bool>,
    /// Names that a module takes over from elsewhere.
    exports: BTreeMap<(Module, String), Vec<String>>,
}

/// A `use` declaration: whether it is public, and its paths with the name that each gets.
struct Use {
    public: bool,
    paths: Vec<(Vec<String>, String)>,
}

fn read(
    folder: &Path,
    module: &Module,
    files: &mut BTreeMap<Module, String>,
    folders: &mut BTreeMap<Module, bool>,
) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut own = module.clone();
        if path.is_dir() {
            own.push(name);
            read(&path, &own, files, folders);
        } else if path.extension().is_some_and(|e| e == "rs") && name != "tests" {
            if name != "mod" && name != "lib" {
                own.push(name);
            }
            folders.insert(own.clone(), path.ends_with("mod.rs"));
            files.insert(own, code(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Without comments, text in quotes, and the tests at the end of a file.
fn code(text: &str) -> String {
    // The tests are the last of a file.
    let is_test = |at: &usize| {
        let mut lines = text[*at..].trim_start().lines();
        let is_for_tests = lines.next().is_some_and(|line| line.contains("test"));
        is_for_tests && lines.next().is_some_and(|line| line.starts_with("mod tests {"))
    };
    let tests = [0].into_iter().chain(text.match_indices("\n#[cfg(").map(|(at, _)| at));
    let text = &text[..tests.filter(is_test).min().unwrap_or(text.len())];
    let line = |line: &str| {
        let line = line.split("//").next().unwrap();
        // Quotes come in pairs on a line, or the rest of it is text.
        line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

impl Sources {
    fn new() -> Self {
        let (mut files, mut folders) = (BTreeMap::new(), BTreeMap::new());
        let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
        read(source, &Vec::new(), &mut files, &mut folders);
        Self { folders, ..Self::of(files) }
    }

    fn of(files: BTreeMap<Module, String>) -> Self {
        let (folders, exports) = (BTreeMap::new(), BTreeMap::new());
        let mut sources = Self { files, folders, exports };
        let mut exports = BTreeMap::new();
        for (module, text) in &sources.files {
            for declaration in uses(text).into_iter().filter(|found| found.public) {
                for (path, name) in declaration.paths {
                    if let Some(path) = sources.absolute(module, &path) {
                        exports.insert((module.clone(), name), path);
                    }
                }
            }
        }
        sources.exports = exports;
        sources
    }

    /// A path from the root, if it is one of this crate.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let mut at = module.clone();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            name => {
                let mut child = module.clone();
                child.push(name.to_owned());
                if !self.files.contains_key(&child) {
                    return None;
                }
                at = child;
            }
        }
        rest = &rest[1..];
        while rest.first().is_some_and(|segment| segment == "super") {
            at.pop();
            rest = &rest[1..];
        }
        at.extend(rest.iter().cloned());
        Some(at)
    }

    /// The module whose file has what a path from the root leads to.
    fn home(&self, path: &[String]) -> Module {
        let mut at = Module::new();
        for (i, segment) in path.iter().enumerate() {
            let mut child = at.clone();
            child.push(segment.clone());
            if self.files.contains_key(&child) {
                at = child;
            } else if let Some(target) = self.exports.get(&(at.clone(), segment.clone())) {
                let rest = path[i + 1..].iter().cloned();
                let path: Vec<String> = target.iter().cloned().chain(rest).collect();
                return self.home(&path);
            } else {
                break;
            }
        }
        at
    }

    /// Which modules each depends on.
    fn graph(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut graph = BTreeMap::new();
        for (module, text) in &self.files {
            let imported = uses(text).into_iter().filter(|found| !found.public);
            let imported = imported.flat_map(|found| found.paths).map(|(path, _)| path);
            let paths: Vec<Vec<String>> = imported.chain(inline(text)).collect();
            let absolute = paths.iter().filter_map(|path| self.absolute(module, path));
            let targets = absolute.map(|path| self.home(&path)).filter(|home| home != module);
            graph.insert(module.clone(), targets.collect());
        }
        graph
    }
}

/// The `use` declarations of a file.
fn uses(text: &str) -> Vec<Use> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut at_start = true;
    while !rest.is_empty() {
        let trimmed = rest.trim_start();
        if at_start && let Some((public, tree)) = declaration(trimmed) {
            let end = tree.find(';').unwrap_or(tree.len());
            let mut paths = Vec::new();
            expand(&[], &tree[..end], &mut paths);
            found.push(Use { public, paths });
            rest = &tree[end..];
            continue;
        }
        let next = rest.find(['\n', ';', '{', '}']).map_or(rest.len(), |at| at + 1);
        at_start = true;
        rest = &rest[next..];
    }
    found
}

/// Whether a `use` declaration begins here, whether it is public, and the rest of it.
fn declaration(text: &str) -> Option<(bool, &str)> {
    if let Some(tree) = text.strip_prefix("use ") {
        return Some((false, tree));
    }
    let rest = text.strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => &scope[scope.find(')')? + 1..],
        None => rest,
    };
    Some((true, rest.strip_prefix(" use ")?))
}

/// The paths of a tree, and their names.
fn expand(prefix: &[String], tree: &str, out: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let mut prefix = prefix.to_vec();
        prefix.extend(segments(&tree[..open]));
        let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        let (mut depth, mut start) = (0, 0);
        for (i, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(&prefix, &inner[start..i], out);
                    start = i + 1;
                }
                _ => {}
            }
        }
        expand(&prefix, &inner[start..], out);
    } else if !tree.is_empty() {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut all = prefix.to_vec();
        all.extend(segments(path));
        if all.last().is_some_and(|last| last == "self") {
            all.pop();
        }
        let name = if alias.is_empty() { all.last().cloned() } else { Some(alias.trim().into()) };
        out.extend(name.map(|name| (all, name)));
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect()
}

/// Paths in the code itself that begin at the root or above; a declaration's list of names is not
/// one of them.
fn inline(text: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    text.split(|c: char| !is_word(c))
        .filter(|word| ["crate::", "super::"].iter().any(|start| word.starts_with(start)))
        .filter(|word| !word.ends_with(':'))
        .map(segments)
        .collect()
}

/// A cycle, if there is one.
fn cycle(graph: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<Module>> {
    // Modules that depend on nothing but what was removed are removed, until there are none.
    let mut left = graph.clone();
    loop {
        let done: Vec<Module> = left
            .iter()
            .filter(|(_, targets)| targets.iter().all(|target| !left.contains_key(target)))
            .map(|(module, _)| module.clone())
            .collect();
        if done.is_empty() {
            break;
        }
        for module in done {
            left.remove(&module);
        }
    }
    // Each of the others leads to another one of them: in the end to one that was there.
    let mut path = vec![left.keys().next()?.clone()];
    loop {
        let next = left[&path[path.len() - 1]].iter().find(|target| left.contains_key(*target));
        let next = next.expect("it would have been removed").clone();
        if let Some(at) = path.iter().position(|module| *module == next) {
            path.drain(..at);
            path.push(next);
            return Some(path);
        }
        path.push(next);
    }
}

/// The module that a file is a part of, as the graph has it: a file, with the files in a folder of
/// its own name; where a folder is one concept, that; and what reads and writes files (`serial`),
/// which knows all types.
fn part(sources: &Sources, module: &Module) -> Module {
    const CONCEPTS: [&str; 6] = ["baselines", "kernel", "linalg", "line", "regression", "tune"];
    let first = module.first().map_or("", String::as_str);
    if module.iter().any(|segment| segment == "serial") {
        return vec!["serial".into()];
    }
    if CONCEPTS.contains(&first) {
        return vec![first.into()];
    }
    let above = (1..module.len()).map(|length| module[..length].to_vec());
    let mut files = above.filter(|above| sources.folders.get(above) == Some(&false));
    files.next().unwrap_or_else(|| module.clone())
}

/// The graph of the parts.
fn parts(sources: &Sources) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut parts: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, targets) in sources.graph() {
        let own = part(sources, &module);
        let targets = targets.iter().map(|target| part(sources, target));
        let targets: Vec<Module> = targets.filter(|target| *target != own).collect();
        parts.entry(own).or_default().extend(targets);
    }
    parts
}

fn name(module: &Module) -> String {
    if module.is_empty() { "lib".into() } else { module.join("::") }
}

#[test]
fn no_module_depends_on_itself_through_others() {
    let graph = parts(&Sources::new());
    assert!(graph.len() > 60 && graph.values().map(BTreeSet::len).sum::<usize>() > 250);
    let found = cycle(&graph).map(|found| found.iter().map(name).collect::<Vec<_>>());
    assert_eq!(found, None, "modules that need each other: split what both need off");
}

#[test]
fn a_device_sees_images_and_one_facade() {
    let graph = Sources::new().graph();
    let sees: BTreeSet<String> = graph
        .iter()
        .filter(|(module, _)| module.first().is_some_and(|first| first == "gpu"))
        .flat_map(|(_, targets)| targets)
        .filter(|target| target.first().is_some_and(|first| first == "denoise"))
        .map(name)
        .collect();
    // The facade only names items: paths through it lead to where they are. What is left are the
    // public types, and the items of the facade.
    let sources = Sources::new();
    let facade: Module = vec!["denoise".into(), "facade".into()];
    let public: Module = vec!["denoise".into()];
    let shown =
        sources.exports.iter().filter(|((module, _), _)| [&facade, &public].contains(&module));
    let shown: BTreeSet<String> = shown.map(|(_, path)| name(&sources.home(path))).collect();
    assert!(sees.is_subset(&shown), "{:?}", sees.difference(&shown));
    for (module, text) in &sources.files {
        if module.first().is_some_and(|first| first == "gpu") {
            for found in uses(text).into_iter().flat_map(|found| found.paths) {
                let Some(path) = sources.absolute(module, &found.0) else { continue };
                let inside = path.first().is_some_and(|first| first == "denoise");
                let through = path.starts_with(&facade) || path.len() == 2;
                assert!(!inside || through, "{}: {}", name(module), path.join("::"));
            }
        }
    }
    let is_of = |module: &Module, parts: &[&str]| {
        module.first().is_some_and(|first| parts.contains(&first.as_str()))
    };
    for (module, targets) in &graph {
        if is_of(module, &["regression", "line", "linalg", "kernel", "tune"]) {
            let wrong = targets.iter().find(|target| is_of(target, &["denoise", "image", "gpu"]));
            assert_eq!(wrong, None, "{} knows of images", name(module));
        }
    }
}

/// The check finds what it is for.
#[test]
fn a_cycle_is_found() {
    let sources = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(module, text)| (segments(module), code(text)));
        Sources::of(files.collect())
    };
    let root = ("", "pub use a::{self, Item};");
    let one = sources(&[root, ("a", "use crate::b::c::{D, E as F};"), ("b", ""), ("b::c", "")]);
    assert_eq!(cycle(&one.graph()), None);
    assert_eq!(one.graph()[&segments("a")], BTreeSet::from([segments("b::c")]));
    // Through a name that was given another place, and through a path in the code.
    for back in ["use crate::Item;", "fn f() { super::super::a::g() }", "use super::super::a;"] {
        let two = sources(&[root, ("a", "use crate::b::c;"), ("b", ""), ("b::c", back)]);
        let found = cycle(&two.graph()).expect(back);
        assert_eq!(found.len(), 3, "{back}");
    }
    // Neither in comments and texts, nor in tests.
    for no in ["// use crate::a;", "f(\"crate::a\");", "#[cfg(test)]\nmod tests { use crate::a; }"]
    {
        let two = sources(&[root, ("a", "use crate::b;"), ("b", no)]);
        assert_eq!(cycle(&two.graph()), None, "{no}");
    }
}
