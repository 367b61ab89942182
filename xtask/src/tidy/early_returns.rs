//! No test returns before its end: it would pass without checking anything.
//!
//! A test that needs a program, a user or a folder that may be missing fails without it, or is listed here
//! with the reason.

use super::Finding;
use crate::repo::TextFile;
use crate::source;

const USERS: &str = "crates/cli/tests/serve/users.rs";
const AS_ROOT: &str = "only root can act as another user";

/// Tests that may return early, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/cli/tests/installation.rs", "systemd_accepts_the_unit", "only systemd can judge its files"),
    (USERS, "t3_another_user_gets_neither_the_token_nor_the_socket_nor_an_answer", AS_ROOT),
    (USERS, "k21_without_a_socket_another_user_cannot_use_the_admin_token", AS_ROOT),
    (USERS, "t3_a_data_folder_of_somebody_else_is_refused", AS_ROOT),
    (
        "crates/transcript/tests/agents/opencode.rs",
        "writer_process",
        "it is the second process of another test",
    ),
];

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is(&["rs"]) {
        return Vec::new();
    }
    let mut excused: Vec<&str> =
        EXCEPTIONS.iter().filter(|(path, ..)| *path == file.path).map(|(_, name, _)| *name).collect();
    let mut found = Vec::new();
    for (name, at, body) in tests(&file.code) {
        let Some(early) = early_return(body) else { continue };
        if excused.contains(&name) {
            excused.retain(|excused| *excused != name);
            continue;
        }
        let line = file.code[..at + early].lines().count();
        let advice = "let it fail, or always give it something to check";
        found.push(Finding::violation(&file.path, line, format!("`{name}` returns early"), advice));
    }
    let unneeded = excused.iter().map(|name| {
        let problem = format!("`{name}` does not return early");
        Finding::violation(&file.path, 1, problem, "remove its exception from the rule `early_returns`")
    });
    found.extend(unneeded);
    found
}

/// The name of each test, the position of its body, and the body.
fn tests(code: &str) -> impl Iterator<Item = (&str, usize, &str)> {
    let attributes =
        ["#[test]", "#[tokio::test"].into_iter().flat_map(|attribute| code.match_indices(attribute));
    attributes.filter_map(|(attribute, _)| {
        let name_at = attribute + code[attribute..].find("fn ")? + 3;
        let name = code[name_at..].split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
        let end = source::item_end(code.as_bytes(), name_at);
        let body_at = name_at + code[name_at..end].find('{')?;
        Some((name, body_at, &code[body_at..end]))
    })
}

/// Position of a `return` that ends the test, and not only a closure or an async block in it.
fn early_return(body: &str) -> Option<usize> {
    let is_bare = |at: usize| {
        let after = body[at + "return".len()..].trim_start();
        let apart = !body[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        apart && (after.starts_with([';', '}']) || after.starts_with("Ok(())"))
    };
    body.match_indices("return").map(|(at, _)| at).find(|at| is_bare(*at) && !is_inside_another(&body[..*at]))
}

/// True if the text ends inside a closure or an async block.
fn is_inside_another(text: &str) -> bool {
    let mut blocks = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => {
                let before = text[..at].trim_end();
                blocks.push(["|", "async", "async move"].iter().any(|opener| before.ends_with(opener)));
            }
            b'}' => drop(blocks.pop()),
            _ => {}
        }
    }
    blocks.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&TextFile::new(path, text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_test_that_returns_early_fails() {
        let text = "#[test]\nfn a() {\n    let Some(b) = c() else {\n        return;\n    };\n}\n";
        assert_eq!(lines("a.rs", text), [4]);
        assert_eq!(lines("a.rs", "#[tokio::test]\nasync fn a() {\n    if b { return }\n}"), [3]);
        assert_eq!(lines("a.rs", "#[test]\nfn a() -> R {\n    if b { return Ok(()); }\n    Ok(())\n}"), [3]);
    }

    #[test]
    fn closures_async_blocks_and_helpers_may_return() {
        let closure = "#[test]\nfn a() { each(|line| { if line.is_empty() { return; } }); }";
        let block = "#[test]\nfn a() { let b = async move { loop { return; } }; }";
        for text in [closure, block, "fn a() { if b { return; } }", "#[test]\nfn a() { early_return(); }"] {
            assert_eq!(lines("a.rs", text), [0; 0], "{text}");
        }
    }

    #[test]
    fn an_exception_that_is_not_needed_fails() {
        let (path, name, _) = EXCEPTIONS[0];
        assert_eq!(lines(path, &format!("#[test]\nfn {name}() {{ if b {{ return; }} }}")), [0; 0]);
        assert_eq!(lines(path, "#[test]\nfn other() {}"), [1]);
    }
}
