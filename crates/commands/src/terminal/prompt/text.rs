//! Text of a prompt that is being written, with a cursor.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum size of a prompt that is typed or pasted, in bytes.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// Text with a cursor, and the text that was cut last. Positions are in bytes, and the cursor stands between
/// characters as people see them: an emoji of several code points is one.
#[derive(Debug, Default)]
pub(super) struct DraftText {
    text: String,
    cursor: usize,
    cut: String,
}

/// An edit that does not fit into the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Letters that belong to a word.
type IsPart = fn(char) -> bool;

/// Words as Emacs moves over them.
const WORD: IsPart = char::is_alphanumeric;

/// Words between spaces, as Ctrl-W cuts them in a shell.
const BIG_WORD: IsPart = |c| !c.is_whitespace();

impl DraftText {
    pub(super) fn new() -> Self {
        DraftText::default()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Position of the cursor in bytes.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Replaces everything; the cursor is at the end.
    pub(super) fn set(&mut self, text: &str) {
        let mut end = text.len().min(BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text[..end].clone_into(&mut self.text);
        self.cursor = end;
    }

    /// Removes and returns everything.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    pub(super) fn insert(&mut self, text: &str) -> Result<(), TooLong> {
        self.replace_from(self.cursor, text)
    }

    /// Replaces the text from a position to the cursor.
    pub(super) fn replace_from(&mut self, start: usize, text: &str) -> Result<(), TooLong> {
        if self.text.len() + text.len() > BYTES_MAX {
            return Err(TooLong);
        }
        self.text.replace_range(start..self.cursor, text);
        self.cursor = start + text.len();
        Ok(())
    }

    pub(super) fn backspace(&mut self) {
        self.remove(self.before()..self.cursor);
    }

    pub(super) fn delete(&mut self) {
        self.remove(self.cursor..self.after());
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.before();
    }

    pub(super) fn right(&mut self) {
        self.cursor = self.after();
    }

    pub(super) fn word_left(&mut self) {
        self.cursor = self.word_start(WORD);
    }

    pub(super) fn word_right(&mut self) {
        self.cursor = self.word_end(WORD);
    }

    pub(super) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    pub(super) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// Exchanges the characters around the cursor; at the end, the last two.
    pub(super) fn transpose(&mut self) {
        if self.cursor == self.text.len() {
            self.left();
        }
        let (start, middle, end) = (self.before(), self.cursor, self.after());
        if start < middle && middle < end {
            let exchanged = [&self.text[middle..end], &self.text[start..middle]].concat();
            self.text.replace_range(start..end, &exchanged);
            self.cursor = end;
        }
    }

    pub(super) fn cut_word_left(&mut self) {
        self.cut(self.word_start(BIG_WORD)..self.cursor);
    }

    pub(super) fn cut_word_right(&mut self) {
        self.cut(self.cursor..self.word_end(WORD));
    }

    /// Cuts the rest of the line, or its end if nothing else is left of it.
    pub(super) fn cut_to_end(&mut self) {
        let end = self.line_end();
        self.cut(self.cursor..if end == self.cursor { self.after() } else { end });
    }

    /// Cuts the line before the cursor, or the end of the line above.
    pub(super) fn cut_to_home(&mut self) {
        let start = self.line_start();
        self.cut(if start == self.cursor { self.before() } else { start }..self.cursor);
    }

    /// Inserts the text that was cut last.
    pub(super) fn yank(&mut self) -> Result<(), TooLong> {
        let text = self.cut.clone();
        self.insert(&text)
    }

    /// Moves to the line above; returns false in the first line.
    pub(super) fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let column = self.text[start..self.cursor].chars().count();
        self.move_to(self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1), column);
        true
    }

    /// Moves to the line below; returns false in the last line.
    pub(super) fn down(&mut self) -> bool {
        let (start, end) = (self.line_start(), self.line_end());
        if end == self.text.len() {
            return false;
        }
        self.move_to(end + 1, self.text[start..self.cursor].chars().count());
        true
    }

    /// Moves to a column of the line that starts at a position, or to its end if it is shorter.
    fn move_to(&mut self, start: usize, column: usize) {
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        self.cursor = start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// Start of the character before the cursor.
    fn before(&self) -> usize {
        let last = self.text[..self.cursor].grapheme_indices(true).next_back();
        last.map_or(0, |(at, _)| at)
    }

    /// End of the character after the cursor.
    fn after(&self) -> usize {
        let first = self.text[self.cursor..].graphemes(true).next();
        self.cursor + first.map_or(0, str::len)
    }

    /// Start of the word that the cursor is in or behind.
    fn word_start(&self, is_part: IsPart) -> usize {
        let word = self.text[..self.cursor].trim_end_matches(|c| !is_part(c));
        word.trim_end_matches(is_part).len()
    }

    /// End of the word that the cursor is in or before.
    fn word_end(&self, is_part: IsPart) -> usize {
        let word = self.text[self.cursor..].trim_start_matches(|c| !is_part(c));
        self.text.len() - word.trim_start_matches(is_part).len()
    }

    fn remove(&mut self, range: Range<usize>) {
        self.cursor = range.start;
        self.text.replace_range(range, "");
    }

    fn cut(&mut self, range: Range<usize>) {
        self.text[range.clone()].clone_into(&mut self.cut);
        self.remove(range);
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

    #[test]
    fn what_people_see_as_one_character_is_one() {
        let mut draft = text("a👩\u{200d}👩\u{200d}👧e\u{301}");
        draft.backspace();
        assert_eq!(draft.as_str(), "a👩\u{200d}👩\u{200d}👧");
        draft.left();
        assert_eq!(draft.cursor(), 1);
        draft.transpose();
        assert_eq!(draft.as_str(), "👩\u{200d}👩\u{200d}👧a");
        draft.backspace();
        draft.backspace();
        draft.backspace();
        assert_eq!((draft.as_str(), draft.cursor()), ("", 0));
    }
}
