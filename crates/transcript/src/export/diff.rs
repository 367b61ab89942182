//! Diffs of edits.

use tidings_protocol::tools::{EditInput, Hunk, MultiEditOutput, ToolInput, ToolOutput};

/// Lines of a unified diff, each with its sign.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Diff {
    pub(super) path: String,
    pub(super) lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffLine {
    /// Header of a hunk, with line numbers.
    Hunk(String),
    Same(String),
    Added(String),
    Removed(String),
}

impl DiffLine {
    /// A line of a unified diff.
    fn parse(line: &str) -> Self {
        match line.split_at_checked(1) {
            Some(("+", text)) => DiffLine::Added(text.to_owned()),
            Some(("-", text)) => DiffLine::Removed(text.to_owned()),
            Some((" ", text)) => DiffLine::Same(text.to_owned()),
            Some(("@", _)) => DiffLine::Hunk(line.to_owned()),
            _ => DiffLine::Same(line.to_owned()),
        }
    }

    /// The sign and the text of the line.
    pub(super) fn parts(&self) -> (&'static str, &str) {
        match self {
            DiffLine::Hunk(text) => ("", text),
            DiffLine::Same(text) => (" ", text),
            DiffLine::Added(text) => ("+", text),
            DiffLine::Removed(text) => ("-", text),
        }
    }
}

impl Diff {
    pub(super) fn added(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line, DiffLine::Added(_))).count()
    }

    pub(super) fn removed(&self) -> usize {
        self.lines.iter().filter(|line| matches!(line, DiffLine::Removed(_))).count()
    }

    /// Returns true if the diff contains a text line by line, in its old or its new version.
    pub(super) fn shows(&self, text: &str) -> bool {
        let side = |is_left_out: fn(&DiffLine) -> bool| {
            let lines = self.lines.iter().filter(|line| !is_left_out(line));
            lines.map(|line| line.parts().1).collect::<Vec<_>>().join("\n")
        };
        let text = text.strip_suffix('\n').unwrap_or(text);
        side(|line| matches!(line, DiffLine::Added(_))).contains(text)
            || side(|line| matches!(line, DiffLine::Removed(_))).contains(text)
    }

    /// `+3 −1`, for a summary.
    pub(super) fn counts(&self) -> String {
        format!("+{} −{}", self.added(), self.removed())
    }
}

/// The diff of a call: from its output, or else from its input.
pub(super) fn diff(input: Option<&ToolInput>, output: Option<&ToolOutput>) -> Option<Diff> {
    let from_output = output.and_then(|output| match output {
        ToolOutput::Edit(edit) => {
            let hunks = edit.structured_patch.as_deref().filter(|hunks| !hunks.is_empty());
            match (hunks, &edit.old_string, &edit.new_string) {
                (Some(hunks), ..) => Some(of_hunks(&edit.file_path, hunks)),
                (None, Some(old), Some(new)) => Some(of_texts(&edit.file_path, old, new)),
                _ => None,
            }
        }
        ToolOutput::MultiEdit(MultiEditOutput { file_path, structured_patch: Some(hunks), .. }) => {
            Some(of_hunks(file_path, hunks))
        }
        ToolOutput::Write(write) => {
            let hunks = write.structured_patch.as_deref().filter(|hunks| !hunks.is_empty());
            match (hunks, &write.original_file, &write.content) {
                (Some(hunks), ..) => Some(of_hunks(&write.file_path, hunks)),
                (None, Some(old), Some(new)) => Some(of_texts(&write.file_path, old, new)),
                (None, None, Some(new)) => Some(of_new(&write.file_path, new)),
                _ => None,
            }
        }
        _ => None,
    });
    from_output.or_else(|| match input? {
        ToolInput::Edit(EditInput { file_path, old_string: Some(old), new_string: Some(new), .. }) => {
            Some(of_texts(file_path, old, new))
        }
        ToolInput::Write(write) => write.content.as_ref().map(|content| of_new(&write.file_path, content)),
        ToolInput::MultiEdit(edit) => {
            let mut whole = Diff { path: edit.file_path.clone(), lines: Vec::new() };
            for part in edit.edits.iter().flatten() {
                if let (Some(old), Some(new)) = (&part.old_string, &part.new_string) {
                    whole.lines.extend(of_texts(&edit.file_path, old, new).lines);
                }
            }
            Some(whole)
        }
        _ => None,
    })
}

fn of_hunks(path: &str, hunks: &[Hunk]) -> Diff {
    let mut lines = Vec::new();
    for hunk in hunks {
        let number = |number: Option<u64>| number.unwrap_or_default();
        lines.push(DiffLine::Hunk(format!(
            "@@ -{},{} +{},{} @@",
            number(hunk.old_start),
            number(hunk.old_lines),
            number(hunk.new_start),
            number(hunk.new_lines)
        )));
        lines.extend(hunk.lines.iter().map(|line| DiffLine::parse(line)));
    }
    Diff { path: path.to_owned(), lines }
}

fn of_new(path: &str, text: &str) -> Diff {
    Diff { path: path.to_owned(), lines: text.lines().map(|line| DiffLine::Added(line.to_owned())).collect() }
}

#[cfg(feature = "html")]
fn of_texts(path: &str, old: &str, new: &str) -> Diff {
    use crate::limits::DIFF_BYTES_MAX;

    if old.len() + new.len() > DIFF_BYTES_MAX {
        let mut diff = of_new(path, new);
        let removed = old.lines().map(|line| DiffLine::Removed(line.to_owned()));
        diff.lines.splice(0..0, removed);
        return diff;
    }
    let lines = unified_diff(old, new, 3).lines().map(DiffLine::parse).collect();
    Diff { path: path.to_owned(), lines }
}

/// A unified diff of two texts without the names of files. Each change has up to `context` unchanged lines
/// around it.
#[cfg(feature = "html")]
pub fn unified_diff(old: &str, new: &str, context: u16) -> String {
    use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

    // A line break belongs to its line: with and without one, or with `\r`, lines differ.
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let changes = capture_diff_slices(Algorithm::Patience, &old, &new);
    let mut diff = String::new();
    for hunk in group_diff_ops(changes, context.into()) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let before = first.old_range().start..last.old_range().end;
        let after = first.new_range().start..last.new_range().end;
        let (from, to) = (before.start + 1, after.start + 1);
        let header = format!("@@ -{from},{} +{to},{} @@\n", before.len(), after.len());
        diff.push_str(&header);
        for change in hunk {
            if let DiffOp::Equal { .. } = change {
                push(&mut diff, ' ', &old[change.old_range()]);
            } else {
                push(&mut diff, '-', &old[change.old_range()]);
                push(&mut diff, '+', &new[change.new_range()]);
            }
        }
    }
    diff
}

/// Appends lines with a sign in front of each. The last one of a text may have no line break.
#[cfg(feature = "html")]
fn push(diff: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        diff.push(sign);
        diff.push_str(line.strip_suffix('\n').unwrap_or(line));
        diff.push('\n');
    }
}

#[cfg(not(feature = "html"))]
fn of_texts(path: &str, old: &str, new: &str) -> Diff {
    let mut diff = of_new(path, new);
    diff.lines.splice(0..0, old.lines().map(|line| DiffLine::Removed(line.to_owned())));
    diff
}

#[cfg(all(test, feature = "html"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changes_have_the_lines_around_them_and_their_numbers() {
        let lines = |skipped: &[u32]| -> String {
            let numbers = (1..=20).filter(|number| !skipped.contains(number));
            numbers.map(|number| format!("{number}\n")).collect::<Vec<_>>().concat()
        };
        for (old, new, expected) in [
            ("a\n", "a\n", ""),
            ("", "", ""),
            ("", "a\n", "@@ -1,0 +1,1 @@\n+a\n"),
            ("a\n", "", "@@ -1,1 +1,0 @@\n-a\n"),
            ("a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
            ("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n"),
            ("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n"),
            (&lines(&[]), &lines(&[6]), "@@ -4,5 +4,4 @@\n 4\n 5\n-6\n 7\n 8\n"),
            (
                &lines(&[12]),
                &lines(&[6]),
                "@@ -4,5 +4,4 @@\n 4\n 5\n-6\n 7\n 8\n@@ -10,4 +9,5 @@\n 10\n 11\n+12\n 13\n 14\n",
            ),
            (&lines(&[]), &lines(&[6, 9]), "@@ -4,8 +4,6 @@\n 4\n 5\n-6\n 7\n 8\n-9\n 10\n 11\n"),
        ] {
            assert_eq!(unified_diff(old, new, 2), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn an_added_function_is_added_as_a_whole() {
        let old = "fn a() {\n    one();\n}\n\nfn c() {\n    three();\n}\n";
        let new = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n\nfn c() {\n    three();\n}\n";
        let diff = unified_diff(old, new, 0);
        assert_eq!(diff, "@@ -5,0 +5,4 @@\n+fn b() {\n+    two();\n+}\n+\n");
    }

    proptest! {
        #[test]
        fn a_diff_contains_both_texts(
            old in "([abc]\n){0,40}",
            new in "([abc]\n){0,40}",
        ) {
            let diff = unified_diff(&old, &new, u16::MAX);
            let side = |left_out: char| -> String {
                let lines = diff.lines().filter(|line| !line.starts_with(['@', left_out]));
                lines.flat_map(|line| [&line[1..], "\n"]).collect()
            };
            if old == new {
                prop_assert_eq!(diff, "");
            } else {
                prop_assert_eq!(side('+'), old);
                prop_assert_eq!(side('-'), new);
            }
        }
    }
}
