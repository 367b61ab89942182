//! The entries that have a place in the conversation, light enough to keep for a whole file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use tidings_protocol::entry::{Entry, EntryKind, EntryRef};

use crate::Error;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::reader::{Content, DamageKind, Reader};

/// Hands every whole entry of a file to `see`, in order, with what is needed to read it again.
///
/// Lines that the SDKs pass over are passed over; only bytes that are no UTF-8 cost them more than a line, and here
/// they cost a few characters.
pub(super) fn each_entry(path: &Path, mut see: impl FnMut(&EntryRef<'_>, Spot)) -> Result<(), Error> {
    let file = File::open(path).at("read", path)?;
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(file, &mut buffer);
    while let Some(line) = reader.next().at("read", path)? {
        match &line.content {
            Content::Entry(entry) => {
                see(entry, Spot::Line { offset: line.place.offset, bytes: line.bytes.len() });
            }
            Content::Damaged(damage) if damage.kind == DamageKind::Utf8 => {
                for saved in &damage.salvaged {
                    see(&saved.entry.as_ref(), Spot::Kept(Box::new(saved.entry.clone())));
                }
            }
            Content::Damaged(_) | Content::Blank => {}
        }
    }
    Ok(())
}

/// Where to read an entry again.
#[derive(Debug, Clone)]
pub(super) enum Spot {
    Line {
        offset: u64,
        bytes: usize,
    },
    /// Saved out of a damaged line.
    Kept(Box<Entry>),
}

impl Spot {
    /// Reads the entry again; `None` when the file is no longer what it was.
    pub(super) fn entry(&self, file: &mut File, path: &Path) -> Result<Option<Entry>, Error> {
        match self {
            Spot::Kept(entry) => Ok(Some((**entry).clone())),
            Spot::Line { offset, bytes } => {
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

/// The kinds that make up a conversation, as the SDKs see it.
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
