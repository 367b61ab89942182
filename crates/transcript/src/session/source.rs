//! The files of a session, for reading single entries.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use parking_lot::Mutex;
use tidings_protocol::entry::Entry;

use super::FileIndex;
use crate::error::At as _;
use crate::limits::LINE_BYTES_MAX;
use crate::reader::EntryLines;
use crate::roots::FileInfo;
use crate::{Error, ErrorKind, Position};

/// The files of a session, for reading single entries.
#[derive(Debug)]
pub(super) struct EntryFiles {
    files: Vec<FileInfo>,
    /// The file read last stays open: neighbouring entries are read one after the other, and a session may
    /// have more files than a process may open.
    open: Mutex<Option<(FileIndex, File)>>,
    /// Entries that are not in the files as they are: those of another agent.
    memory: Option<EntryLines>,
}

impl EntryFiles {
    pub(super) fn new(files: Vec<FileInfo>) -> Self {
        EntryFiles { files, open: Mutex::new(None), memory: None }
    }

    /// Entries made from a file of another agent.
    pub(super) fn in_memory(file: FileInfo, lines: EntryLines) -> Self {
        EntryFiles { files: vec![file], open: Mutex::new(None), memory: Some(lines) }
    }

    /// The entries, if they are in memory.
    pub(super) fn memory(&self) -> Option<&EntryLines> {
        self.memory.as_ref()
    }

    pub(super) fn files(&self) -> &[FileInfo] {
        &self.files
    }

    /// Reads the entry at a position.
    pub(super) fn read(&self, file: FileIndex, place: Position) -> Result<Entry, Error> {
        if let Some(lines) = &self.memory {
            return lines.read(place).ok_or_else(|| self.changed(file, place));
        }
        let path = &self.files[file.index()].path;
        let bytes = self.bytes(file, place).at("read", path)?;
        Entry::decode_lossy(&bytes).map_err(|_| self.changed(file, place))
    }

    /// The error for a position whose contents changed.
    pub(super) fn changed(&self, file: FileIndex, place: Position) -> Error {
        let path = self.files[file.index()].path.display();
        let message = format!("Line {} has changed since the file was opened: `{path}`", place.line);
        Error::new(ErrorKind::Io, message, "try again; another program is writing to the file")
    }

    fn bytes(&self, index: FileIndex, place: Position) -> io::Result<Vec<u8>> {
        let mut open = self.open.lock();
        let file = match &mut *open {
            Some((open_index, file)) if *open_index == index => file,
            other => &mut other.insert((index, File::open(&self.files[index.index()].path)?)).1,
        };
        file.seek(SeekFrom::Start(place.offset))?;
        let len = usize::try_from(place.bytes).unwrap_or(usize::MAX).min(LINE_BYTES_MAX);
        let mut bytes = vec![0; len];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
