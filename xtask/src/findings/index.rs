//! `docs/findings-index.md`: the tests of every number that is not a row of `docs/findings.md`.
//!
//! A number is a part of a test's name: `f9_…` is F9, `t12_…` is T12, `s0_17_…` is S0.17 and `promise_5_…` is
//! "promise 5". A test with several numbers has a line for each.

use super::names_in;
use crate::repo::TextFile;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The generated page.
pub(crate) const PAGE: &str = "docs/findings-index.md";

const INTRODUCTION: &str = "\
# Numbers in names of tests

Some names of tests begin with a number, which says what the test is for; [CONTRIBUTING.md](../CONTRIBUTING.md#how-tests-are-named) explains the kinds.
Numbers with K, P, C, D and R are rows of [findings.md](findings.md); this page lists the tests of all others.

`cargo run -p xtask -- findings` writes this page from the names of the tests, and `tidy` compares it.
";

/// The kinds of numbers, in the order of the page: word before the number, title, and where it is defined.
const KINDS: [(&str, &str, &str); 6] = [
    (
        "f",
        "Faults",
        "Failures that users of similar programs have reported.
The comment above a test describes the failure; [parity.md](parity.md#faults-without-a-test-of-their-own) lists those without a test.",
    ),
    ("t", "Threats", "Rows of the table of [security.md](security.md)."),
    (
        "s",
        "Statements of the seeds",
        "S0.17 is statement 17 of seed 0; [CONTRIBUTING.md](../CONTRIBUTING.md#how-tests-are-named) has the table of seeds.",
    ),
    (
        "promise",
        "Promises",
        "Guarantees of the server; the test and its comment say what is guaranteed.",
    ),
    (
        "contradiction",
        "Contradictions",
        "Contradiction 3.5 is the fifth point in which seed 3 disagrees with itself or with the real CLI.
The comment above the test says what we do.",
    ),
    (
        "m",
        "Measurements",
        "Behaviour of the real CLI that was measured; the comment above a test describes what follows from it.",
    ),
];

/// The text of the page.
pub(crate) fn page(files: &[TextFile]) -> String {
    let mut lines = BTreeSet::new();
    for file in files {
        for name in names_in(file) {
            for number in numbers_of(name) {
                lines.insert((number, name, file.path.as_str()));
            }
        }
    }
    let mut page = INTRODUCTION.to_owned();
    for (kind, (_, title, definition)) in KINDS.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = write!(page, "\n## {title}\n\n{definition}\n\n| number | test | file |\n|---|---|---|\n");
        for (number, name, path) in lines.iter().filter(|(number, ..)| number.kind == kind) {
            let _ = writeln!(page, "| {} | `{name}` | `{path}` |", number.text());
        }
    }
    page
}

/// A number, which sorts by its kind and then as a number.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TestNumber {
    /// Row in [`KINDS`].
    kind: usize,
    number: u32,
    /// Second number of a statement of a seed and of a contradiction.
    part: Option<u32>,
}

impl TestNumber {
    /// As people write it: `F9`, `S0.17`, `promise 5`.
    fn text(&self) -> String {
        let (word, number) = (KINDS[self.kind].0, self.number);
        let part = self.part.map_or(String::new(), |part| format!(".{part}"));
        match word.len() {
            1 => format!("{}{number}{part}", word.to_uppercase()),
            _ => format!("{word} {number}{part}"),
        }
    }
}

/// The numbers at the beginning of a name, without the rows of findings among them.
fn numbers_of(name: &str) -> Vec<TestNumber> {
    let mut words = name.split(['_', ' ']).peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        if !super::rows_of(word).is_empty() {
            continue;
        }
        let letters = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let Some(kind) = KINDS.iter().position(|(before, ..)| *before == letters) else { break };
        let mut next_number = || words.next_if(|word| word.parse::<u32>().is_ok())?.parse().ok();
        let number = if letters.len() == 1 { word[1..].parse().ok() } else { next_number() };
        let Some(number) = number else { break };
        let part = if ["s", "contradiction"].contains(&letters) { next_number() } else { None };
        found.push(TestNumber { kind, number, part });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str) -> Vec<String> {
        numbers_of(name).iter().map(TestNumber::text).collect()
    }

    #[test]
    fn numbers_at_the_beginning_of_a_name_are_read() {
        assert_eq!(texts("f92_f93_streams_miss_nothing"), ["F92", "F93"]);
        assert_eq!(texts("s0_17_input_is_any_json"), ["S0.17"]);
        assert_eq!(texts("p13_s2_29_a_title"), ["S2.29"]);
        assert_eq!(texts("f109_k30_a_flipped_bit"), ["F109"]);
        assert_eq!(texts("promise_5_of_2_answers_one_counts"), ["promise 5"]);
        assert_eq!(texts("contradiction_3_5_always"), ["contradiction 3.5"]);
    }

    #[test]
    fn other_names_have_no_number() {
        for name in ["k1_a_hole", "base64_run", "seed_call", "promise_is_kept", "s_1_2", "f_9", "a_t1_b", "t"]
        {
            assert_eq!(texts(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn the_page_has_a_line_for_each_number_of_a_test_in_numeric_order() {
        let files = [
            TextFile::new("b.rs", "fn f10_late() {}\n// fn f1_in_a_comment() {}"),
            TextFile::new("a.rs", "fn t4_f9_early() {}\nfn helper() {}"),
        ];
        let page = page(&files);
        let rows: Vec<&str> = page.lines().filter(|line| line.ends_with(".rs` |")).collect();
        assert_eq!(
            rows,
            [
                "| F9 | `t4_f9_early` | `a.rs` |",
                "| F10 | `f10_late` | `b.rs` |",
                "| T4 | `t4_f9_early` | `a.rs` |"
            ]
        );
    }
}
