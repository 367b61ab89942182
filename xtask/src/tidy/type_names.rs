//! A type name means one thing in its crate: searching for it finds one definition.

use std::collections::BTreeMap;

use super::Finding;
use crate::repo::TextFile;
use crate::source;

/// Names that may be defined more than once in a crate, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("Error", "each module with its own failures has one, as in std"),
    ("Options", "the choices of the function beside it"),
    ("Config", "the settings of the part beside it"),
    ("ProcessStop", "one for each kind of system; only one of them is compiled"),
];

const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut definitions: BTreeMap<(String, String), Vec<(&str, usize)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is(&["rs"]) && !source::is_test_path(&file.path)) {
        let Some(crate_name) = crate_of(&file.path) else { continue };
        for (name, line) in types(&source::without_tests(&file.code)) {
            definitions.entry((crate_name.to_owned(), name)).or_default().push((&file.path, line));
        }
    }
    definitions
        .retain(|(_, name), places| places.len() > 1 && !EXCEPTIONS.iter().any(|(word, _)| word == name));
    definitions.into_iter().map(|((_, name), places)| finding(&name, &places)).collect()
}

fn finding(name: &str, places: &[(&str, usize)]) -> Finding {
    let (path, line) = places[places.len() - 1];
    let others: Vec<&str> = places[..places.len() - 1].iter().map(|(path, _)| *path).collect();
    let problem = format!("`{name}` is also defined in {}", others.join(", "));
    Finding::violation(
        path,
        line,
        problem,
        "name the type after what it holds, so that the name alone is enough",
    )
}

fn crate_of(path: &str) -> Option<&str> {
    let (crate_name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    rest.starts_with("src/").then_some(crate_name)
}

/// Name and line of each type that other modules can see. One that another platform's build replaces is the
/// same type.
fn types(code: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut before = "";
    for (line, number) in code.lines().zip(1..) {
        if !before.trim_start().starts_with("#[cfg(not(") {
            found.extend(type_name(line).map(|name| (name.to_owned(), number)));
        }
        before = line;
    }
    found
}

fn type_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    // Only a restriction such as `(crate)` may follow without a space.
    let rest = match rest.strip_prefix('(') {
        Some(restricted) => restricted.split_once(')')?.1,
        None => rest,
    };
    let (keyword, rest) = rest.strip_prefix(' ')?.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    // A macro has no name here.
    KEYWORDS.contains(&keyword).then_some(&rest[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> = files.iter().map(|(path, text)| TextFile::new(path, text)).collect();
        check(&files).iter().map(|finding| finding.problem.clone()).collect()
    }

    #[test]
    fn a_name_that_two_modules_of_a_crate_define_fails() {
        let files = [
            ("crates/a/src/x.rs", "pub(crate) struct Place;"),
            ("crates/a/src/y.rs", "pub enum Place { A }"),
        ];
        assert_eq!(problems(&files), ["`Place` is also defined in crates/a/src/x.rs"]);
    }

    #[test]
    fn other_crates_private_types_tests_and_platforms_pass() {
        let files = [
            ("crates/a/src/x.rs", "pub struct Place;\npub struct Error;"),
            (
                "crates/a/src/y.rs",
                "struct Place;\npub struct Error;\n#[cfg(test)]\nmod tests { pub struct Place; }",
            ),
            ("crates/a/src/z.rs", "#[cfg(not(unix))]\npub struct Place;"),
            ("crates/b/src/x.rs", "pub struct Place;"),
        ];
        assert!(problems(&files).is_empty());
    }
}
