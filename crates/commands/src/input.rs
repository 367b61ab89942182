//! Lines from files or standard input.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tidings_protocol::ndjson::{Line, Splitter};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::error::CannotRun;

/// Bytes read at once from another process.
pub const READ_BYTES: usize = 64 << 10;

/// Calls `each` for every line of every file in turn; `-`, or an empty list, is standard input.
///
/// `cap` is the longest line that is kept whole.
pub(crate) fn each_line(
    files: &[PathBuf],
    cap: usize,
    mut each: impl FnMut(&Path, usize, Line<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stdin = [PathBuf::from("-")];
    for path in if files.is_empty() { &stdin[..] } else { files } {
        let mut source = open(path)?;
        let mut splitter = Splitter::new(cap);
        let mut chunk = vec![0; 256 << 10];
        let mut number = 0;
        loop {
            let read = match source.read(&mut chunk) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(path, &error).into()),
            };
            splitter.push(&chunk[..read]);
            while let Some(line) = splitter.next() {
                number += 1;
                each(path, number, line)?;
            }
            if read == 0 {
                break;
            }
        }
        if let Some(line) = splitter.finish() {
            each(path, number + 1, line)?;
        }
    }
    Ok(())
}

/// Lines of a stream, for a task that does not only wait for them.
pub(crate) struct StreamLines {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    splitter: Splitter,
    buffer: Vec<u8>,
}

impl StreamLines {
    /// A reader of lines up to this length.
    pub(crate) fn new(stream: impl AsyncRead + Send + Unpin + 'static, line_bytes_max: usize) -> Self {
        let splitter = Splitter::new(line_bytes_max);
        StreamLines { stream: Box::new(stream), splitter, buffer: vec![0; READ_BYTES] }
    }

    /// The next lines, as `take` returns them; `None` at the end. Cancel safe.
    pub(crate) async fn next<T>(
        &mut self,
        take: impl Fn(Line<'_>) -> Option<T>,
    ) -> io::Result<Option<Vec<T>>> {
        let count = self.stream.read(&mut self.buffer).await?;
        if count == 0 {
            return Ok(None);
        }
        self.splitter.push(&self.buffer[..count]);
        let mut lines = Vec::new();
        while let Some(line) = self.splitter.next() {
            lines.extend(take(line));
        }
        Ok(Some(lines))
    }
}

/// A line that is JSON.
pub(crate) fn json(line: Line<'_>) -> Option<String> {
    match line {
        Line::Json(line) => Some(String::from_utf8_lossy(line).into_owned()),
        _ => None,
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, CannotRun> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    match fs_err::File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CannotRun {
    let (code, hint) = match error.kind() {
        io::ErrorKind::NotFound => {
            ("not_found", "give the path of a file of NDJSON lines, or `-` for standard input")
        }
        io::ErrorKind::IsADirectory => ("is_directory", "give a file, not a folder"),
        io::ErrorKind::PermissionDenied => ("permission_denied", "check the permissions of the file"),
        _ => ("unreadable", ""),
    };
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("No such file: {}", path.display()),
        _ => format!("Failed to read {}: {error}", path.display()),
    };
    CannotRun { code, message, hint }
}
