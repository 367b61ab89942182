//! The table "How to add …" of CONTRIBUTING.md names at most three files per row, and all of them exist.

use super::Finding;
use crate::repo::TextFile;

const PAGE: &str = "CONTRIBUTING.md";
const HEADING: &str = "## How to add …";
const FILES_MAX: usize = 3;

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Finding::violation(PAGE, 1, "the page is missing", "restore it")];
    };
    let mut found = Vec::new();
    let mut rows = 0;
    for (line, row) in rows_of(&page.text) {
        rows += 1;
        let paths = paths(row);
        if paths.is_empty() || paths.len() > FILES_MAX {
            let problem = format!("the row names {} files to edit by hand", paths.len());
            let advice = format!("derive the rest from one declaration; the limit is {FILES_MAX}");
            found.push(Finding::violation(PAGE, line, problem, advice));
        }
        let missing = paths.iter().filter(|path| !files.iter().any(|file| file.path == **path));
        found.extend(missing.map(|path| {
            Finding::violation(PAGE, line, format!("`{path}` does not exist"), "name the file as it is now")
        }));
    }
    if rows == 0 {
        found.push(Finding::violation(PAGE, 1, format!("no table under `{HEADING}`"), "restore it"));
    }
    found
}

/// The rows of the table, with the numbers of their lines.
fn rows_of(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = page.lines().enumerate().skip_while(|(_, line)| *line != HEADING).skip(1);
    let section = lines.take_while(|(_, line)| !line.starts_with("## "));
    section.filter(|(_, line)| line.starts_with("| a")).map(|(index, line)| (index + 1, line))
}

/// The paths in the second cell of a row.
fn paths(row: &str) -> Vec<&str> {
    let cell = row.split('|').nth(2).unwrap_or_default();
    cell.split('`').skip(1).step_by(2).filter(|text| text.contains('/')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(rows: &str) -> Vec<String> {
        let page =
            format!("# A\n| a b | `x/y` |\n{HEADING}\n\n| to add | by hand |\n|---|---|\n{rows}\n## B\n");
        let files = ["a/1.rs", "a/2.rs", "a/3.rs", "a/4.rs"].map(|path| TextFile::new(path, ""));
        let files: Vec<TextFile> = files.into_iter().chain([TextFile::new(PAGE, &page)]).collect();
        check(&files).into_iter().map(|finding| finding.problem).collect()
    }

    #[test]
    fn rows_with_up_to_three_existing_files_pass() {
        assert!(problems("| a tool | `a/1.rs` (the `row`), `a/2.rs`, `a/3.rs` | `a/4.rs` |").is_empty());
    }

    #[test]
    fn missing_files_and_long_rows_fail() {
        assert_eq!(problems("| a tool | `a/1.rs`, `a/9.rs` | |"), ["`a/9.rs` does not exist"]);
        let long = "| a tool | `a/1.rs`, `a/2.rs`, `a/3.rs`, `a/4.rs` | |";
        assert_eq!(problems(long), ["the row names 4 files to edit by hand"]);
        assert_eq!(problems("| a tool | nothing | |"), ["the row names 0 files to edit by hand"]);
        assert_eq!(problems(""), [format!("no table under `{HEADING}`")]);
    }
}
