//! Style of text: bold, dim, colours.

use std::fmt::Write as _;

/// Effects and colour. Colour alone never carries meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    effects: u8,
    color: u8,
}

impl Style {
    pub(crate) const PLAIN: Style = Style { effects: 0, color: 0 };
    pub(crate) const BOLD: Style = Style { effects: 1, color: 0 };
    pub const DIM: Style = Style { effects: 2, color: 0 };
    pub(crate) const ITALIC: Style = Style { effects: 4, color: 0 };
    pub(crate) const UNDERLINE: Style = Style { effects: 8, color: 0 };
    pub(crate) const STRIKE: Style = Style { effects: 16, color: 0 };
    pub const RED: Style = Style { effects: 0, color: 31 };
    pub(crate) const GREEN: Style = Style { effects: 0, color: 32 };
    pub const YELLOW: Style = Style { effects: 0, color: 33 };
    pub(crate) const CYAN: Style = Style { effects: 0, color: 36 };

    /// Combines two styles; the colour of the other one wins.
    pub(crate) fn and(self, other: Style) -> Style {
        let color = if other.color == 0 { self.color } else { other.color };
        Style { effects: self.effects | other.effects, color }
    }

    /// Escape sequence that switches the style on; empty for plain text.
    pub(super) fn on(self) -> String {
        let mut codes = String::new();
        // Codes of the effects, in the order of their bits.
        for (bit, code) in [1, 2, 3, 4, 9].into_iter().enumerate() {
            if self.effects & (1 << bit) != 0 {
                let _ = write!(codes, ";{code}");
            }
        }
        if self.color != 0 {
            let _ = write!(codes, ";{}", self.color);
        }
        if codes.is_empty() { codes } else { format!("\x1b[{}m", &codes[1..]) }
    }

    pub(super) const OFF: &str = "\x1b[0m";
}
