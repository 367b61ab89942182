//! Checks that a file still holds the bytes that were read from it.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _, Seek as _, SeekFrom};

use crate::limits::FOLLOW_WINDOW_BYTES;

/// Hashes of the beginning of a file, and of the bytes before an offset.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks([Option<(FileRange, u64)>; 2]);

/// A range of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileRange {
    pub(super) start: u64,
    pub(super) len: u64,
}

impl Marks {
    /// Hashes the marks of a file that was read up to `end`.
    pub(super) fn take(file: &mut File, end: u64) -> io::Result<Self> {
        let len = end.min(FOLLOW_WINDOW_BYTES as u64);
        let parts = [FileRange { start: 0, len }, FileRange { start: end - len, len }];
        let mut marks = Marks::default();
        for (mark, part) in marks.0.iter_mut().zip(parts) {
            *mark = Some((part, part.hash(file)?));
        }
        Ok(marks)
    }

    /// Returns true if the file still has the same bytes there.
    pub(super) fn match_file(&self, file: &mut File) -> io::Result<bool> {
        for (mark, hash) in self.0.iter().flatten() {
            if mark.hash(file)? != *hash {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl FileRange {
    /// Reads the bytes, fewer if the file is shorter by now; `block` must have room for them.
    pub(super) fn read<'b>(&self, file: &mut File, block: &'b mut [u8]) -> io::Result<&'b [u8]> {
        file.seek(SeekFrom::Start(self.start))?;
        let mut filled = 0;
        let wanted = usize::try_from(self.len).unwrap_or(usize::MAX).min(block.len());
        while filled < wanted {
            match file.read(&mut block[filled..wanted]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&block[..filled])
    }

    fn hash(&self, file: &mut File) -> io::Result<u64> {
        let mut block = [0; FOLLOW_WINDOW_BYTES];
        let bytes = self.read(file, &mut block)?;
        let mut hasher = DefaultHasher::new();
        hasher.write_usize(bytes.len());
        hasher.write(bytes);
        Ok(hasher.finish())
    }
}
