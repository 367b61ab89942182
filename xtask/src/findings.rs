//! The table of `docs/findings.md`: each row lists the tests that guard a fixed defect.
//!
//! A test belongs to row K1 if its name begins with `k1_` in Rust or Python, or with `k1 ` in a browser case.
//! The name of a test of several rows begins with all of them.

pub(crate) mod index;

use crate::Outcome;
use crate::repo::{self, TextFile};
use std::collections::BTreeMap;

/// The page with the table.
pub(crate) const PAGE: &str = "docs/findings.md";

/// Regenerates the column of tests, and the index of the other numbers.
pub(crate) fn run() -> Outcome {
    let files = repo::files()?;
    let page = files.iter().find(|file| file.path == PAGE).ok_or("docs/findings.md is missing")?;
    let written = written(&page.text, &tests(&files));
    std::fs::write(repo::root().join(PAGE), &written)?;
    std::fs::write(repo::root().join(index::PAGE), index::page(&files))?;
    let open = open_rows(&written);
    println!("findings: {} rows without a test: {}", open.len(), open.join(" "));
    Ok(true)
}

/// The names of tests by row, such as `K1`.
pub(crate) fn tests(files: &[TextFile]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in files.iter().flat_map(names_in) {
        for row in rows_of(name) {
            found.entry(row).or_default().push(name.to_owned());
        }
    }
    for names in found.values_mut() {
        names.sort();
        names.dedup();
    }
    found
}

/// The names of functions in Rust and Python, and of cases in JavaScript and TypeScript.
pub(crate) fn names_in(file: &TextFile) -> Vec<&str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if file.is(&["rs"]) {
        names_after(&file.code, "fn ", is_letter)
    } else if file.is(&["py"]) {
        names_after(&file.text, "def ", is_letter)
    } else if file.path.ends_with(".test.ts") || file.path.ends_with(".test.mjs") {
        let quoted = |quote| names_after(&file.text, &format!("test({quote}"), move |letter| letter != quote);
        [quoted('"'), quoted('`')].concat()
    } else {
        Vec::new()
    }
}

/// The page with the correct column of tests.
pub(crate) fn written(page: &str, tests: &BTreeMap<String, Vec<String>>) -> String {
    let line = |line: &str| match cells(line) {
        Some([row, severity, fault, _]) => {
            let names: Vec<String> = tests
                .get(row)
                .into_iter()
                .flatten()
                .map(|name| format!("`{}`", name.replace('|', "\\|")))
                .collect();
            let names = names.join("<br>");
            let gap = if names.is_empty() { "" } else { " " };
            format!("| {row} | {severity} | {fault} |{gap}{names} |\n")
        }
        None => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

/// The rows of severity 1 to 3 without a test.
pub(crate) fn open_rows(page: &str) -> Vec<&str> {
    let open = |line| match cells(line)? {
        [row, "S1" | "S2" | "S3", _, ""] => Some(row),
        _ => None,
    };
    page.lines().filter_map(open).collect()
}

/// The four cells of a row.
fn cells(line: &str) -> Option<[&str; 4]> {
    let inner = line.strip_prefix("| ")?.strip_suffix('|')?;
    let mut cells = inner.splitn(4, '|').map(str::trim);
    let [row, severity, fault, tests] = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
    (rows_of(&row.to_lowercase()) == [row]).then_some([row, severity, fault, tests])
}

/// Each identifier that follows `before`.
fn names_after<'a>(text: &'a str, before: &str, is_letter: impl Fn(char) -> bool) -> Vec<&'a str> {
    let name = |(at, _)| {
        let rest: &'a str = text.get(at + before.len()..)?;
        rest.get(..rest.find(|letter| !is_letter(letter))?)
    };
    text.match_indices(before).filter_map(name).collect()
}

/// `K1` for `k1_…` and `k1 …`; a name may begin with several rows.
fn rows_of(name: &str) -> Vec<String> {
    let words = name.split(['_', ' ']).map(|word| {
        let is_row = word.starts_with(['k', 'p', 'c', 'd', 'r']) && word.len() > 1;
        (is_row && word.bytes().skip(1).all(|byte| byte.is_ascii_digit())).then(|| word.to_uppercase())
    });
    words.map_while(|row| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| row | severity | fault | tests |\n|---|---|---|---|\n| K1 | S1 | A hole | |\n| P5 | S2 | Old | `gone` |\n| D11 | S4 | Nits | |\n";

    #[test]
    fn a_row_names_its_tests_and_open_rows_are_known() {
        let files = [
            TextFile::new(
                "a.rs",
                "#[test]\nfn k1_a_hole_is_shut() {}\nfn k12_other() {}\n// fn p5_in_a_comment() {}",
            ),
            TextFile::new("e2e/browser/cases/a.test.mjs", "test(\"k1 d11 a hole is shut\", async () => {});"),
        ];
        let page = written(PAGE, &tests(&files));
        assert!(
            page.contains("| K1 | S1 | A hole | `k1 d11 a hole is shut`<br>`k1_a_hole_is_shut` |\n"),
            "{page}"
        );
        assert!(page.contains("| P5 | S2 | Old | |\n"), "{page}");
        assert!(page.contains("| D11 | S4 | Nits | `k1 d11 a hole is shut` |\n"), "{page}");
        assert_eq!(open_rows(&page), ["P5"]);
        assert_eq!(written(&page, &tests(&files)), page);
    }
}
