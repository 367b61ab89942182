//! The protocol crate turns bytes into values and back: no I/O, no threads, no async, no clock.
//!
//! So the same bytes always give the same values, and the crate runs wherever Rust runs.

use super::Finding;
use crate::repo::TextFile;
use crate::source;

/// `fs::` besides `std::fs`: `use std::{fs, …}` names the first only where it is used.
const FOREIGN: &[&str] = &[
    "std::fs",
    "fs::",
    "std::net",
    "net::",
    "std::process",
    "std::thread",
    "thread::",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "stdin()",
    "stdout()",
    "stderr()",
    "SystemTime",
    "Instant",
    "tokio",
    "async",
];

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    if !file.path.starts_with("crates/protocol/src/") || source::is_test_path(&file.path) {
        return Vec::new();
    }
    let shipped = source::without_tests(&file.code);
    let judge = |(line, word): (usize, &str)| {
        let problem = format!("`{word}` in the protocol crate");
        Finding::violation(
            &file.path,
            line,
            problem,
            "take bytes or values as parameters; I/O belongs in the crates above",
        )
    };
    source::hits(&shipped, FOREIGN).into_iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&TextFile::new(path, text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn io_threads_async_and_clocks_fail() {
        let text = "use std::{fs, mem};\nfs::read(a);\nInstant::now();\nasync fn a() {}\nstd::io::stdin();";
        assert_eq!(lines("crates/protocol/src/frame.rs", text), [2, 3, 4, 5]);
    }

    #[test]
    fn pure_code_tests_and_other_crates_pass() {
        let text =
            "use std::io::Write;\nuse std::time::Duration;\n// tokio reads it\nstruct Offs;\nlet stdin = 1;";
        assert_eq!(lines("crates/protocol/src/frame.rs", text), NONE);
        let text = "#[cfg(test)]\nmod tests { use std::fs; }";
        assert_eq!(lines("crates/protocol/src/frame.rs", text), NONE);
        assert_eq!(lines("crates/protocol/tests/all.rs", "use std::fs;"), NONE);
        assert_eq!(lines("crates/cli/src/main.rs", "use std::fs;"), NONE);
    }
}
