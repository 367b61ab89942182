//! Shortening of long text to its beginning and end.

/// Number of bytes of a text to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutLimits {
    /// Bytes of the beginning.
    pub(super) head: usize,
    /// Bytes of the end.
    pub(super) tail: usize,
}

impl CutLimits {
    /// No limit.
    pub(super) const UNLIMITED: CutLimits = CutLimits { head: usize::MAX, tail: 0 };
}

/// A text, or its beginning and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut<'t> {
    pub(super) head: &'t str,
    /// Number of bytes and lines left out between the two parts; zero for a whole text.
    pub(super) missing_bytes: usize,
    pub(super) missing_lines: usize,
    pub(super) tail: &'t str,
}

impl Cut<'_> {
    /// A note on the missing part, for display.
    pub(super) fn note(&self) -> String {
        let lines = match self.missing_lines {
            0 => String::new(),
            1 => "1 line, ".to_owned(),
            lines => format!("{lines} lines, "),
        };
        format!("{lines}{} not shown", size(self.missing_bytes as u64))
    }
}

/// Cuts a text, at line ends if possible, and never to save only a few bytes.
pub(super) fn cut(text: &str, room: CutLimits) -> Cut<'_> {
    let whole = Cut { head: text, missing_bytes: 0, missing_lines: 0, tail: "" };
    let wanted = room.head.saturating_add(room.tail);
    if text.len() <= wanted.saturating_add(wanted / 4) {
        return whole;
    }
    let head = floor(text, room.head);
    let head = text[..head].rfind('\n').filter(|at| *at >= head / 2).unwrap_or(head);
    let tail = ceil(text, text.len() - room.tail);
    let tail = text[tail..].find('\n').filter(|at| *at < room.tail / 2).map_or(tail, |at| tail + at + 1);
    let missing = &text[head..tail];
    Cut {
        head: &text[..head],
        missing_bytes: missing.len(),
        missing_lines: memchr::memchr_iter(b'\n', missing.as_bytes()).count(),
        tail: &text[tail..],
    }
}

/// The nearest character boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// A number of bytes for display.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    if tenths < 100 {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    } else {
        format!("{} {}", tenths / 10, UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KB"),
            (9_990, "9.9 KB"),
            (10_000, "10 KB"),
            (1_440_000, "1.4 MB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_unseen(text in "[aé\\n]{0,300}", head in 0usize..60, tail in 0usize..60) {
            let cut = cut(&text, CutLimits { head, tail });
            prop_assert_eq!(cut.head.len() + cut.missing_bytes + cut.tail.len(), text.len());
            prop_assert!(text.starts_with(cut.head) && text.ends_with(cut.tail));
            prop_assert!(cut.missing_bytes == 0 || cut.head.len() <= head && cut.tail.len() <= tail);
        }
    }
}
