//! The parts of messages about a terminal.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

impl TerminalSize {
    /// The smallest and the largest number of lines or columns.
    pub const RANGE: std::ops::RangeInclusive<u16> = 2..=500;

    /// A size within the limits.
    #[must_use]
    pub fn bounded(self) -> Self {
        let (min, max) = (*Self::RANGE.start(), *Self::RANGE.end());
        TerminalSize { rows: self.rows.clamp(min, max), cols: self.cols.clamp(min, max) }
    }

    /// The largest size that fits into both.
    #[must_use]
    pub fn smallest(self, other: Self) -> Self {
        TerminalSize { rows: self.rows.min(other.rows), cols: self.cols.min(other.cols) }
    }
}

/// A viewer's connection to the terminal of a host.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The highest version that the viewer supports.
    pub version: u32,
    /// The secret of the host's record.
    pub secret: String,
    /// The purpose of the connection.
    pub role: TerminalRole,
    /// The size of the viewer; without one it shows whatever there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<TerminalSize>,
}

/// The purpose of a viewer's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalRole {
    /// Shows the screen and sends keys.
    Keys,
    /// Shows the screen only.
    Look,
    /// Sends prompts and interrupts, and shows nothing.
    Steer,
}

/// The result of a prompt or an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypingOutcome {
    /// It was typed.
    Typed,
    /// The input line is not on the screen: a dialog or a menu is open, or the program is not ready.
    NoInputLine,
    /// The input line contains text, or is in another mode than that for prompts.
    Draft,
    /// Keys came a moment ago, from a person or for the prompt before.
    JustTyped,
}

/// Omits the secret.
impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("role", &self.role).field("size", &self.size).finish_non_exhaustive()
    }
}
