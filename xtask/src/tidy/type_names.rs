//! A type name means one thing: searching for it finds one definition in its crate, and few crates share one.

use std::collections::{BTreeMap, BTreeSet};

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

/// Aliases that have the name of a type of their crate, since only one of the two is compiled.
const ALTERNATIVES: &[&str] = &["Fleet", "FleetArgs", "Forwarded", "KeyReader", "SizeChanges"];

/// Names that several crates export, each for its own idea. The list only gets shorter: a new type has a name
/// of its own.
const SHARED: &str = "\
    Action Agent AgentOutput AnsweredBy Archive Ask BatchAnswer Block Blocks ChangedInputs Choice \
    Content Conversation Cursor Delivery DenyAll Details Dialect Emit Entry ErrorKind Event Exit Failure \
    Finding Format Ids Input Kind Lane Line Lines ListedSession Memory MemoryStore Message News \
    Notification Novelty Opaque Origin Page Peer PermissionAsk Plan Process Progress ProgressSource \
    Prompt PushKeys Query Reach Refused RemoteServer Replay Reply Report Request Response Role Rule Scope Script \
    Server Session SessionState SessionStatus Sessions Settings Setup Signal SlashCommand Snapshot \
    Status Stop StoredSession Style Subscribed Summary Table Thinking ToolCall Transcript Turn TurnId \
    Usage Verdict View";

const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// A published page whose code is compiled as it is there.
const PUBLISHED_PAGE: &str = "crates/protocol/tests/seed_000/page.rs";

/// The places that define types, by crate and name.
type Definitions<'a> = BTreeMap<(String, String), Vec<(&'a str, usize)>>;

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let (mut definitions, mut exported) = (Definitions::new(), Definitions::new());
    for file in files.iter().filter(|file| file.is(&["rs"]) && !source::is_test_path(&file.path)) {
        let Some(crate_name) = crate_of(&file.path) else { continue };
        for Definition { name, line, is_exported } in types(&source::without_tests(&file.code)) {
            let key = (crate_name.to_owned(), name);
            if is_exported {
                exported.entry(key.clone()).or_default().push((&file.path, line));
            }
            definitions.entry(key).or_default().push((&file.path, line));
        }
    }
    let mut found = shadowing_aliases(files, &definitions);
    found.extend(repeated_in_tests(files, &definitions));
    found.extend(shared(exported, files.iter().find(|file| file.path.ends_with("tidy/type_names.rs"))));
    definitions
        .retain(|(_, name), places| places.len() > 1 && !EXCEPTIONS.iter().any(|(word, _)| word == name));
    found.extend(definitions.into_iter().map(|((_, name), places)| finding(&name, &places)));
    found
}

/// Names that several crates export. `list` is the file that has [`SHARED`], if it is among those checked.
fn shared(exported: Definitions<'_>, list: Option<&TextFile>) -> Vec<Finding> {
    let mut by_name: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for ((_, name), places) in exported {
        by_name.entry(name).or_default().extend(places.first());
    }
    by_name.retain(|name, places| places.len() > 1 && !EXCEPTIONS.iter().any(|(word, _)| word == name));
    let new = by_name.iter().filter(|(name, _)| !is_listed(name));
    let mut found: Vec<Finding> = new.map(|(name, places)| finding(name, places)).collect();
    if let Some(list) = list {
        let single = SHARED.split_whitespace().filter(|name| !by_name.contains_key(*name));
        found.extend(single.map(|name| {
            let problem = format!("`{name}` is in the list of shared names, and is not shared any more");
            Finding::violation(&list.path, 1, problem, "remove it from the list")
        }));
    }
    found
}

/// Types of a crate's integration tests that have the name of a type which they test.
fn repeated_in_tests(files: &[TextFile], definitions: &Definitions<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is(&["rs"]) && file.path != PUBLISHED_PAGE) {
        let Some((crate_name, path)) =
            file.path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        for (line, number) in file.code.lines().zip(1..).filter(|_| path.starts_with("tests/")) {
            let name = type_name(line).or_else(|| after_keyword(line));
            let places = name.and_then(|name| definitions.get(&(crate_name.to_owned(), name.to_owned())));
            if let (Some(name), Some([(defined, _), ..])) = (name, places.map(Vec::as_slice)) {
                let problem = format!("`{name}` is also defined in {defined}");
                let hint = "name the type after what it does in the test";
                found.push(Finding::violation(&file.path, number, problem, hint));
            }
        }
    }
    found
}

fn is_listed(name: &str) -> bool {
    SHARED.split_whitespace().any(|listed| listed == name)
}

/// Imports under a name that another type of the crate has.
fn shadowing_aliases(files: &[TextFile], definitions: &Definitions<'_>) -> Vec<Finding> {
    let known: BTreeSet<(&str, &str)> =
        definitions.keys().map(|(crate_name, name)| (crate_name.as_str(), name.as_str())).collect();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.is(&["rs"])) {
        let Some(crate_name) = crate_of(&file.path) else { continue };
        for (line, number) in file.code.lines().zip(1..) {
            let shadows =
                |alias: &str| known.contains(&(crate_name, alias)) && !ALTERNATIVES.contains(&alias);
            for alias in aliases(line).filter(|alias| shadows(alias)) {
                let problem =
                    format!("the import is renamed to `{alias}`, which is another type of the crate");
                let hint = "import the module, or rename the other type";
                found.push(Finding::violation(&file.path, number, problem, hint));
            }
        }
    }
    found
}

/// The new names of imports, as in `use a::B as C`. Only an import has nothing but names, braces and commas;
/// other lines with `as` are casts and qualified paths.
fn aliases(line: &str) -> impl Iterator<Item = &str> {
    let is_import = line.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || "_:{},;".contains(c));
    let renamed = line.split(" as ").skip(1).filter(move |_| is_import);
    let names = renamed.map(|rest| rest.split([',', ';', '}']).next().unwrap_or(rest).trim());
    names.filter(|name| name.starts_with(|c: char| c.is_uppercase()))
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

/// A type that other modules can see.
struct Definition {
    name: String,
    line: usize,
    /// True if other crates can see it too.
    is_exported: bool,
}

/// The types that other modules can see. One that another platform's build replaces is the same type.
fn types(code: &str) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut before = "";
    for (line, number) in code.lines().zip(1..) {
        if !before.trim_start().starts_with("#[cfg(not(") {
            let is_exported = line.trim_start().starts_with("pub ");
            let definition = |name: &str| Definition { name: name.to_owned(), line: number, is_exported };
            found.extend(type_name(line).map(definition));
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
    after_keyword(rest.strip_prefix(' ')?)
}

/// The name after `struct` and the like at the start of a text.
fn after_keyword(text: &str) -> Option<&str> {
    let (keyword, rest) = text.split_once(' ')?;
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
    fn a_name_that_two_crates_export_fails() {
        let files = [("crates/a/src/x.rs", "pub struct Lens;"), ("crates/b/src/x.rs", "pub struct Lens;")];
        assert_eq!(problems(&files), ["`Lens` is also defined in crates/a/src/x.rs"]);
    }

    #[test]
    fn an_import_under_the_name_of_another_type_fails() {
        let files = [
            ("crates/a/src/x.rs", "pub(crate) struct Lens;\nuse b::Eye as Lens;\nuse b::Ear as Sound;"),
            ("crates/a/src/y.rs", "let x = <Eye as Lens>::new();\nlet y = x as Lens;"),
        ];
        assert_eq!(problems(&files), ["the import is renamed to `Lens`, which is another type of the crate"]);
    }

    #[test]
    fn a_type_of_a_test_with_the_name_of_what_it_tests_fails() {
        let files = [
            ("crates/a/src/x.rs", "pub(crate) struct Lens;"),
            ("crates/a/tests/y.rs", "struct Lens;\nstruct Glass;"),
            ("crates/b/tests/y.rs", "struct Lens;"),
        ];
        assert_eq!(problems(&files), ["`Lens` is also defined in crates/a/src/x.rs"]);
    }

    #[test]
    fn private_types_tests_and_platforms_pass() {
        let files = [
            ("crates/a/src/x.rs", "pub struct Place;\npub struct Error;"),
            (
                "crates/a/src/y.rs",
                "struct Place;\npub struct Error;\n#[cfg(test)]\nmod tests { pub struct Place; }",
            ),
            ("crates/a/src/z.rs", "#[cfg(not(unix))]\npub struct Place;"),
            ("crates/b/src/x.rs", "pub(crate) struct Place;"),
        ];
        assert!(problems(&files).is_empty());
    }
}
