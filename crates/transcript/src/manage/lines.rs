//! The entries of a conversation, small enough to keep for a whole file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use tidings_protocol::entry::{Entry, EntryKind, EntryRef};

use crate::Error;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, DamageKind, Reader};

/// Calls `see` for every whole entry of a file, in order, with the data needed to read it again.
///
/// Lines that the SDKs skip are skipped; invalid UTF-8 costs the SDKs more than a line, and here a few
/// characters.
pub(super) fn each_entry(
    path: &Path,
    mut see: impl FnMut(&EntryRef<'_>, EntryPosition),
) -> Result<(), Error> {
    let file = File::open(path).at("read", path)?;
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(file, &mut buffer);
    while let Some(line) = reader.next().at("read", path)? {
        match &line.content {
            Content::Entry(entry) => {
                see(entry, EntryPosition::Line { offset: line.place.offset, bytes: line.bytes.len() });
            }
            Content::Damaged(damage) if damage.kind == DamageKind::Utf8 => {
                for saved in &damage.salvaged {
                    see(&saved.entry.as_ref(), EntryPosition::Kept(Box::new(saved.entry.clone())));
                }
            }
            Content::Damaged(_) | Content::Blank => {}
        }
    }
    Ok(())
}

/// The position of an entry, for reading it again.
#[derive(Debug, Clone)]
pub(super) enum EntryPosition {
    Line {
        offset: u64,
        bytes: usize,
    },
    /// Salvaged from a damaged line.
    Kept(Box<Entry>),
}

impl EntryPosition {
    /// Reads the entry again; `None` if the file changed.
    pub(super) fn entry(&self, file: &mut File, path: &Path) -> Result<Option<Entry>, Error> {
        match self {
            EntryPosition::Kept(entry) => Ok(Some((**entry).clone())),
            EntryPosition::Line { offset, bytes } => {
                let mut line = vec![0; *bytes];
                file.seek(SeekFrom::Start(*offset)).at("read", path)?;
                match file.read_exact(&mut line) {
                    Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
                    read => read.at("read", path)?,
                }
                Ok(Entry::decode(&line).ok())
            }
        }
    }
}

/// Returns true for the kinds of entries that make up a conversation according to the SDKs.
pub(super) fn is_transcript(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::User
            | EntryKind::Assistant
            | EntryKind::Progress
            | EntryKind::System
            | EntryKind::Attachment
    )
}
