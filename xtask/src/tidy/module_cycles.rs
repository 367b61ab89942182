//! The top-level modules of a crate depend on each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::repo::TextFile;
use crate::source;

/// Crates whose modules may need each other, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("client", "`Error` names the transport's failures, and a handler gets the client that called it"),
    ("protocol", "a frame, its views and its messages are three sides of one value"),
];

/// Modules that count as one, and why: the parts of one actor, which call each other.
const GROUPS: &[(&str, &[&str])] = &[(
    "sessions",
    &[
        "active",
        "backends",
        "delete",
        "entry",
        "observed",
        "reading",
        "requests",
        "running",
        "starting",
        "surviving",
        "view",
        "worktree",
    ],
)];

/// The modules that a module names, and the file and line where it does so first.
type Edges = BTreeMap<String, BTreeMap<String, (String, usize)>>;

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<(&str, &TextFile)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is(&["rs"]) && !source::is_test_path(&file.path)) {
        let Some((name, rest)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        let module = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        crates.entry(name).or_default().push((grouped(name, module), file));
    }
    crates.retain(|name, _| !EXCEPTIONS.iter().any(|(exception, _)| exception == name));
    crates.iter().flat_map(|(name, files)| cycles(&edges(name, files))).collect()
}

/// The module, or the first of the group that it belongs to.
fn grouped<'a>(name: &str, module: &'a str) -> &'a str {
    let group = GROUPS.iter().find(|(of, modules)| *of == name && modules.contains(&module));
    group.map_or(module, |(_, modules)| modules[0])
}

/// Looks at `crate::a::b`, at `crate::{a, b::c}`, and at names that the root of the crate exports again.
fn edges(name: &str, files: &[(&str, &TextFile)]) -> Edges {
    let is_root = |module: &str| module == "lib" || module == "main";
    let modules: BTreeSet<&str> =
        files.iter().map(|(module, _)| *module).filter(|module| !is_root(module)).collect();
    let roots = files.iter().filter(|(module, _)| is_root(module));
    let exported: BTreeMap<String, String> = roots.flat_map(|(_, file)| exports(&file.code)).collect();
    let mut edges = Edges::new();
    for (module, file) in files.iter().filter(|(module, _)| !is_root(module)) {
        for (path, line) in crate_paths(&source::without_tests(&file.code)) {
            let target = grouped(name, exported.get(&path).map_or(path.as_str(), String::as_str));
            if modules.contains(target) && target != *module {
                let targets = edges.entry((*module).to_owned()).or_default();
                targets.entry(target.to_owned()).or_insert_with(|| (file.path.clone(), line));
            }
        }
    }
    edges
}

/// Name and module of what the root exports again: `pub use module::{Name, Other};`.
fn exports(code: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("pub use ") {
        let statement = code[at + "pub use ".len()..].split(';').next().unwrap_or_default();
        let Some((module, names)) = statement.split_once("::") else { continue };
        found.extend(words(names).map(|name| (name.to_owned(), module.trim().to_owned())));
    }
    found
}

/// The first name after each `crate::`, with its line.
fn crate_paths(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let line = code[..at].lines().count().max(1);
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            found.extend(group_heads(group).into_iter().map(|name| (name, line)));
        } else {
            found.extend(words(rest).next().map(|name| (name.to_owned(), line)));
        }
    }
    found
}

/// The first name of each path in `{a::b, c::{d, e}, f}`.
fn group_heads(group: &str) -> Vec<String> {
    let (mut heads, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in group.char_indices() {
        let is_over = c == '}' && depth == 0;
        if is_over || (c == ',' && depth == 0) {
            heads.extend(words(&group[start..at]).next().map(str::to_owned));
            start = at + 1;
        }
        match c {
            _ if is_over => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    heads
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// One finding per pair of modules that reach each other, at the edge that fewest files would miss.
fn cycles(edges: &Edges) -> Vec<Finding> {
    let mut found = Vec::new();
    for (module, targets) in edges {
        for (target, (path, line)) in targets {
            if let Some(back) = way(edges, target, module) {
                let problem = format!("`{module}` needs `{target}`, and {back}");
                let advice = "move what both need into a module below them, or pass it in";
                found.push(Finding::violation(path, *line, problem, advice));
            }
        }
    }
    found
}

/// The shortest way from one module to another, in words.
fn way(edges: &Edges, from: &str, to: &str) -> Option<String> {
    let mut ways: Vec<Vec<&str>> = vec![vec![from]];
    let mut seen = BTreeSet::from([from]);
    let mut at = 0;
    while at < ways.len() {
        let way = ways[at].clone();
        let last = *way.last()?;
        if last == to {
            let steps: Vec<String> =
                way.windows(2).map(|pair| format!("`{}` needs `{}`", pair[0], pair[1])).collect();
            return Some(steps.join(", "));
        }
        for next in edges.get(last).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next) {
                ways.push(way.iter().copied().chain([next.as_str()]).collect());
            }
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> = files.iter().map(|(path, text)| TextFile::new(path, text)).collect();
        check(&files).iter().map(|finding| finding.problem.clone()).collect()
    }

    #[test]
    fn modules_that_need_each_other_over_others_and_exports_fail() {
        let files = [
            ("crates/x/src/lib.rs", "pub use c::Thing;"),
            ("crates/x/src/a/mod.rs", "use crate::{b::One, std};"),
            ("crates/x/src/b.rs", "use crate::Thing;"),
            ("crates/x/src/c.rs", "fn f() { crate::a::g() }"),
        ];
        let expected = [
            "`a` needs `b`, and `b` needs `c`, `c` needs `a`",
            "`b` needs `c`, and `c` needs `a`, `a` needs `b`",
            "`c` needs `a`, and `a` needs `b`, `b` needs `c`",
        ];
        assert_eq!(problems(&files), expected);
    }

    #[test]
    fn one_direction_tests_and_comments_pass() {
        let files = [
            ("crates/x/src/a.rs", "use crate::b::{One, two::Two};\nuse crate::a::own;"),
            ("crates/x/src/b.rs", "// crate::a\n#[cfg(test)]\nmod tests { use crate::a::f; }"),
            ("crates/x/src/b/tests.rs", "use crate::a::f;"),
        ];
        assert!(problems(&files).is_empty());
    }
}
