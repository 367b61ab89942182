//! The input line: a prompt that is being written, its history, completions and images.
//!
//! Keys go in, lines come out, and at the end there is a [`Draft`]. Editing is that of `text`, so that it
//! handles every script; keys and the screen are ours, since the prompt is edited while an answer is shown
//! above it.

mod completion;
mod files;
mod history;
mod layout;
mod text;

use std::path::PathBuf;

use tidings_api::Attachment;

pub use self::completion::SlashCommand;
pub use self::history::PromptHistory;

use self::completion::{Completer, Menu, Step};
use self::text::{DraftText, TooLong};
use super::keys::Key;
use super::line::Line;
use super::style::Style;
use crate::human;

/// A prompt that was entered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    pub text: String,
    /// Images, each with the text that stands for it in the prompt.
    pub images: Vec<(String, Attachment)>,
}

/// Effect of a key outside of the input line.
#[derive(Debug, PartialEq)]
pub enum PromptAction {
    None,
    /// Enter: the prompt is sent, after the current turn if one runs.
    Send(Draft),
    /// Ctrl-S: the prompt is sent into the current turn.
    Steer(Draft),
    /// Ctrl-G: the text is edited in the user's editor.
    OpenEditor(String),
    /// Ctrl-V: an image is read from the clipboard.
    ReadClipboard,
    /// `?` in an empty line.
    ShowKeys,
    /// Ctrl-D in an empty line, `/exit` or `/quit`.
    Leave,
}

/// The input line of a session.
pub struct PromptInput {
    text: DraftText,
    history: PromptHistory,
    completer: Completer,
    folder: Option<PathBuf>,
    menu: Option<Menu>,
    /// Images of this prompt, each with the text that stands for it in the prompt.
    images: Vec<(String, Attachment)>,
    /// Long pasted texts of this prompt, each with the text that stands for it.
    pastes: Vec<(String, String)>,
    /// The search in the history.
    recall: Option<Recall>,
    /// Error, shown until the next key.
    error: Option<String>,
}

/// A search in the history of prompts.
struct Recall {
    query: String,
    /// Number of the prompt that was found.
    found: Option<usize>,
    /// Text that was typed before the search.
    typed: String,
}

/// Lines and bytes from which a pasted text is folded.
const PASTE_LINES_MIN: usize = 12;
const PASTE_BYTES_MIN: usize = 4 << 10;

/// Keys and their functions, for the user.
pub(crate) const KEYS: [(&str, &str); 13] = [
    ("Enter", "send; during a turn: queue for after it"),
    ("Ctrl-S", "steer: send into the current turn"),
    ("Alt-Enter, Ctrl-J, \\ Enter", "new line"),
    ("Tab", "complete a /command or an @file"),
    ("Up, Down", "move between lines, then through earlier prompts of this folder"),
    ("Ctrl-R", "search in the earlier prompts of this folder; again: an older one"),
    ("Ctrl-G", "write the prompt in $VISUAL or $EDITOR"),
    ("Ctrl-V", "attach the image in the clipboard; a dragged image is attached too"),
    ("Ctrl-A, Ctrl-E, Alt-B, Alt-F", "start and end of the line, word back and forward"),
    ("Ctrl-U, Ctrl-K, Ctrl-W, Ctrl-Y", "cut to the start, to the end, a word; insert it again"),
    ("Ctrl-C", "clear the line, then interrupt the turn; twice without a turn: leave"),
    ("Ctrl-D", "leave; a turn on a server continues"),
    ("Ctrl-Z", "back to the shell; `fg` returns"),
];

impl PromptInput {
    pub(crate) fn new(history: PromptHistory) -> Self {
        PromptInput {
            text: DraftText::new(),
            history,
            completer: Completer::default(),
            folder: None,
            menu: None,
            images: Vec::new(),
            pastes: Vec::new(),
            recall: None,
            error: None,
        }
    }

    /// Sets the folder in which files are completed; none if it is on another machine.
    pub(crate) fn set_folder(&mut self, folder: Option<PathBuf>) {
        self.completer.set_folder(folder.clone());
        self.folder = folder;
    }

    pub(crate) fn set_commands(&mut self, commands: Vec<SlashCommand>) {
        self.completer.set_commands(commands);
    }

    /// The text after `@` before the cursor, if its files are on another machine and were not searched yet.
    pub fn remote_query(&self) -> Option<&str> {
        self.completer.remote_query(self.text.as_str(), self.text.cursor())
    }

    /// Sets the files on another machine that were found for a text.
    pub fn set_remote_files(&mut self, query: String, files: Vec<String>) {
        self.completer.set_remote_files(query, files);
        self.menu = self.completer.menu(self.text.as_str(), self.text.cursor());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Replaces the text, as after an editor.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.text.set(text);
        self.edited();
    }

    /// Puts a prompt back that was not sent, before what is typed.
    pub(crate) fn put_back(&mut self, draft: Draft) {
        let typed = self.text.take();
        let parts = [draft.text.as_str(), typed.as_str()].into_iter().filter(|part| !part.is_empty());
        let text = parts.collect::<Vec<_>>().join("\n");
        self.text.set(&text);
        self.images.extend(draft.images);
        self.edited();
    }

    /// Clears the line; returns false if it was empty.
    pub(crate) fn clear(&mut self) -> bool {
        let had_text = !self.text.is_empty();
        self.text.set("");
        self.images.clear();
        self.pastes.clear();
        self.recall = None;
        self.error = None;
        self.edited();
        had_text
    }

    /// Shows an error until the next key.
    pub(crate) fn fail(&mut self, error: String) {
        self.error = Some(error);
    }

    /// Attaches an image.
    pub(crate) fn attach_image(&mut self, bytes: &[u8]) {
        match files::image(bytes, None::<String>) {
            Ok(image) => self.attach(image),
            Err(error) => self.fail(error),
        }
    }

    pub(crate) fn key(&mut self, key: &Key) -> PromptAction {
        self.error = None;
        if self.recall_key(key) {
            return PromptAction::None;
        }
        match key {
            Key::Ctrl('r') => {
                let typed = self.text.as_str().to_owned();
                self.recall = Some(Recall { query: String::new(), found: None, typed });
            }
            Key::Char('?') if self.text.is_empty() => return PromptAction::ShowKeys,
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.paste(text),
            Key::Newline => self.insert("\n"),
            Key::Enter => return self.enter(),
            Key::Ctrl('s') => {
                return self.take().map_or(PromptAction::None, PromptAction::Steer);
            }
            Key::Ctrl('g') => return PromptAction::OpenEditor(self.unfolded(self.text.as_str())),
            Key::Ctrl('v') => return PromptAction::ReadClipboard,
            Key::Ctrl('d') if self.text.is_empty() => return PromptAction::Leave,
            Key::Tab => self.complete(Step::Next),
            Key::BackTab => self.complete(Step::Previous),
            Key::Escape => self.menu = None,
            Key::Up | Key::Ctrl('p') => self.up(),
            Key::Down | Key::Ctrl('n') => self.down(),
            key => self.edit(key),
        }
        PromptAction::None
    }

    /// Formats the line, its completions and its error. Returns the row and column of the cursor with them.
    pub(crate) fn lines(&self, columns: usize) -> (Vec<Line>, (usize, usize)) {
        let layout::PromptRows { mut lines, cursor } =
            layout::rows(self.text.as_str(), self.text.cursor(), columns);
        lines.extend(self.recall.iter().map(|recall| {
            let is_missing = recall.found.is_none() && !recall.query.is_empty();
            let found = if is_missing { "no earlier prompt has " } else { "earlier prompts: " };
            Line::styled(&format!("  {found}{}", recall.query), Style::DIM)
        }));
        lines.extend(self.menu.iter().flat_map(layout::menu_lines));
        lines.extend(self.error.iter().map(|error| Line::styled(&format!("  ✗ {error}"), Style::RED)));
        (lines, cursor)
    }

    /// Passes a key to the search in the history. Returns false if there is none, or if the key ends it and
    /// still has its usual effect.
    fn recall_key(&mut self, key: &Key) -> bool {
        let Some(recall) = &mut self.recall else { return false };
        let below = match key {
            Key::Ctrl('r') => recall.found,
            Key::Char(c) => {
                recall.query.push(*c);
                recall.found.map(|at| at + 1)
            }
            Key::Backspace => {
                recall.query.pop();
                None
            }
            Key::Escape | Key::Ctrl('g') => {
                let typed = std::mem::take(&mut recall.typed);
                self.recall = None;
                self.text.set(&typed);
                return true;
            }
            _ => {
                self.recall = None;
                self.edited();
                // Enter takes the prompt into the line; it is sent by the next one.
                return *key == Key::Enter;
            }
        };
        match self.history.find(&recall.query, below) {
            Some((at, prompt)) if !recall.query.is_empty() => {
                recall.found = Some(at);
                let prompt = prompt.to_owned();
                self.text.set(&prompt);
                self.menu = None;
            }
            // The oldest one stays if there is no older one.
            _ if *key == Key::Ctrl('r') => {}
            _ => {
                recall.found = None;
                let typed = recall.typed.clone();
                self.text.set(&typed);
            }
        }
        true
    }

    /// A text with the pasted ones in place of the texts that stand for them.
    fn unfolded(&self, text: &str) -> String {
        self.pastes.iter().fold(text.to_owned(), |text, (mark, pasted)| text.replacen(mark, pasted, 1))
    }

    /// Moves the cursor, or deletes text.
    fn edit(&mut self, key: &Key) {
        let text = &mut self.text;
        match key {
            Key::Left | Key::Ctrl('b') => text.left(),
            Key::Right | Key::Ctrl('f') => text.right(),
            Key::Alt('b') => text.word_left(),
            Key::Alt('f') => text.word_right(),
            Key::Home | Key::Ctrl('a') => text.home(),
            Key::End | Key::Ctrl('e') => text.end(),
            Key::Backspace => text.backspace(),
            Key::Delete | Key::Ctrl('d') => text.delete(),
            Key::Ctrl('u') => text.cut_to_home(),
            Key::Ctrl('k') => text.cut_to_end(),
            Key::Ctrl('w') => text.cut_word_left(),
            Key::Alt('d') => text.cut_word_right(),
            Key::Ctrl('t') => text.transpose(),
            Key::Ctrl('y') => {
                let yanked = text.yank();
                self.check(&yanked);
            }
            _ => return,
        }
        self.edited();
    }

    /// Enter sends the prompt; after a backslash it adds a line.
    fn enter(&mut self) -> PromptAction {
        let before = &self.text.as_str()[..self.text.cursor()];
        if before.ends_with('\\') {
            self.text.backspace();
            self.insert("\n");
            return PromptAction::None;
        }
        match self.take() {
            Some(draft) if matches!(draft.text.trim(), "/exit" | "/quit") => PromptAction::Leave,
            Some(draft) => PromptAction::Send(draft),
            None => PromptAction::None,
        }
    }

    /// Takes the prompt, and stores it in the history; none if it is blank.
    fn take(&mut self) -> Option<Draft> {
        if self.text.as_str().trim().is_empty() {
            return None;
        }
        let text = self.text.take();
        let text = self.unfolded(&text);
        self.pastes.clear();
        self.history.add(&text);
        let mut images = std::mem::take(&mut self.images);
        images.retain(|(mark, _)| text.contains(mark));
        self.edited();
        Some(Draft { text: text.trim().to_owned(), images })
    }

    fn insert(&mut self, text: &str) {
        let inserted = self.text.insert(text);
        self.check(&inserted);
        self.edited();
    }

    fn check(&mut self, edit: &Result<(), TooLong>) {
        if *edit == Err(TooLong) {
            self.fail("The text is too long; put it into a file, and name the file with @".to_owned());
        }
    }

    /// Inserts pasted text. Dragged images become attachments, and other dragged files references.
    fn paste(&mut self, text: &str) {
        // The files of a session on another machine are not here.
        let are_here = |files: &Vec<PathBuf>| {
            self.folder.is_some() || files.iter().all(|file| files::is_image_name(file))
        };
        let files = files::dragged(text).filter(are_here);
        let Some(files) = files else {
            // Keep line breaks and tabs; other control characters have no meaning in a prompt.
            let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
            return self.insert_pasted(text);
        };
        for file in files {
            if files::is_image_name(&file) {
                match files::read_image(&file) {
                    Ok(image) => self.attach(image),
                    Err(error) => self.fail(error),
                }
            } else {
                self.insert(&format!("{} ", files::reference(&file, self.folder.as_deref())));
            }
        }
    }

    /// Inserts a pasted text; a text that stands for it if it is long.
    fn insert_pasted(&mut self, text: String) {
        let lines = text.lines().count();
        if lines < PASTE_LINES_MIN && text.len() < PASTE_BYTES_MIN {
            return self.insert(&text);
        }
        let folded: usize = self.pastes.iter().map(|(_, pasted)| pasted.len()).sum();
        if self.text.as_str().len() + folded + text.len() > text::BYTES_MAX {
            return self.check(&Err(TooLong));
        }
        let size = human::plural(lines as u64, "line");
        let mark = format!("[pasted text {}: {size}]", self.pastes.len() + 1);
        self.insert(&mark);
        self.pastes.push((mark, text));
    }

    fn attach(&mut self, image: Attachment) {
        let name = image.name.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
        let mark = format!("[image {}{name}]", self.images.len() + 1);
        self.images.push((mark.clone(), image));
        self.insert(&format!("{mark} "));
    }

    /// Completes the word before the cursor: as far as it is certain, then candidate by candidate.
    fn complete(&mut self, step: Step) {
        let Some(menu) = &mut self.menu else { return };
        let (start, typed) = (menu.start, self.text.cursor() - menu.start);
        if let ([only], None) = (&menu.candidates[..], menu.at) {
            let space = if only.text.ends_with('/') { "" } else { " " };
            let replaced = self.text.replace_from(start, &format!("{}{space}", only.text));
            self.check(&replaced);
            return self.edited();
        }
        if menu.at.is_none() && menu.common_prefix().len() > typed {
            let prefix = menu.common_prefix().to_owned();
            let replaced = self.text.replace_from(start, &prefix);
            self.check(&replaced);
            return self.edited();
        }
        if let Some(chosen) = menu.choose(step) {
            let text = chosen.text.clone();
            let replaced = self.text.replace_from(start, &text);
            self.check(&replaced);
        }
        self.history.leave();
    }

    fn up(&mut self) {
        if self.text.up() {
            return;
        }
        if let Some(prompt) = self.history.older(self.text.as_str()) {
            let prompt = prompt.to_owned();
            self.text.set(&prompt);
            self.menu = None;
        }
    }

    fn down(&mut self) {
        if self.text.down() {
            return;
        }
        if let Some(prompt) = self.history.newer() {
            self.text.set(&prompt);
            self.menu = None;
        }
    }

    /// Updates what depends on the text.
    fn edited(&mut self) {
        self.history.leave();
        self.menu = self.completer.menu(self.text.as_str(), self.text.cursor());
    }
}

#[cfg(test)]
mod tests;
