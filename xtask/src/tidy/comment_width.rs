//! Comments are as wide as the code, so that both can be read in the same window.

use super::Finding;
use crate::repo::TextFile;

/// `max_width` of rustfmt.toml.
const WIDTH_MAX: usize = 110;

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.is(&["rs"]) {
        return Vec::new();
    }
    let wide =
        file.text.lines().zip(1..).filter(|(line, _)| is_comment(line) && line.chars().count() > WIDTH_MAX);
    let judge = |(line, number): (&str, usize)| {
        let problem = format!("a comment of {} columns", line.chars().count());
        Finding::violation(&file.path, number, problem, format!("wrap it at {WIDTH_MAX}"))
    };
    wide.map(judge).collect()
}

/// A table row and an address cannot be wrapped.
fn is_comment(line: &str) -> bool {
    let Some(text) = line.trim_start().strip_prefix("//") else { return false };
    let text = text.trim_start_matches(['/', '!']).trim_start();
    !text.starts_with('|') && !text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&TextFile::new("a.rs", text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_comment_that_is_wider_than_the_code_fails() {
        let wide = "word ".repeat(23);
        assert_eq!(lines(&format!("// short\n    /// {wide}")), [2]);
    }

    #[test]
    fn code_tables_and_addresses_pass() {
        let wide = "word ".repeat(23);
        let none: [usize; 0] = [];
        assert_eq!(
            lines(&format!("let a = \"{wide}\";\n/// | {wide} |\n// {wide} https://example.org")),
            none
        );
    }
}
