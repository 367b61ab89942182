//! Output of lines: the answer to standard output, notes to standard error, and live lines at the bottom.

use std::io::{self, Write};

use super::line::Line;

/// Use of styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Styled,
    Plain,
}

/// One of the two output streams.
pub(crate) struct Pane {
    out: Box<dyn Write + Send>,
    is_terminal: bool,
    paint: Paint,
    /// Output that waits while another program has the terminal.
    held: Option<String>,
}

impl Pane {
    pub(crate) fn terminal(out: Box<dyn Write + Send>, paint: Paint) -> Self {
        Pane { out, is_terminal: true, paint, held: None }
    }

    pub(crate) fn piped(out: Box<dyn Write + Send>, paint: Paint) -> Self {
        Pane { out, is_terminal: false, paint, held: None }
    }

    /// Line ending; a terminal in raw mode needs a carriage return.
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
        if let Some(held) = &mut self.held {
            held.push_str(&text);
            return Ok(());
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn resume(&mut self) -> io::Result<()> {
        let held = self.held.take().unwrap_or_default();
        self.out.write_all(held.as_bytes())?;
        self.out.flush()
    }
}

/// Both streams, and the live lines at the bottom.
pub struct Screen {
    data: Pane,
    notes: Pane,
    /// Live lines as they were drawn, and their widths.
    live: Vec<String>,
    widths: Vec<usize>,
    /// Width of the terminal.
    columns: usize,
    /// Row and column of the cursor among them, if it is not behind the last.
    cursor: Option<(usize, usize)>,
    /// True if the last byte on standard output was a line break.
    fresh: bool,
}

impl Screen {
    pub(crate) fn new(data: Pane, notes: Pane) -> Self {
        Screen { data, notes, live: Vec::new(), widths: Vec::new(), columns: 0, cursor: None, fresh: true }
    }

    /// True if the answer goes to a terminal, and not to a file or a pipe.
    pub(crate) fn shows_data(&self) -> bool {
        self.data.is_terminal
    }

    /// True if notes and live lines go to a terminal.
    pub fn is_interactive(&self) -> bool {
        self.notes.is_terminal
    }

    /// Writes lines of the answer.
    pub(crate) fn data(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.clear()?;
        self.data.lines(lines)
    }

    /// Writes text of the answer to a file or a pipe as it comes, filtered.
    pub(crate) fn data_text(&mut self, text: &str) -> io::Result<()> {
        let text = super::safe_text(text);
        if text.is_empty() {
            return Ok(());
        }
        self.fresh = text.ends_with('\n');
        self.data.out.write_all(text.as_bytes())?;
        self.data.out.flush()
    }

    /// Ends the line that [`Screen::data_text`] began, if any.
    pub(crate) fn end_data_line(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.fresh, true) { Ok(()) } else { self.data_text("\n") }
    }

    /// Writes notes.
    pub(crate) fn notes(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.clear()?;
        self.notes.lines(lines)
    }

    /// Gives the terminal to another program: output waits until [`Screen::resume`].
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        self.clear()?;
        for pane in [&mut self.data, &mut self.notes] {
            if pane.is_terminal {
                pane.held = Some(String::new());
            }
        }
        Ok(())
    }

    /// Takes the terminal back, and writes what has waited.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        self.data.resume()?;
        self.notes.resume()
    }

    /// Redraws the live lines, and puts the cursor at a row and column of them, or behind the last. Does
    /// nothing without a terminal.
    pub(crate) fn live(
        &mut self,
        lines: &[Line],
        columns: usize,
        cursor: Option<(usize, usize)>,
    ) -> io::Result<()> {
        if !self.notes.is_terminal || self.notes.held.is_some() {
            return Ok(());
        }
        // Keep the last column free, since some terminals wrap as soon as it is written.
        let lines: Vec<Line> = lines.iter().map(|line| line.fit(columns.saturating_sub(1))).collect();
        let fitting: Vec<String> = lines.iter().map(|line| self.notes.painted(line)).collect();
        if fitting == self.live && columns == self.columns && cursor == self.cursor {
            return Ok(());
        }
        // Overwrite line by line in one write, to avoid flicker; clear the rest of each line.
        let is_narrower = columns < self.columns;
        self.columns = columns;
        let back = self.to_first();
        let drawn: Vec<String> = fitting.iter().map(|line| format!("{line}\x1b[K")).collect();
        let rest = if is_narrower || self.live.len() > fitting.len() { "\x1b[J" } else { "" };
        let place = cursor.map_or_else(String::new, |(row, column)| {
            let up = match fitting.len().saturating_sub(row + 1) {
                0 => String::new(),
                rows => format!("\x1b[{rows}A"),
            };
            let right = if column == 0 { String::new() } else { format!("\x1b[{column}C") };
            format!("\r{up}{right}")
        });
        self.cursor = cursor;
        self.live = fitting;
        self.widths = lines.iter().map(Line::width).collect();
        write!(self.notes.out, "{back}{}{rest}{place}", drawn.join("\r\n"))?;
        self.notes.out.flush()
    }

    /// Removes the live lines.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.live.is_empty() {
            return Ok(());
        }
        let back = self.to_first();
        self.live.clear();
        self.cursor = None;
        write!(self.notes.out, "{back}\x1b[J")?;
        self.notes.out.flush()
    }

    /// Sets the width of the terminal, which has changed. A narrower terminal wraps the lines that were
    /// drawn.
    pub(crate) fn resized(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Escape sequence that moves from the cursor to the start of the first live line.
    fn to_first(&self) -> String {
        if self.live.is_empty() {
            return String::new();
        }
        let last = self.widths.len().saturating_sub(1);
        let (row, column) = self.cursor.unwrap_or((last, self.widths.last().copied().unwrap_or_default()));
        let columns = self.columns.max(1);
        // Rows of the lines above that of the cursor, and those of its own line before the cursor.
        let above: usize = self.widths.iter().take(row).map(|width| width.div_ceil(columns).max(1)).sum();
        match above + column / columns {
            0 => "\r".to_owned(),
            rows => format!("\r\x1b[{rows}A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::terminal::Style;

    #[derive(Clone, Default)]
    struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

    impl Write for SharedBuffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl SharedBuffer {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    #[test]
    fn a_pipe_gets_plain_text_without_live_lines() {
        let (data, notes) = (SharedBuffer::default(), SharedBuffer::default());
        let mut screen = Screen::new(
            Pane::piped(Box::new(data.clone()), Paint::Plain),
            Pane::piped(Box::new(notes.clone()), Paint::Plain),
        );
        screen.live(&[Line::plain("spinner")], 80, None).unwrap();
        screen.data_text("half a \x1b[31mline").unwrap();
        screen.end_data_line().unwrap();
        screen.end_data_line().unwrap();
        screen.notes(&[Line::styled("✓ Bash", Style::GREEN)]).unwrap();
        assert_eq!((data.text().as_str(), notes.text().as_str()), ("half a ␛[31mline\n", "✓ Bash\n"));
    }

    #[test]
    fn live_lines_are_cleared_for_output_and_not_drawn_twice() {
        let (data, notes) = (SharedBuffer::default(), SharedBuffer::default());
        let mut screen = Screen::new(
            Pane::terminal(Box::new(data.clone()), Paint::Plain),
            Pane::terminal(Box::new(notes.clone()), Paint::Styled),
        );
        let live = [Line::plain("one"), Line::styled("two", Style::DIM)];
        screen.live(&live, 80, None).unwrap();
        screen.live(&live, 80, None).unwrap();
        let drawn = "one\x1b[K\r\n\x1b[2mtwo\x1b[0m\x1b[K";
        assert_eq!(notes.text(), drawn);
        screen.live(&live[..1], 80, None).unwrap();
        let shorter = "\r\x1b[1Aone\x1b[K\x1b[J";
        assert_eq!(notes.text(), format!("{drawn}{shorter}"));
        screen.data(&[Line::plain("answer")]).unwrap();
        assert_eq!(notes.text(), format!("{drawn}{shorter}\r\x1b[J"));
        assert_eq!(data.text(), "answer\r\n");
    }

    #[test]
    fn the_cursor_is_put_into_a_line_and_comes_back() {
        let (data, notes) = (SharedBuffer::default(), SharedBuffer::default());
        let mut screen = Screen::new(
            Pane::terminal(Box::new(data.clone()), Paint::Plain),
            Pane::terminal(Box::new(notes.clone()), Paint::Plain),
        );
        let live = [Line::plain("one"), Line::plain("› two"), Line::plain("three")];
        screen.live(&live, 80, Some((1, 5))).unwrap();
        screen.clear().unwrap();
        assert_eq!(notes.text(), "one\x1b[K\r\n› two\x1b[K\r\nthree\x1b[K\r\x1b[1A\x1b[5C\r\x1b[1A\x1b[J");
    }

    #[test]
    fn c32_lines_that_a_narrower_terminal_wraps_are_removed_whole() {
        let buffer = SharedBuffer::default();
        let pane = || Pane::terminal(Box::new(buffer.clone()), Paint::Plain);
        for (cursor, up) in [(None, 5), (Some((2, 5)), 5), (Some((1, 12)), 4)] {
            let mut screen = Screen::new(pane(), pane());
            // Three, two and one rows of ten columns.
            let live = [Line::plain(&"a".repeat(25)), Line::plain(&"b".repeat(15)), Line::plain("short")];
            screen.live(&live, 80, cursor).unwrap();
            screen.resized(10);
            let drawn = buffer.text().len();
            screen.clear().unwrap();
            assert_eq!(buffer.text()[drawn..], format!("\r\x1b[{up}A\x1b[J"), "{cursor:?}");
        }
    }

    #[test]
    fn output_waits_while_another_program_has_the_terminal() {
        let (data, notes) = (SharedBuffer::default(), SharedBuffer::default());
        let mut screen = Screen::new(
            Pane::terminal(Box::new(data.clone()), Paint::Plain),
            Pane::terminal(Box::new(notes.clone()), Paint::Plain),
        );
        screen.suspend().unwrap();
        screen.data(&[Line::plain("answer")]).unwrap();
        screen.notes(&[Line::plain("note")]).unwrap();
        screen.live(&[Line::plain("spinner")], 80, None).unwrap();
        assert_eq!((data.text().as_str(), notes.text().as_str()), ("", ""));
        screen.resume().unwrap();
        assert_eq!((data.text().as_str(), notes.text().as_str()), ("answer\r\n", "note\r\n"));
    }
}
