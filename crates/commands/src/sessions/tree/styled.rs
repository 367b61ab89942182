//! Width of text that contains colours.

use crate::human::char_width;
use crate::output::PLAIN;

/// Returns the width of a text in columns; colours take none.
pub(super) fn width(text: &str) -> usize {
    let mut colour = Colour::default();
    text.chars().filter(|c| !colour.contains(*c)).map(char_width).sum()
}

/// Returns the text cut to at most `columns`; an ellipsis replaces what does not fit.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut colour = Colour::default();
    let mut used = 0;
    let fitting = text.chars().take_while(|c| {
        used += if colour.contains(*c) { 0 } else { char_width(*c) };
        used <= room
    });
    let fitting: String = fitting.collect();
    format!("{}…{PLAIN}", fitting.trim_end())
}

/// Detects colour sequences. Other escape sequences do not occur.
#[derive(Default)]
struct Colour {
    begun: bool,
}

impl Colour {
    /// True if the next character belongs to a colour sequence.
    fn contains(&mut self, c: char) -> bool {
        let belongs = self.begun || c == '\x1b';
        self.begun = belongs && c != 'm';
        belongs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{BOLD, DIM};

    #[test]
    fn colours_take_no_room_and_end_with_the_text() {
        let text = format!("{BOLD}User{PLAIN}  項目 mess {DIM}→ 測試{PLAIN}");
        assert_eq!(width(&text), "User  ".len() + 4 + " mess ".len() + "→ 測試".chars().count() + 2);
        assert_eq!(fit(&text, 22), text);
        for (columns, expected) in [
            (21, format!("{BOLD}User{PLAIN}  項目 mess {DIM}→ 測…{PLAIN}")),
            (12, format!("{BOLD}User{PLAIN}  項目…{PLAIN}")),
            (9, format!("{BOLD}User{PLAIN}  項…{PLAIN}")),
            (3, format!("{BOLD}Us…{PLAIN}")),
        ] {
            let fitting = fit(&text, columns);
            assert_eq!(fitting, expected);
            assert!(width(&fitting) <= columns, "{fitting:?}");
        }
    }
}
