//! The first and the last part of a file.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use crate::limits::END_BYTES;
use crate::open;

/// The first and the last part of a file, and its metadata.
#[derive(Debug)]
pub(super) struct Ends<'b> {
    pub(super) head: &'b [u8],
    /// Equal to the head if the file is not longer.
    pub(super) tail: &'b [u8],
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
    pub(super) file: File,
}

/// Memory for both ends, reused from file to file.
#[derive(Debug, Default)]
pub(super) struct EndBuffers {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl EndBuffers {
    /// Reads both ends; `None` if the file is empty.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<Option<Ends<'_>>> {
        let mut file = open::regular(path)?;
        let metadata = file.metadata()?;
        let bytes = metadata.len();
        read_up_to(&mut file, &mut self.head)?;
        if self.head.is_empty() {
            return Ok(None);
        }
        let mut tail = &self.head;
        if bytes > END_BYTES as u64 {
            file.seek(SeekFrom::Start(bytes - END_BYTES as u64))?;
            read_up_to(&mut file, &mut self.tail)?;
            tail = &self.tail;
        }
        Ok(Some(Ends { head: &self.head, tail, bytes, modified: metadata.modified()?, file }))
    }
}

impl Ends<'_> {
    /// Returns true if the file is longer than its head.
    pub(super) fn goes_on(&self) -> bool {
        self.bytes > self.head.len() as u64
    }
}

fn read_up_to(file: &mut File, into: &mut Vec<u8>) -> io::Result<()> {
    into.clear();
    into.reserve(END_BYTES);
    file.take(END_BYTES as u64).read_to_end(into)?;
    Ok(())
}
