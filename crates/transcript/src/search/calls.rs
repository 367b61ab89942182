//! The tool names of call ids, in one file.

use std::collections::HashMap;
use std::path::Path;

use fs_err::File;
use memchr::memmem;
use tidings_protocol::entry::EntryRef;

use crate::blocks::{Block, Blocks, Buffer};

/// The tool names of call ids, in one file.
///
/// A result names its call by id, and the call stands further up: most often just above, so the current block
/// is searched first. The rest of the file is read at most once, and only for a file with such a hit.
#[derive(Debug, Default)]
pub(super) struct CallNames {
    names: HashMap<String, String>,
    /// Offset up to which the calls of the file are known.
    read_to: u64,
    buffer: Buffer,
}

/// A line in its block.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineInBlock<'a> {
    pub(super) path: &'a Path,
    /// Offset of the block in the file.
    pub(super) block_offset: u64,
    pub(super) block: &'a [u8],
    /// Offset of the line in the block.
    pub(super) line_start: usize,
}

impl CallNames {
    /// Clears the state for another file.
    pub(super) fn forget(&mut self) {
        self.names.clear();
        self.read_to = 0;
    }

    /// The tool of the call `id` before a line.
    pub(super) fn name_of(&mut self, id: &str, here: LineInBlock<'_>) -> Option<String> {
        in_current_block(id, here).or_else(|| {
            // An unreadable file has no names; the scan itself reports it.
            self.read_up_to(here).ok();
            self.names.get(id).cloned()
        })
    }

    /// Reads the calls up to the current block.
    fn read_up_to(&mut self, here: LineInBlock<'_>) -> std::io::Result<()> {
        use std::io::{Read as _, Seek as _};
        if self.read_to >= here.block_offset {
            return Ok(());
        }
        let mut file = File::open(here.path)?;
        file.seek(std::io::SeekFrom::Start(self.read_to))?;
        let source = file.take(here.block_offset - self.read_to);
        let mut blocks = Blocks::new(source, self.read_to, &mut self.buffer);
        let marks = memmem::Finder::new(b"tool_use\"");
        while let Some(block) = blocks.next()? {
            let Block::Lines { bytes, .. } = block else { continue };
            let mut from = 0;
            while let Some(at) = marks.find(&bytes[from..]).map(|at| from + at) {
                let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
                let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                self.names.extend(calls(&bytes[start..end]));
                from = end;
            }
        }
        self.read_to = here.block_offset;
        Ok(())
    }
}

/// Like [`CallNames::name_of`], if the call stands in the current block.
fn in_current_block(id: &str, here: LineInBlock<'_>) -> Option<String> {
    // Other lines contain the id too: progress, hooks, earlier results.
    const TRIES: usize = 8;
    let above = &here.block[..here.line_start];
    memmem::FinderRev::new(id).rfind_iter(above).take(TRIES).find_map(|at| {
        let start = memchr::memrchr(b'\n', &above[..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &above[at..]).map_or(above.len(), |end| at + end);
        calls(&above[start..end]).into_iter().find(|(called, _)| called == id).map(|(_, name)| name)
    })
}

fn calls(line: &[u8]) -> Vec<(String, String)> {
    let Ok(entry) = EntryRef::decode(line) else { return Vec::new() };
    entry.tool_calls().into_iter().map(|call| (call.id.into_owned(), call.name.into_owned())).collect()
}
