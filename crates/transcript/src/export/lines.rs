//! The session's own lines.

use std::io::Write;

use super::source::ExportSource;
use super::{Detail, Options};
use crate::Error;
use crate::blocks::{Block, Blocks, Buffer};
use crate::error::At as _;
use crate::roots::SessionFiles;

/// Writes the lines as they are, or with secrets redacted.
///
/// Damaged lines are written too: an export loses nothing. Secrets in a line that is too long to be read
/// cannot be redacted; it is replaced by a line that notes this.
pub(super) fn write(
    source: &mut ExportSource<'_>,
    files: &SessionFiles,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let count = match options.detail {
        Detail::Folded => usize::from(files.main.is_some()),
        Detail::Full => usize::MAX,
    };
    let mut buffer = Buffer::default();
    for file in files.files().take(count) {
        let opened = fs_err::File::open(&file.path).at("read", &file.path)?;
        if !source.is_redacted() {
            let mut opened = opened;
            std::io::copy(&mut opened, out).map_err(Error::export)?;
            continue;
        }
        let mut blocks = Blocks::new(opened, 0, &mut buffer);
        while let Some(block) = blocks.next().at("read", &file.path)? {
            match block {
                Block::Lines { bytes, .. } => {
                    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                        let text = String::from_utf8_lossy(line);
                        let redacted = source.line(&text);
                        // A line without secrets keeps its bytes, even if they are not UTF-8.
                        let bytes = if redacted == text { line } else { redacted.as_bytes() };
                        out.write_all(bytes).map_err(Error::export)?;
                    }
                }
                Block::Oversized { len, .. } => {
                    writeln!(out, "{{\"type\":\"tidings-omitted\",\"bytes\":{len}}}")
                        .map_err(Error::export)?;
                }
            }
        }
    }
    Ok(())
}
