//! Where lines go: the answer to standard output, everything else to standard error, and under both a few lines that
//! change while one watches.

use std::io::{self, Write};

use super::line::Line;

/// Whether looks are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Styled,
    Plain,
}

/// One of the two streams.
pub(crate) struct Pane {
    out: Box<dyn Write + Send>,
    is_terminal: bool,
    paint: Paint,
}

impl Pane {
    pub(crate) fn terminal(out: Box<dyn Write + Send>, paint: Paint) -> Self {
        Pane { out, is_terminal: true, paint }
    }

    pub(crate) fn piped(out: Box<dyn Write + Send>, paint: Paint) -> Self {
        Pane { out, is_terminal: false, paint }
    }

    /// Lines end so that they begin at the left margin even while the terminal is raw.
    fn line_end(&self) -> &'static str {
        if self.is_terminal { "\r\n" } else { "\n" }
    }

    fn painted(&self, line: &Line) -> String {
        match self.paint {
            Paint::Styled => line.ansi(),
            Paint::Plain => line.text(),
        }
    }

    fn lines(&mut self, lines: &[Line]) -> io::Result<()> {
        let end = self.line_end();
        let text: String = lines.iter().map(|line| self.painted(line) + end).collect();
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

/// Both streams, and the lines at the bottom that change.
pub(crate) struct Screen {
    data: Pane,
    talk: Pane,
    /// The lines at the bottom, as they are drawn.
    live: Vec<String>,
    /// The columns when they were drawn.
    columns: usize,
    /// Whether the last byte on standard output ended its line.
    fresh: bool,
}

impl Screen {
    pub(crate) fn new(data: Pane, talk: Pane) -> Self {
        Screen { data, talk, live: Vec::new(), columns: 0, fresh: true }
    }

    /// Whether the answer is shown to somebody, and not written to a file or a pipe.
    pub(crate) fn shows_data(&self) -> bool {
        self.data.is_terminal
    }

    /// Whether anybody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.talk.is_terminal
    }

    /// Lines of the answer.
    pub(crate) fn data(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.clear()?;
        self.data.lines(lines)
    }

    /// Text of the answer for a file or a pipe, as it comes; it is filtered all the same.
    pub(crate) fn data_text(&mut self, text: &str) -> io::Result<()> {
        let text = super::safe_text(text);
        if text.is_empty() {
            return Ok(());
        }
        self.fresh = text.ends_with('\n');
        self.data.out.write_all(text.as_bytes())?;
        self.data.out.flush()
    }

    /// Ends the line that was begun with [`Screen::data_text`], if it was.
    pub(crate) fn end_data_line(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.fresh, true) { Ok(()) } else { self.data_text("\n") }
    }

    /// Lines beside the answer.
    pub(crate) fn talk(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.clear()?;
        self.talk.lines(lines)
    }

    /// Draws the lines at the bottom anew. Nothing is drawn where nobody watches.
    pub(crate) fn live(&mut self, lines: &[Line], columns: usize) -> io::Result<()> {
        if !self.talk.is_terminal {
            return Ok(());
        }
        // The last column stays free: some terminals wrap as soon as it is written.
        let fitting: Vec<String> =
            lines.iter().map(|line| self.talk.painted(&line.fit(columns.saturating_sub(1)))).collect();
        if fitting == self.live && columns == self.columns {
            return Ok(());
        }
        // Line over line and in one go, so that nothing flickers; what was longer before is cleared.
        let back = match self.live.len() {
            0 => String::new(),
            lines => to_first_of(lines),
        };
        let drawn: Vec<String> = fitting.iter().map(|line| format!("{line}\x1b[K")).collect();
        let rest = if self.live.len() > fitting.len() { "\x1b[J" } else { "" };
        self.columns = columns;
        self.live = fitting;
        write!(self.talk.out, "{back}{}{rest}", drawn.join("\r\n"))?;
        self.talk.out.flush()
    }

    /// Takes the lines at the bottom away.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.live).len();
        if lines == 0 {
            return Ok(());
        }
        write!(self.talk.out, "{}\x1b[J", to_first_of(lines))?;
        self.talk.out.flush()
    }
}

/// Back to the beginning of the first of so many lines, from the last of them.
fn to_first_of(lines: usize) -> String {
    match lines {
        0 | 1 => "\r".to_owned(),
        lines => format!("\r\x1b[{}A", lines - 1),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::terminal::Style;

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Paper {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    #[test]
    fn a_pipe_gets_plain_text_and_nothing_that_changes() {
        let (data, talk) = (Paper::default(), Paper::default());
        let mut screen = Screen::new(
            Pane::piped(Box::new(data.clone()), Paint::Plain),
            Pane::piped(Box::new(talk.clone()), Paint::Plain),
        );
        screen.live(&[Line::plain("spinner")], 80).unwrap();
        screen.data_text("half a \x1b[31mline").unwrap();
        screen.end_data_line().unwrap();
        screen.end_data_line().unwrap();
        screen.talk(&[Line::styled("✓ Bash", Style::GREEN)]).unwrap();
        assert_eq!((data.text().as_str(), talk.text().as_str()), ("half a ␛[31mline\n", "✓ Bash\n"));
    }

    #[test]
    fn live_lines_step_aside_and_are_not_drawn_twice() {
        let (data, talk) = (Paper::default(), Paper::default());
        let mut screen = Screen::new(
            Pane::terminal(Box::new(data.clone()), Paint::Plain),
            Pane::terminal(Box::new(talk.clone()), Paint::Styled),
        );
        let live = [Line::plain("one"), Line::styled("two", Style::DIM)];
        screen.live(&live, 80).unwrap();
        screen.live(&live, 80).unwrap();
        let drawn = "one\x1b[K\r\n\x1b[2mtwo\x1b[0m\x1b[K";
        assert_eq!(talk.text(), drawn);
        screen.live(&live[..1], 80).unwrap();
        let shorter = "\r\x1b[1Aone\x1b[K\x1b[J";
        assert_eq!(talk.text(), format!("{drawn}{shorter}"));
        screen.data(&[Line::plain("answer")]).unwrap();
        assert_eq!(talk.text(), format!("{drawn}{shorter}\r\x1b[J"));
        assert_eq!(data.text(), "answer\r\n");
    }
}
