use std::io::{self, IsTerminal as _};

use super::args::{Format, OnAsk, RunArgs};
use crate::output::Output;
use crate::terminal::{Diffs, Paint, Pane, Screen, Thoughts, View};

/// Output of a session, and the handling of its requests.
pub(super) struct Console {
    pub(super) view: View,
    pub(super) on_request: OnRequest,
}

/// Handling of permission requests and questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnRequest {
    /// Ask the user at the terminal.
    Prompt,
    /// End the run.
    Fail,
    /// Deny every request.
    Deny,
}

impl Console {
    pub(super) fn new(args: &RunArgs, out: &Output) -> Self {
        let diffs = if args.diff { Diffs::Shown } else { Diffs::Hidden };
        let thoughts = if args.verbose { Thoughts::Shown } else { Thoughts::Hidden };
        let on_request = match args.on_ask {
            Some(OnAsk::Deny) => OnRequest::Deny,
            None if io::stderr().is_terminal() && can_type() => OnRequest::Prompt,
            Some(OnAsk::Fail) | None => OnRequest::Fail,
        };
        // JSON lines are written without the view.
        let data = match args.output {
            Format::Json | Format::StreamJson => AnswerText::Dropped,
            Format::Text => AnswerText::Shown,
        };
        Console { view: view(data, diffs, thoughts, out), on_request }
    }
}

/// Output of the answer's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerText {
    Shown,
    Dropped,
}

/// Creates a view on the standard streams, which may be terminals or pipes.
pub(crate) fn view(data: AnswerText, diffs: Diffs, thoughts: Thoughts, out: &Output) -> View {
    let paint = |styled: bool| if styled { Paint::Styled } else { Paint::Plain };
    let data = match data {
        AnswerText::Dropped => Pane::piped(Box::new(io::sink()), Paint::Plain),
        AnswerText::Shown if io::stdout().is_terminal() => {
            Pane::terminal(Box::new(io::stdout()), paint(out.paints_stdout()))
        }
        AnswerText::Shown => Pane::piped(Box::new(io::stdout()), Paint::Plain),
    };
    let notes = if io::stderr().is_terminal() {
        Pane::terminal(Box::new(io::stderr()), paint(out.paints_stderr()))
    } else {
        Pane::piped(Box::new(io::stderr()), paint(out.paints_stderr()))
    };
    View::new(Screen::new(data, notes), diffs, thoughts, size())
}

/// Columns and rows of the terminal, or 80×24 without one.
pub(crate) fn size() -> (usize, usize) {
    let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
    (if columns == 0 { 80 } else { columns.into() }, if rows == 0 { 24 } else { rows.into() })
}

/// True if keys can be read: from standard input, or from `/dev/tty` if a prompt was piped in.
pub(crate) fn can_type() -> bool {
    io::stdin().is_terminal() || cfg!(unix) && fs_err::File::open("/dev/tty").is_ok()
}
