//! No test is disabled, empty or trivially true, and no code is left unwritten.
//!
//! A disabled test looks like coverage; a test that asserts the wrong result, with a comment, documents the
//! defect.

use super::Finding;
use crate::repo::TextFile;
use crate::source;

const RUST: &[(&str, &str)] = &[
    ("#[ignore", "assert the current behaviour and describe the correct one in a comment"),
    ("todo!(", "write it, or return an error that says what is missing"),
    ("unimplemented!(", "write it, or return an error that says what is missing"),
    ("assert!(true)", "assert something that can fail"),
];

const TYPESCRIPT: &[(&str, &str)] = &[
    (".skip(", "assert the current behaviour and describe the correct one in a comment"),
    (".only(", "let the other tests run too"),
];

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    if file.is(&["rs"]) {
        find(&file.path, &file.code, RUST)
    } else if is_typescript_test(file) {
        find(&file.path, &file.text, TYPESCRIPT)
    } else {
        Vec::new()
    }
}

fn find(path: &str, code: &str, table: &[(&str, &str)]) -> Vec<Finding> {
    let row = |(pattern, advice): &(&str, &str)| {
        let found = source::hits(code, &[pattern]).into_iter();
        let judge = |(line, _)| Finding::violation(path, line, format!("`{pattern}`"), *advice);
        found.map(judge).collect::<Vec<_>>()
    };
    table.iter().flat_map(row).collect()
}

fn is_typescript_test(file: &TextFile) -> bool {
    let named = file.path.contains(".test.") || file.path.contains(".spec.");
    file.is(&["ts", "tsx"]) && (named || source::is_test_path(&file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&TextFile::new(path, text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn switched_off_and_empty_tests_fail() {
        let text = "#[ignore = \"slow\"]\nassert!(true);\nfn a() { todo!() }";
        assert_eq!(lines("a.rs", text), [1, 3, 2]);
        assert_eq!(lines("web/a.test.ts", "it.skip('a', b)\nit.only('c', d)"), [1, 2]);
    }

    #[test]
    fn words_in_strings_comments_and_iterators_pass() {
        assert_eq!(lines("a.rs", "// todo!()\nlet a = \"#[ignore]\";\nb.iter().skip(1);"), NONE);
        assert_eq!(lines("web/a.ts", "list.skip(1)"), NONE);
    }
}
