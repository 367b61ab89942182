//! Frames and entries as events.

use std::path::PathBuf;

use tidings_agent::UiMessage;
use tidings_agent::dialect::{Dialect, Lines};
use tidings_agent::fold::FoldOptions;
use tidings_agent::history::{Recording, Replay};
use tidings_protocol::entry::EntryRef;
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line};
use tidings_protocol::{DecodeError, FrameRef};

use super::recorded::{Holds, holds};
use crate::error::Exit;
use crate::input::each_line;
use crate::output::{Output, printable};

/// What the lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Frames,
    Entries,
}

/// The session has no number outside a server, so that it is the first.
const HANDLE: i64 = 1;

enum Reader {
    Frames(Recording),
    Entries(Replay),
}

/// Writes the events of the lines, each as soon as its line was read.
pub(super) fn run(
    files: &[PathBuf],
    source: Source,
    dialect: Dialect,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let mut options = FoldOptions::default();
    options.text_progress = dialect != Dialect::Ui;
    let mut reader = match source {
        Source::Frames => Reader::Frames(Recording::new(HANDLE, options)),
        Source::Entries => Reader::Entries(Replay::new(HANDLE, options)),
    };
    let mut lines = Lines::new(dialect);
    let (mut events, mut text) = (Vec::new(), String::new());
    let mut invalid = 0_u64;
    each_line(files, LINE_BYTES_MAX, |path, number, line| {
        let Line::Json(bytes) = line else { return Ok(()) };
        let Holds::Frame(bytes) = holds(bytes) else { return Ok(()) };
        if let Err(error) = reader.line(bytes, &mut events) {
            invalid += 1;
            let place = format!("{}:{number}", path.display());
            out.note(&format!("{}: {}", printable(&place), printable(&error.to_string())))?;
        }
        lines.write(&events, &mut text)?;
        events.clear();
        if !text.is_empty() {
            out.bytes(text.as_bytes())?;
            text.clear();
            // Whoever follows a running agent wants to see what is there.
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
    Ok(if invalid > 0 { Exit::NotFine } else { Exit::Fine })
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
