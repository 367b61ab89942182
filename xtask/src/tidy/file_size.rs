//! Files stay small enough to read in one sitting.

use super::Finding;
use crate::repo::TextFile;
use crate::source;

/// Above this number of lines the file probably holds two things with different names.
const LINES_NOTED: usize = 400;

/// Above this number of lines only a flat list of like entries stays readable.
const LINES_MAX: usize = 1000;

/// Marks such a list, near the top of the file.
const FLAT_TABLE: &str = "// tidy: flat table";

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    let lines = file.text.lines().count();
    let exempt =
        source::is_generated(&file.text) || file.text.lines().take(20).any(|line| line.trim() == FLAT_TABLE);
    if lines <= LINES_NOTED || exempt || !file.is(&["rs", "ts", "tsx"]) {
        return Vec::new();
    }
    let problem = format!("{lines} lines");
    vec![if lines > LINES_MAX {
        let advice = format!("split it by the things it names; a flat table says `{FLAT_TABLE}` at its top");
        Finding::violation(&file.path, LINES_MAX, problem, advice)
    } else {
        Finding::note(
            &file.path,
            LINES_NOTED,
            problem,
            "consider splitting it if it holds more than one thing",
        )
    }]
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    fn levels(path: &str, head: &str, lines: usize) -> Vec<Level> {
        let file = TextFile::new(path, &format!("{head}{}", "x\n".repeat(lines)));
        check(&file).iter().map(|finding| finding.level).collect()
    }

    #[test]
    fn large_files_are_noted_and_huge_ones_fail() {
        assert_eq!(levels("a.rs", "", 400), []);
        assert_eq!(levels("a.rs", "", 401), [Level::Note]);
        assert_eq!(levels("web/a.tsx", "", 1001), [Level::Violation]);
    }

    #[test]
    fn flat_tables_generated_files_and_other_languages_pass() {
        assert_eq!(levels("a.rs", "//! Kinds.\n// tidy: flat table\n", 2000), []);
        assert_eq!(levels("a.ts", "// @generated\n", 2000), []);
        assert_eq!(levels("a.json", "", 2000), []);
    }
}
