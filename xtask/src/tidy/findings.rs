//! `docs/findings.md` and `docs/findings-index.md` list the existing tests; rows without a test give a note.

use super::Finding;
use crate::findings::{PAGE, index, open_rows, tests, written};
use crate::repo::TextFile;

/// The advice for both pages.
const COMMAND: &str = "cargo run -p xtask -- findings";

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Finding::violation(PAGE, 1, "the page is missing", "restore it")];
    };
    let mut found = Vec::new();
    if written(&page.text, &tests(files)) != page.text {
        found.push(Finding::violation(PAGE, 1, "the listed tests differ from the existing ones", COMMAND));
    }
    if !files.iter().any(|file| file.path == index::PAGE && file.text == index::page(files)) {
        let problem = "the index of test numbers differs from the existing tests";
        found.push(Finding::violation(index::PAGE, 1, problem, COMMAND));
    }
    let open = open_rows(&page.text);
    if !open.is_empty() {
        let problem = format!("rows without a test: {}", open.join(" "));
        found.push(Finding::note(PAGE, 1, problem, "fix the defect, and name a test after the row"));
    }
    found
}
