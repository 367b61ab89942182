use std::io::{self, IsTerminal as _};

use super::args::{Format, OnAsk, RunArgs};
use crate::output::Output;
use crate::terminal::{Diffs, Paint, Pane, Screen, Thoughts, View};

/// Where a session plays: what it is shown on, and whether anybody is there.
pub(super) struct Stage {
    pub(super) view: View,
    pub(super) person: Person,
}

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    /// Somebody sits at the terminal.
    Here,
    /// Nobody does, and a question ends the run.
    Needed,
    /// Nobody is asked; every question is refused.
    NotAsked,
}

impl Stage {
    pub(super) fn new(args: &RunArgs, out: &Output) -> Self {
        let paint = |styled: bool| if styled { Paint::Styled } else { Paint::Plain };
        let data = match args.output {
            // Programs get their lines past the view.
            Format::Json | Format::StreamJson => Pane::piped(Box::new(io::sink()), Paint::Plain),
            Format::Text if io::stdout().is_terminal() => {
                Pane::terminal(Box::new(io::stdout()), paint(out.paints_stdout()))
            }
            Format::Text => Pane::piped(Box::new(io::stdout()), Paint::Plain),
        };
        let watched = io::stderr().is_terminal();
        let talk = if watched {
            Pane::terminal(Box::new(io::stderr()), paint(out.paints_stderr()))
        } else {
            Pane::piped(Box::new(io::stderr()), paint(out.paints_stderr()))
        };
        let diffs = if args.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if args.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        let person = match args.on_ask {
            Some(OnAsk::Deny) => Person::NotAsked,
            None if watched && can_type() => Person::Here,
            Some(OnAsk::Fail) | None => Person::Needed,
        };
        Stage { view: View::new(Screen::new(data, talk), diffs, thoughts, size()), person }
    }
}

/// Columns and rows of the terminal, or of a usual one.
pub(super) fn size() -> (usize, usize) {
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    (if columns == 0 { 80 } else { columns.into() }, if rows == 0 { 24 } else { rows.into() })
}

/// Whether keys can be read: from standard input, or from the terminal itself when a prompt was piped in.
fn can_type() -> bool {
    io::stdin().is_terminal() || cfg!(unix) && fs_err::File::open("/dev/tty").is_ok()
}
