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
        let diffs = if args.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if args.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        let person = match args.on_ask {
            Some(OnAsk::Deny) => Person::NotAsked,
            None if io::stderr().is_terminal() && can_type() => Person::Here,
            Some(OnAsk::Fail) | None => Person::Needed,
        };
        // Programs get their lines past the view.
        let data = match args.output {
            Format::Json | Format::StreamJson => Data::Dropped,
            Format::Text => Data::Shown,
        };
        Stage { view: view(data, diffs, thoughts, out), person }
    }
}

/// What becomes of the answer itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Data {
    Shown,
    Dropped,
}

/// A view on the standard streams, whatever they are.
pub(crate) fn view(data: Data, diffs: Diffs, thoughts: Thoughts, out: &Output) -> View {
    let paint = |styled: bool| if styled { Paint::Styled } else { Paint::Plain };
    let data = match data {
        Data::Dropped => Pane::piped(Box::new(io::sink()), Paint::Plain),
        Data::Shown if io::stdout().is_terminal() => {
            Pane::terminal(Box::new(io::stdout()), paint(out.paints_stdout()))
        }
        Data::Shown => Pane::piped(Box::new(io::stdout()), Paint::Plain),
    };
    let talk = if io::stderr().is_terminal() {
        Pane::terminal(Box::new(io::stderr()), paint(out.paints_stderr()))
    } else {
        Pane::piped(Box::new(io::stderr()), paint(out.paints_stderr()))
    };
    View::new(Screen::new(data, talk), diffs, thoughts, size())
}

/// Columns and rows of the terminal, or of a usual one.
pub(crate) fn size() -> (usize, usize) {
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    (if columns == 0 { 80 } else { columns.into() }, if rows == 0 { 24 } else { rows.into() })
}

/// Whether keys can be read: from standard input, or from the terminal itself when a prompt was piped in.
pub(crate) fn can_type() -> bool {
    io::stdin().is_terminal() || cfg!(unix) && fs_err::File::open("/dev/tty").is_ok()
}
