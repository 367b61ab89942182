//! A lint is disabled with `#[expect(…, reason = "…")]`, never with `#[allow(…)]`.
//!
//! An expectation reports itself once it is no longer needed, and the reason lets the next reader judge it.

use super::Finding;
use crate::repo::TextFile;
use crate::source;

const ADVICE: &str = "write `#[expect(<lint>, reason = \"…\")]`";

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    if source::is_generated(&file.text) {
        return Vec::new();
    }
    attributes(&file.code).filter_map(|(line, body)| judge(&file.path, line, body)).collect()
}

fn judge(path: &str, line: usize, body: &str) -> Option<Finding> {
    // `cfg_attr(test, allow(…))` sets a lint too.
    let sets = |lint_level: &str| body.starts_with(lint_level) || body.contains(&format!(", {lint_level}"));
    if sets("allow(") {
        Some(Finding::violation(path, line, "`allow` disables a lint permanently", ADVICE))
    } else if sets("expect(") && !body.contains("reason =") {
        Some(Finding::violation(path, line, "`expect` gives no reason", ADVICE))
    } else {
        None
    }
}

/// Every attribute with its line and its content, `allow(dead_code)` for `#![allow(dead_code)]`.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let body = code[at + 1..].trim_start_matches('!').strip_prefix('[')?;
        let line = code[..at].matches('\n').count() + 1;
        Some((line, body[..closing(body)].trim_start()))
    })
}

/// Position of the bracket that closes an open one.
fn closing(body: &str) -> usize {
    let mut depth = 1;
    let closes = |(_, c): &(usize, char)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    body.char_indices().find(closes).map_or(body.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(text: &str) -> Vec<usize> {
        check(&TextFile::new("a.rs", text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn allow_and_unexplained_expect_fail() {
        assert_eq!(lines("#![allow(dead_code)]\n#[allow(unused)]\nfn a() {}"), [1, 2]);
        assert_eq!(lines("#[cfg_attr(test, allow(unused))]\nfn a() {}"), [1]);
        assert_eq!(lines("#[expect(unused)]\nfn a() {}"), [1]);
    }

    #[test]
    fn explained_expect_comments_and_generated_files_pass() {
        assert_eq!(
            lines("#[expect(\n    unused,\n    reason = \"the trait asks for it\"\n)]\nfn a() {}"),
            NONE
        );
        assert_eq!(lines("// #[allow(unused)]\nconst A: &str = \"#[allow(unused)]\";"), NONE);
        assert_eq!(lines("// @generated\n#![allow(unused)]"), NONE);
        assert_eq!(lines("#[derive(Debug)]\nstruct A([u8; 3]);"), NONE);
    }
}
