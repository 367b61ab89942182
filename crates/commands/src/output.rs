//! Output of commands: data on stdout, messages on stderr.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice, StripStream};
use clap::ValueEnum;
use serde::Serialize;
use tidings_transcript::export::{is_hidden, joins_emoji};

use crate::pager::{Pager, PagerArgs};

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

/// Destination of a command's output.
pub struct Output {
    out: BufWriter<io::Stdout>,
    color: ColorChoice,
    pager: Option<Pager>,
}

pub const BOLD: &str = "\x1b[1m";
pub const DIM: &str = "\x1b[2m";
pub const RED: &str = "\x1b[31m";
pub const YELLOW: &str = "\x1b[33m";
pub const PLAIN: &str = "\x1b[0m";

impl Output {
    pub fn new(color: Color) -> Self {
        let color = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Output { out: BufWriter::new(io::stdout()), color, pager: None }
    }

    /// Shows the following text in a pager, if there is a terminal for it; `less` begins at the first line
    /// with the text `at`.
    pub(crate) fn page(&mut self, args: &PagerArgs, at: Option<&str>) -> io::Result<()> {
        self.out.flush()?;
        self.pager = Pager::start(args, at)?;
        Ok(())
    }

    /// Waits until the user leaves the pager, and shows the messages since its start. Returns true if there
    /// was one.
    pub(crate) fn end_page(&mut self) -> bool {
        let Some(pager) = self.pager.take() else { return false };
        for note in pager.end() {
            // If standard error cannot be written, there is nowhere left to report to.
            drop(self.note(&note));
        }
        true
    }

    /// True if standard output gets colours.
    pub(crate) fn paints_stdout(&self) -> bool {
        self.paints(AutoStream::choice(&io::stdout()))
    }

    /// True if standard error gets colours.
    pub(crate) fn paints_stderr(&self) -> bool {
        self.paints(AutoStream::choice(&io::stderr()))
    }

    fn paints(&self, found: ColorChoice) -> bool {
        match self.color {
            ColorChoice::Never => false,
            ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
            ColorChoice::Auto => found != ColorChoice::Never,
        }
    }

    /// Writes data unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Writes text for a person; colours are stripped unless standard output gets colours.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.flush()?;
        if let Some(mut pager) = self.pager_input() {
            return pager.write_all(text.as_bytes());
        }
        AutoStream::new(io::stdout().lock(), self.color).write_all(text.as_bytes())
    }

    /// The input of the pager, which gets colours if standard output would.
    fn pager_input(&mut self) -> Option<Box<dyn Write + '_>> {
        let is_painted = self.paints_stdout();
        let input = &mut self.pager.as_mut()?.input;
        Some(if is_painted { Box::new(input) } else { Box::new(StripStream::new(input)) })
    }

    /// Writes a value as one line of JSON.
    pub fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        Ok(self.out.write_all(json_line(value)?.as_bytes())?)
    }

    /// Lets `write` write data.
    pub(crate) fn with(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        write(&mut self.out)
    }

    /// Lets `write` write text for a person; colours are stripped unless standard output gets colours.
    pub(crate) fn styled(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.out.flush()?;
        if let Some(mut pager) = self.pager_input() {
            return write(&mut pager);
        }
        let mut stream = BufWriter::new(AutoStream::new(io::stdout().lock(), self.color));
        write(&mut stream)?;
        stream.flush()?;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes a message to standard error.
    pub fn note(&self, text: &str) -> io::Result<()> {
        if let Some(pager) = &self.pager {
            pager.notes.lock().push(text.to_owned());
            return Ok(());
        }
        let mut stream = AutoStream::new(io::stderr().lock(), self.color);
        writeln!(stream, "{text}")
    }

    pub(crate) fn error(&self, error: &anyhow::Error, hint: &str) -> io::Result<()> {
        let mut text = format!("{RED}error{PLAIN}: {error}");
        for cause in error.chain().skip(1) {
            // Writing into a String cannot fail.
            let _ = write!(text, "\n  Caused by: {cause}");
        }
        if !hint.is_empty() {
            let _ = write!(text, "\n\n{YELLOW}hint{PLAIN}: {hint}");
        }
        self.note(&text)
    }
}

/// True if standard error is a terminal that can move its cursor, so that lines on it can be drawn anew.
pub(crate) fn can_draw() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if the reader of standard output or standard error has gone. A broken pipe may also be that of a
/// connection.
#[cfg(unix)]
pub(crate) fn is_output_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let (stdout, stderr) = (io::stdout(), io::stderr());
    let mut streams = [PollFd::new(&stdout, PollFlags::empty()), PollFd::new(&stderr, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut streams, Some(&at_once)).is_ok_and(|closed| closed > 0)
}

#[cfg(not(unix))]
pub(crate) fn is_output_closed() -> bool {
    true
}

/// A value as one line of JSON. Characters that are invisible, reorder others or control a terminal are
/// escaped, so that the line is also safe to look at.
pub(crate) fn json_line(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    let mut line = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Outside of strings JSON is ASCII, so every such character is in a string.
        if is_hidden(c) || c == '\u{7f}' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(line, "\\u{unit:04x}");
            }
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    Ok(line)
}

/// Makes text from agents, tools and files safe for a terminal: a visible character replaces each character
/// that controls it, is invisible or reorders others.
pub fn printable(text: &str) -> String {
    let mut before = None;
    text.chars()
        .map(|c| {
            let before = before.replace(c);
            match c {
                '\t' => ' ',
                c if joins_emoji(before, c) => c,
                c if c.is_control() || is_hidden(c) => char::REPLACEMENT_CHARACTER,
                c => c,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::safe::tests::HOSTILE;

    #[test]
    fn k32_lines_show_every_hidden_character() {
        for text in HOSTILE.into_iter().chain(["a\u{200b}b\u{ad}c\u{2060}d\u{feff}", "\u{600}\u{13430}"]) {
            let shown = printable(text);
            assert_eq!(shown.chars().find(|c| c.is_control() || is_hidden(*c)), None, "{text:?}");
        }
        assert_eq!(printable("a\u{200b}b"), "a\u{fffd}b");
        let emoji = "👩\u{200d}💻 ❤\u{fe0f} 日本";
        assert_eq!(printable(emoji), emoji, "what is part of an emoji stays");
    }

    #[test]
    fn k13_json_lines_show_nothing_that_controls_a_terminal_and_lose_nothing() {
        for text in HOSTILE.into_iter().chain(["\u{9b}2J", "\u{e0041}", "plain äöü 日本 👍"]) {
            let line = json_line(&text).unwrap();
            let bad = line.trim_end_matches('\n').chars().find(|c| c.is_control() || is_hidden(*c));
            assert_eq!(bad, None, "{text:?}");
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
        assert_eq!(json_line(&"ä👍").unwrap(), "\"ä👍\"\n", "what is harmless stays readable");
    }
}
