//! Prose names the actor (user, client, subscriber, process) instead of "somebody", "nobody" or "whoever".
//!
//! Some lines need one of these words: a fixture, an address, a person who cannot be named. The limit leaves
//! room for them.

use super::Finding;
use crate::repo::TextFile;

const WORDS: [&str; 3] = ["somebody", "nobody", "whoever"];
const LINES_MAX: usize = 20;

pub(crate) fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for file in files.iter().filter(|file| is_for_readers(&file.path)) {
        let lines = file.text.lines().zip(1..).filter(|(line, _)| has_word(line));
        found.extend(lines.map(|(_, number)| (file.path.as_str(), number)));
    }
    if found.len() <= LINES_MAX {
        return Vec::new();
    }
    let problem =
        format!("one of {} lines that do not name the actor; the limit is {LINES_MAX}", found.len());
    let judge =
        |(path, line)| Finding::violation(path, line, problem.clone(), "name the actor in some of them");
    found.into_iter().map(judge).collect()
}

fn is_for_readers(path: &str) -> bool {
    let folders = ["crates/", "web/", "docs/"];
    folders.iter().any(|folder| path.starts_with(folder)) || path == "README.md" || path == "ARCHITECTURE.md"
}

fn has_word(line: &str) -> bool {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, lines: usize) -> usize {
        check(&[TextFile::new(path, &"Nobody reads it.\n".repeat(lines))]).len()
    }

    #[test]
    fn more_lines_than_the_limit_fail() {
        assert_eq!((count("docs/a.md", 20), count("docs/a.md", 21)), (0, 21));
        assert_eq!(count("xtask/src/a.rs", 30), 0, "rules may name the words");
    }

    #[test]
    fn whole_words_count() {
        assert!(has_word("what nobody-asked for"));
        assert!(!has_word("no_body, nobodys and NOBODY_ADDRESS"));
    }
}
