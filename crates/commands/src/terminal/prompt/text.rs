//! Text of a prompt that is being written, with a cursor.

use rustyline::line_buffer::{ChangeListener, DeleteListener, Direction, LineBuffer};
use rustyline::{At, Word};

/// Maximum size of a prompt that is typed or pasted, in bytes.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// Text with a cursor, and the text that was cut last.
pub(super) struct DraftText {
    buffer: LineBuffer,
    cut: CutText,
}

/// Receives deleted text, and keeps that of a word or a line for [`DraftText::yank`].
#[derive(Default)]
struct CutText {
    text: String,
    is_cutting: bool,
}

/// An edit that does not fit into the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl DeleteListener for CutText {
    fn start_killing(&mut self) {
        self.is_cutting = true;
        self.text.clear();
    }

    fn delete(&mut self, _: usize, text: &str, _: Direction) {
        if self.is_cutting {
            self.text.push_str(text);
        }
    }

    fn stop_killing(&mut self) {
        self.is_cutting = false;
    }
}

impl ChangeListener for CutText {
    fn insert_char(&mut self, _: usize, _: char) {}

    fn insert_str(&mut self, _: usize, _: &str) {}

    fn replace(&mut self, _: usize, _: &str, _: &str) {}
}

impl DraftText {
    pub(super) fn new() -> Self {
        DraftText { buffer: LineBuffer::with_capacity(BYTES_MAX), cut: CutText::default() }
    }

    pub(super) fn as_str(&self) -> &str {
        self.buffer.as_str()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Position of the cursor in bytes.
    pub(super) fn cursor(&self) -> usize {
        self.buffer.pos()
    }

    /// Replaces everything; the cursor is at the end.
    pub(super) fn set(&mut self, text: &str) {
        let mut end = text.len().min(BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.buffer.update(&text[..end], end, &mut self.cut);
    }

    /// Removes and returns everything.
    pub(super) fn take(&mut self) -> String {
        let text = self.as_str().to_owned();
        self.set("");
        text
    }

    pub(super) fn insert(&mut self, text: &str) -> Result<(), TooLong> {
        if self.buffer.len() + text.len() > BYTES_MAX {
            return Err(TooLong);
        }
        let at = self.buffer.pos();
        self.buffer.insert_str(at, text, &mut self.cut);
        self.buffer.set_pos(at + text.len());
        Ok(())
    }

    /// Replaces the text from a position to the cursor.
    pub(super) fn replace_from(&mut self, start: usize, text: &str) -> Result<(), TooLong> {
        if self.buffer.len() + text.len() > BYTES_MAX {
            return Err(TooLong);
        }
        self.buffer.replace(start..self.buffer.pos(), text, &mut self.cut);
        Ok(())
    }

    pub(super) fn backspace(&mut self) {
        self.buffer.backspace(1, &mut self.cut);
    }

    pub(super) fn delete(&mut self) {
        self.buffer.delete(1, &mut self.cut);
    }

    pub(super) fn left(&mut self) {
        self.buffer.move_backward(1);
    }

    pub(super) fn right(&mut self) {
        self.buffer.move_forward(1);
    }

    pub(super) fn word_left(&mut self) {
        self.buffer.move_to_prev_word(Word::Emacs, 1);
    }

    pub(super) fn word_right(&mut self) {
        self.buffer.move_to_next_word(At::AfterEnd, Word::Emacs, 1);
    }

    pub(super) fn home(&mut self) {
        self.buffer.move_home();
    }

    pub(super) fn end(&mut self) {
        self.buffer.move_end();
    }

    pub(super) fn transpose(&mut self) {
        self.buffer.transpose_chars(&mut self.cut);
    }

    pub(super) fn cut_word_left(&mut self) {
        self.cutting(|buffer, cut| buffer.delete_prev_word(Word::Big, 1, cut));
    }

    pub(super) fn cut_word_right(&mut self) {
        self.cutting(|buffer, cut| buffer.delete_word(At::AfterEnd, Word::Emacs, 1, cut));
    }

    pub(super) fn cut_to_end(&mut self) {
        self.cutting(LineBuffer::kill_line);
    }

    pub(super) fn cut_to_home(&mut self) {
        self.cutting(LineBuffer::discard_line);
    }

    /// Inserts the text that was cut last.
    pub(super) fn yank(&mut self) -> Result<(), TooLong> {
        let text = self.cut.text.clone();
        self.insert(&text)
    }

    /// Moves to the line above; returns false in the first line.
    pub(super) fn up(&mut self) -> bool {
        let (start, column) = self.line();
        if start == 0 {
            return false;
        }
        let above = self.as_str()[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        self.move_to(above, column);
        true
    }

    /// Moves to the line below; returns false in the last line.
    pub(super) fn down(&mut self) -> bool {
        let (_, column) = self.line();
        let Some(end) = self.as_str()[self.cursor()..].find('\n') else { return false };
        self.move_to(self.cursor() + end + 1, column);
        true
    }

    /// Start of the cursor's line, and the number of characters before the cursor in it.
    fn line(&self) -> (usize, usize) {
        let before = &self.as_str()[..self.cursor()];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (start, before[start..].chars().count())
    }

    /// Moves to a column of the line that starts at a position, or to its end if it is shorter.
    fn move_to(&mut self, start: usize, column: usize) {
        let line = self.as_str()[start..].split('\n').next().unwrap_or_default();
        let offset = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        self.buffer.set_pos(start + offset);
    }

    fn cutting(&mut self, edit: impl FnOnce(&mut LineBuffer, &mut CutText) -> bool) {
        self.cut.start_killing();
        edit(&mut self.buffer, &mut self.cut);
        self.cut.stop_killing();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(start: &str) -> DraftText {
        let mut text = DraftText::new();
        text.set(start);
        text
    }

    #[test]
    fn words_and_lines_are_cut_and_inserted_again() {
        let mut draft = text("one two\nthree four");
        draft.cut_word_left();
        assert_eq!(draft.as_str(), "one two\nthree ");
        draft.yank().unwrap();
        draft.home();
        draft.cut_to_end();
        assert_eq!(draft.as_str(), "one two\n");
        draft.up();
        draft.yank().unwrap();
        assert_eq!(draft.as_str(), "three fourone two\n");
        draft.cut_to_home();
        assert_eq!((draft.as_str(), draft.cursor()), ("one two\n", 0));
        draft.word_right();
        draft.delete();
        draft.insert("–").unwrap();
        assert_eq!(draft.as_str(), "one–two\n");
        assert_eq!((draft.take().as_str(), draft.is_empty()), ("one–two\n", true));
    }

    #[test]
    fn the_cursor_moves_between_lines() {
        let mut draft = text("a long line\nkurz\nthe läst line");
        assert!(draft.up());
        assert_eq!(draft.cursor(), "a long line\nkurz".len());
        assert!(draft.up());
        assert_eq!(draft.cursor(), 4);
        assert!(!draft.up());
        assert!(draft.down() && draft.down() && !draft.down());
        assert_eq!(&draft.as_str()[draft.cursor()..], "läst line");
    }

    #[test]
    fn a_text_that_is_too_long_is_refused_and_not_cut() {
        let mut draft = text("a");
        assert_eq!(draft.insert(&"b".repeat(BYTES_MAX)), Err(TooLong));
        assert_eq!(draft.as_str(), "a");
    }
}
