//! Numbers and text formatted to fit into a terminal line.

use jiff::Timestamp;
use tidings_base::plural::noun_of;
use unicode_width::UnicodeWidthChar as _;

/// Returns the width of a line: `COLUMNS`, else the terminal's width, else 120 columns.
pub fn columns() -> usize {
    const NO_TERMINAL: usize = 120;
    columns_of_terminal().unwrap_or(NO_TERMINAL)
}

/// Returns `COLUMNS`, else the terminal's width; `None` in a pipe or a file, where lines have no limit.
pub(crate) fn columns_of_terminal() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into());
    given.or_else(terminal).filter(|columns| *columns > 0)
}

/// Returns the width of a text in columns. East Asian letters and emoji take two, combining marks none.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Returns the text cut to at most `columns`; an ellipsis replaces what does not fit.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let room = columns.saturating_sub(1);
    let kept: String = text
        .chars()
        .take_while(|c| {
            used += char_width(*c);
            used <= room
        })
        .collect();
    if columns == 0 { kept } else { format!("{}…", kept.trim_end()) }
}

/// Returns the text in lines of at most `columns`: as it is if it fits, else split between words, and words
/// that are longer cut.
pub(crate) fn folded(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let lines: Vec<String> = wrapped(text, columns).iter().map(|line| fit(line, columns)).collect();
    lines.join("\n")
}

/// Splits a text into lines of at most `columns`, between words.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the text cut to at most `columns` after a word, if one ends in the second half.
pub(crate) fn fit_words(text: &str, columns: usize) -> String {
    let fitting = fit(text, columns);
    let Some(kept) = fitting.strip_suffix('…').filter(|_| fitting != text) else { return fitting };
    let is_cut_in_word = !text[kept.len()..].starts_with(' ');
    match kept.rfind(' ').filter(|at| is_cut_in_word && *at >= kept.len() / 2) {
        Some(at) => format!("{}…", kept[..at].trim_end()),
        None => fitting,
    }
}

/// Returns the text cut to at most `columns` at its beginning, such as a path whose end says most.
pub(crate) fn fit_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let room = columns.saturating_sub(1);
    let kept = text.char_indices().rev().take_while(|(_, c)| {
        used += char_width(*c);
        used <= room
    });
    let start = kept.last().map_or(text.len(), |(at, _)| at);
    if columns == 0 { String::new() } else { format!("…{}", text[start..].trim_start()) }
}

/// Returns the text cut or padded with spaces to exactly `columns`.
pub fn padded(text: &str, columns: usize) -> String {
    let fitting = fit(text, columns);
    let gap = columns.saturating_sub(width(&fitting));
    format!("{fitting}{}", " ".repeat(gap))
}

/// Returns the first 8 characters of a session id, which every command for sessions on disk accepts.
pub fn short_id(id: &str) -> String {
    id.chars().take(8).collect()
}

/// Formats bytes in the largest unit that leaves a number above one.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub fn bytes(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1000.0 {
            let digits = usize::from(unit != "B" && size < 10.0);
            return format!("{size:.digits$} {unit}");
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// Formats an age in one unit: `5m`, `3h`, `12d`.
pub fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second()).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        86_400..31_536_000 => format!("{}d", seconds / 86_400),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

/// Formats a number with a space between groups of three digits, which no language reads as a decimal point.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with a noun, which gets an `s` unless the number is 1.
pub fn plural(number: u64, word: &str) -> String {
    format!("{} {}", count(number), noun_of(number, word))
}

/// Returns the width of a character in columns.
pub(crate) fn char_width(c: char) -> usize {
    c.width().unwrap_or(1)
}

/// Parses `500K`, `2G`, and plain bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let refused = || "give a size such as 500K, 100M or 2G".to_owned();
    let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (number, shift) = match text.chars().last().map(|unit| unit.to_ascii_uppercase()) {
        Some('K') => (&text[..text.len() - 1], 10),
        Some('M') => (&text[..text.len() - 1], 20),
        Some('G') => (&text[..text.len() - 1], 30),
        Some('T') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    let number: u64 = number.trim().parse().map_err(|_| refused())?;
    number.checked_mul(1 << shift).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit_into_columns() {
        for (text, columns, expected) in [
            ("hello", 5, "hello"),
            ("hello", 4, "hel…"),
            ("項目測試", 8, "項目測試"),
            ("項目測試", 7, "項目測…"),
            ("項目測試", 6, "項目…"),
            ("a b", 3, "a b"),
            ("a bc", 3, "a…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(fit(text, columns), expected, "{text} {columns}");
            assert!(width(&padded(text, columns)) == columns, "{text} {columns}");
        }
    }

    #[test]
    fn c32_a_text_is_cut_after_a_word() {
        for (text, columns, expected) in [
            ("one two three", 13, "one two three"),
            ("one two three", 12, "one two…"),
            ("one two three", 8, "one two…"),
            ("one two three", 7, "one…"),
            ("a wordwithoutend", 10, "a wordwit…"),
        ] {
            assert_eq!(fit_words(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn c32_emoji_take_two_columns() {
        for (text, columns) in [("✅ ok", 5), ("🟢🪄⚡⭐", 8), ("✓✗•·─", 5), ("⚠ ", 2)] {
            assert_eq!(width(text), columns, "{text}");
        }
        assert_eq!(fit("✅✅✅", 5), "✅✅…");
    }

    #[test]
    fn c32_a_text_is_folded_between_words() {
        for (text, columns, expected) in [
            ("one  two", 8, "one  two"),
            ("one  two", 7, "one two"),
            ("one two three", 8, "one two\nthree"),
            ("a wordwithoutend", 10, "a\nwordwitho…"),
        ] {
            assert_eq!(folded(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn the_end_of_a_text_fits_into_columns() {
        for (text, columns, expected) in [
            ("/home/dev/parser", 16, "/home/dev/parser"),
            ("/home/dev/parser", 8, "…/parser"),
            ("a bc", 3, "…bc"),
            ("項目測試", 5, "…測試"),
            ("項目測試", 4, "…試"),
            ("abc", 0, ""),
        ] {
            assert_eq!(fit_end(text, columns), expected, "{text} {columns}");
        }
    }

    #[test]
    fn numbers_are_short() {
        for (number, expected) in
            [(0, "0 B"), (999, "999 B"), (1_024, "1.0 KiB"), (10_240, "10 KiB"), (1_100_000_000, "1.0 GiB")]
        {
            assert_eq!(bytes(number), expected);
        }
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1 000"), (1_234_567, "1 234 567")] {
            assert_eq!(count(number), expected);
        }
        let then = Timestamp::UNIX_EPOCH;
        for (seconds, expected) in
            [(-5, "0s"), (59, "59s"), (3_599, "59m"), (86_399, "23h"), (864_000, "10d"), (70_000_000, "2y")]
        {
            assert_eq!(age(then, Timestamp::from_second(seconds).unwrap()), expected);
        }
    }

    #[test]
    fn sizes_have_the_usual_units() {
        for (text, expected) in [
            ("12", Some(12)),
            ("500K", Some(500 << 10)),
            ("100 MiB", Some(100 << 20)),
            ("2g", Some(2 << 30)),
            ("1TB", Some(1 << 40)),
            ("", None),
            ("-1", None),
            ("1.5G", None),
            ("99999999999T", None),
        ] {
            assert_eq!(size(text).ok(), expected, "{text}");
        }
    }
}
