//! The text of a line in the index: exactly what a search reads.

use std::ops::ControlFlow;

use tidings_protocol::entry::EntryRef;

use super::signature::Signature;
use crate::Position;
use crate::reader::{Content, read_line};
use crate::search::{damaged_texts, is_blob, texts};

/// Adds the text of lines to signatures: exactly the text that a search reads, so that both find the same.
#[derive(Debug, Default)]
pub(super) struct LineTexts {
    decoded: String,
}

impl LineTexts {
    /// Adds one line without its line end.
    pub(super) fn add(&mut self, line: &[u8], to: &mut Signature) {
        let place = Position { line: 0, offset: 0, bytes: line.len() as u64 };
        match read_line(line, place, true) {
            Content::Blank => {}
            Content::Entry(entry) => self.entry(&entry, to),
            Content::Damaged(damage) => {
                for saved in &damage.salvaged {
                    self.entry(&saved.entry.as_ref(), to);
                }
                damaged_texts::<()>(line, |text| {
                    to.add(text);
                    None
                });
            }
        }
    }

    fn entry(&mut self, entry: &EntryRef<'_>, to: &mut Signature) {
        // Adding shorter texts is cheaper than comparing them.
        const LONG: usize = 64;
        let mut seen: Vec<&str> = Vec::new();
        let _ = texts(entry, |_, text| {
            let escaped = text.escaped();
            if is_blob(escaped) {
                return ControlFlow::Continue(());
            }
            if escaped.len() >= LONG {
                // A tool's output stands twice in a line.
                if seen.contains(&escaped) {
                    return ControlFlow::Continue(());
                }
                seen.push(escaped);
            }
            self.decoded.clear();
            text.push_to(&mut self.decoded);
            to.add(&self.decoded);
            ControlFlow::Continue(())
        });
    }
}
