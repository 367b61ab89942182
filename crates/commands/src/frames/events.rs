//! Conversion of frames and session entries to events.

use std::path::PathBuf;

use tidings_agent::UiMessage;
use tidings_agent::dialect::{Dialect, Lines};
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::{Recording, Replay};
use tidings_protocol::entry::EntryRef;
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line};
use tidings_protocol::{DecodeError, FrameRef};

use super::recorded::{RecordedLine, unwrap_recorded};
use crate::error::Exit;
use crate::input::each_line;
use crate::output::{Output, printable};

/// Kind of the input lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Frames,
    Entries,
}

/// Number of the session in its events.
const HANDLE: i64 = 1;

enum Reader {
    Frames(Recording),
    Entries(Replay),
}

/// Writes the events of the lines, each as soon as its line was read.
pub(super) fn run(
    files: &[PathBuf],
    kind: LineKind,
    dialect: Dialect,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut options = FoldOptions::default();
    options.text_progress = dialect != Dialect::Ui;
    let mut reader = match kind {
        LineKind::Frames => Reader::Frames(Recording::new(HANDLE, options)),
        LineKind::Entries => Reader::Entries(Replay::new(HANDLE, options)),
    };
    let mut lines = Lines::new(dialect);
    let (mut events, mut text) = (Vec::new(), String::new());
    let mut invalid = 0_u64;
    each_line(files, LINE_BYTES_MAX, |path, number, line| {
        let Line::Json(bytes) = line else { return Ok(()) };
        let RecordedLine::Frame(bytes) = unwrap_recorded(bytes) else { return Ok(()) };
        if let Err(error) = reader.line(bytes, &mut events) {
            invalid += 1;
            let location = format!("{}:{number}", path.display());
            out.note(&format!("{}: {}", printable(&location), printable(&error.to_string())))?;
        }
        lines.write(&events, &mut text)?;
        events.clear();
        if !text.is_empty() {
            out.bytes(text.as_bytes())?;
            text.clear();
            // Standard input may be a running agent, so its events are flushed at once.
            if files.is_empty() {
                out.flush()?;
            }
        }
        Ok(())
    })?;
    if let Reader::Entries(replay) = &mut reader {
        replay.finish(&mut events);
        lines.write(&events, &mut text)?;
        out.bytes(text.as_bytes())?;
    }
    out.flush()?;
    Ok(if invalid > 0 { Exit::Failure } else { Exit::Success })
}

impl Reader {
    fn line(&mut self, line: &[u8], events: &mut Vec<UiMessage>) -> Result<(), DecodeError> {
        match self {
            Reader::Frames(recording) => recording.frame(&FrameRef::decode(line)?, events),
            Reader::Entries(replay) => replay.entry(&EntryRef::decode(line)?, None, events),
        }
        Ok(())
    }
}
