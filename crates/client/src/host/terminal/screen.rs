//! A copy of the screen: drawn anew for each viewer, and read before something is typed.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vt100::{Callbacks, Parser, Screen};

use crate::host::wire::{TerminalSize, TypingOutcome};

/// The marks at the beginning of the input line for prompts, of this version and of earlier ones.
const MARKS: [&str; 2] = ["❯", ">"];

/// The line above and below the input line.
const RULE: &str = "─";

/// A copy of what a terminal shows.
pub struct ScreenCopy {
    current: Parser<Modes>,
    /// The copy in the size before the last change. A program that is busy sees nothing of a change that is
    /// undone at once, and goes on to draw for this one.
    before: Option<Parser<Modes>>,
    /// Bytes of output since that change.
    drawn: usize,
}

/// Bytes of output after which a program has seen that the size has changed.
const UNSEEN_CHANGE_BYTES_MAX: usize = 256 << 10;

/// Modes and texts that the parser does not keep.
#[derive(Debug, Default, Clone)]
struct Modes {
    reports_focus: bool,
    reports_theme: bool,
    title: Vec<u8>,
}

impl Callbacks for Modes {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.title = title.iter().copied().take(TITLE_BYTES_MAX).collect();
    }

    fn unhandled_csi(&mut self, _: &mut Screen, i1: Option<u8>, _: Option<u8>, params: &[&[u16]], c: char) {
        if i1 != Some(b'?') || !matches!(c, 'h' | 'l') {
            return;
        }
        for param in params {
            match param {
                [1004] => self.reports_focus = c == 'h',
                [2031] => self.reports_theme = c == 'h',
                _ => {}
            }
        }
    }
}

const TITLE_BYTES_MAX: usize = 256;

impl ScreenCopy {
    /// An empty screen.
    pub fn new(size: TerminalSize) -> Self {
        ScreenCopy { current: parser(size), before: None, drawn: 0 }
    }

    /// Takes output of the program.
    pub fn process(&mut self, bytes: &[u8]) {
        let size = self.size();
        // A defect of the parser costs the copy of the screen, and not the program.
        if catch_unwind(AssertUnwindSafe(|| self.current.process(bytes))).is_err() {
            self.current = parser(size);
        }
        self.drawn += bytes.len();
        let before = self.before.take().filter(|_| self.drawn < UNSEEN_CHANGE_BYTES_MAX);
        self.before = before.and_then(|mut before| {
            catch_unwind(AssertUnwindSafe(|| before.process(bytes))).is_ok().then_some(before)
        });
    }

    /// Changes the size.
    pub fn resize(&mut self, size: TerminalSize) {
        let (rows, cols) = dimensions(size);
        if self.current.screen().size() == (rows, cols) {
            return;
        }
        self.drawn = 0;
        let kept = self.before.take().filter(|before| before.screen().size() == (rows, cols));
        if let Some(kept) = kept {
            self.before = Some(std::mem::replace(&mut self.current, kept));
            return;
        }
        let mut before = parser(self.size());
        before.screen_mut().clone_from(self.current.screen());
        before.callbacks_mut().clone_from(self.current.callbacks());
        self.before = Some(before);
        if catch_unwind(AssertUnwindSafe(|| self.current.set_size(rows, cols))).is_err() {
            self.current = parser(size);
        }
    }

    /// The size.
    pub fn size(&self) -> TerminalSize {
        let (rows, cols) = self.current.screen().size();
        TerminalSize { rows: rows.get(), cols: cols.get() }
    }

    /// The position of the cursor as the terminal counts it, from 1.
    pub(super) fn cursor(&self) -> (u16, u16) {
        let (row, col) = self.current.screen().cursor_position();
        (row + 1, col + 1)
    }

    /// The bytes that draw the screen on a terminal in any state.
    pub fn redraw(&self) -> Vec<u8> {
        let screen = self.current.screen();
        let modes = self.current.callbacks();
        let switch = |mode: &str, is_on: bool| format!("\x1b[?{mode}{}", if is_on { 'h' } else { 'l' });
        let mut bytes = b"\x1b[0m\x1b[r\x1b[?6l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l".to_vec();
        bytes.extend(switch("1049", screen.alternate_screen()).bytes());
        bytes.extend(screen.state_formatted().bytes());
        bytes.extend(switch("1004", modes.reports_focus).bytes());
        bytes.extend(switch("2031", modes.reports_theme).bytes());
        if !modes.title.is_empty() {
            bytes.extend(b"\x1b]0;");
            bytes.extend(modes.title.iter().filter(|byte| !byte.is_ascii_control()));
            bytes.push(0x07);
        }
        bytes
    }

    /// The text, line by line.
    pub fn lines(&self) -> Vec<String> {
        let screen = self.current.screen();
        screen.rows(0, self.size().cols).map(|row| row.trim_end().to_owned()).collect()
    }

    /// The outcome of typing a prompt now, as one paste. It needs an empty input line for prompts.
    pub fn readiness(&self) -> TypingOutcome {
        let screen = self.current.screen();
        let Some(row) = self.input_row() else { return TypingOutcome::NoInputLine };
        if !screen.bracketed_paste() {
            return TypingOutcome::NoInputLine;
        }
        let is_prompt = screen.cell(row, 0).is_some_and(|cell| MARKS.contains(&cell.contents()));
        let is_blank = |col: u16| {
            let Some(cell) = screen.cell(row, col) else { return true };
            // A suggestion in place of a text is dim.
            cell.contents().chars().all(char::is_whitespace) || cell.dim()
        };
        let is_empty = (1..self.size().cols).all(is_blank);
        if is_prompt && is_empty && self.is_rule(row + 1) {
            TypingOutcome::Typed
        } else {
            TypingOutcome::Draft
        }
    }

    /// The text in the input line, with its mark; empty if there is none, and `None` if the line is hidden.
    pub fn input(&self) -> Option<String> {
        match self.readiness() {
            TypingOutcome::NoInputLine => return None,
            TypingOutcome::Typed => return Some(String::new()),
            TypingOutcome::Draft | TypingOutcome::JustTyped => {}
        }
        let begin = self.input_row()?;
        let end = (begin + 1..self.size().rows).find(|row| self.is_rule(*row))?;
        Some(self.lines()[usize::from(begin)..usize::from(end)].join("\n"))
    }

    /// The line in which the input begins: below a rule, and the cursor is in it or below.
    ///
    /// Dialogs hide the input line, and put the cursor elsewhere.
    fn input_row(&self) -> Option<u16> {
        let screen = self.current.screen();
        let (cursor, _) = screen.cursor_position();
        let begins = |row: &u16| {
            let mark = screen.cell(*row, 0).map(vt100::Cell::contents).unwrap_or_default();
            let is_space = |cell: &vt100::Cell| cell.contents().chars().all(char::is_whitespace);
            (MARKS.contains(&mark) || mark == "!")
                && screen.cell(*row, 1).is_none_or(is_space)
                && *row > 0
                && self.is_rule(*row - 1)
        };
        let row = (0..=cursor).rev().find(begins)?;
        // The input ends with the next rule.
        let end = (row + 1..self.size().rows).find(|row| self.is_rule(*row))?;
        (cursor < end).then_some(row)
    }

    fn is_rule(&self, row: u16) -> bool {
        let is_part =
            |col: u16| self.current.screen().cell(row, col).is_some_and(|cell| cell.contents() == RULE);
        // Its end may contain a label.
        (0..self.size().cols.min(8)).all(is_part)
    }
}

impl std::fmt::Debug for ScreenCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ScreenCopy").field(&self.size()).finish()
    }
}

fn parser(size: TerminalSize) -> Parser<Modes> {
    let (rows, cols) = dimensions(size);
    Parser::new_with_callbacks(rows, cols, 0, Modes::default())
}

fn dimensions(size: TerminalSize) -> (NonZeroU16, NonZeroU16) {
    let TerminalSize { rows, cols } = size.bounded();
    (NonZeroU16::new(rows).unwrap_or(NonZeroU16::MIN), NonZeroU16::new(cols).unwrap_or(NonZeroU16::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TerminalSize = TerminalSize { rows: 12, cols: 40 };

    fn shown(lines: &[&str], cursor: (u16, u16)) -> ScreenCopy {
        let mut screen = ScreenCopy::new(SIZE);
        screen.process(b"\x1b[?1049h\x1b[?2004h");
        screen.process(lines.join("\r\n").as_bytes());
        screen.process(format!("\x1b[{};{}H", cursor.0 + 1, cursor.1 + 1).as_bytes());
        screen
    }

    fn rule() -> String {
        RULE.repeat(40)
    }

    #[test]
    fn a_prompt_is_typed_into_an_empty_input_line_only() {
        use TypingOutcome::{Draft, NoInputLine, Typed};
        let rule = rule();
        for (what, lines, cursor, expected) in [
            ("empty", vec!["❯ said", "● yes", &rule, "❯\u{a0}", &rule, "  manual mode"], (3, 2), Typed),
            ("suggestion", vec![&rule, "❯ \x1b[2mTry \"fix\"\x1b[22m", &rule], (1, 2), Typed),
            ("draft", vec![&rule, "❯ draft", &rule], (1, 7), Draft),
            ("long draft", vec![&rule, "❯ ", "  second", &rule], (2, 8), Draft),
            ("shell mode", vec![&rule, "! ", &rule], (1, 2), Draft),
            ("menu", vec!["  ❯ /add-dir", &rule, "❯ /", &rule], (2, 3), Draft),
            (
                "dialog",
                vec!["❯ said", &rule, " Bash command", " Proceed?", " ❯ 1. Yes", "   2. No"],
                (4, 1),
                NoInputLine,
            ),
            (
                "text that looks like it, and a dialog below",
                vec![&rule, "❯ ", &rule, " Proceed?", " ❯ 1. Yes"],
                (4, 1),
                NoInputLine,
            ),
            ("nothing", vec![], (0, 0), NoInputLine),
        ] {
            let screen = shown(&lines, cursor);
            assert_eq!(screen.readiness(), expected, "{what}");
            let input = screen.input();
            assert_eq!(input.is_none(), expected == NoInputLine, "{what}");
            assert_eq!(input.is_none_or(|text| text.is_empty()), expected != Draft, "{what}");
        }
        let long = shown(&[&rule, "❯ first", "  second", &rule, "  hint"], (2, 8));
        assert_eq!(long.input().as_deref(), Some("❯ first\n  second"));
        let mut suspended = shown(&[&rule, "❯ ", &rule], (1, 2));
        suspended.process(b"\x1b[?2004l");
        assert_eq!(suspended.readiness(), NoInputLine, "without paste, line breaks would send the text");
    }

    #[test]
    fn a_redraw_shows_the_same_screen_with_the_same_modes() {
        let mut screen = shown(&["\x1b[31mred\x1b[0m ❯ wide 漢字 🦀", "\x1b[2mdim"], (1, 3));
        screen.process(b"\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2031h\x1b[?25l\x1b]0;Title\x07");
        let mut other = ScreenCopy::new(SIZE);
        other.process(b"old text\r\n\x1b[?1000h");
        other.process(&screen.redraw());
        assert_eq!(other.lines(), screen.lines());
        assert_eq!(other.redraw(), screen.redraw());
        assert_eq!(other.cursor(), (2, 4));
        assert!(String::from_utf8_lossy(&other.redraw()).contains("\x1b[?1004h"));
    }

    #[test]
    fn a_change_of_the_size_that_the_program_does_not_see_loses_nothing() {
        let lines: Vec<String> = (0..12).map(|row| format!("{row} {}", "text ".repeat(7))).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (mut same, mut changed) = (shown(&lines, (11, 0)), shown(&lines, (11, 0)));
        changed.resize(TerminalSize { rows: 5, cols: 20 });
        for screen in [&mut same, &mut changed] {
            screen.process(b"\x1b[2;30Hfor the old size");
        }
        changed.resize(SIZE);
        assert_eq!(changed.lines(), same.lines());
        assert_eq!(changed.redraw(), same.redraw());
        // A program that sees the change draws anew.
        changed.resize(TerminalSize { rows: 5, cols: 20 });
        changed.process(b"\x1b[2J\x1b[Hsmall");
        assert_eq!(changed.lines().concat(), "small");
        changed.resize(SIZE);
        changed.process(b"\x1b[2J\x1b[Hlarge");
        assert_eq!(changed.lines().concat(), "large");
    }

    #[test]
    fn any_output_and_any_size_are_survived() {
        let mut screen = ScreenCopy::new(SIZE);
        let mut seed = 1_u32;
        for round in 0..400 {
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let byte = u8::try_from(seed >> 24).unwrap_or_default();
                if byte < 40 {
                    0x1b
                } else if byte < 80 {
                    b'['
                } else {
                    byte
                }
            })
            .take(300)
            .collect();
            screen.process(&bytes);
            screen.resize(TerminalSize { rows: 2 + round % 30, cols: 2 + (round * 7) % 90 });
            drop((screen.redraw(), screen.readiness(), screen.lines()));
        }
    }
}
