//! Output for the host.

use std::io::Write;

use serde_json::Value;

use super::args::Format;
use super::faults::{Faults, written};
use super::frames::Frame;
use super::stop::Flow;

/// Stdout: counts the frames, and triggers the faults.
pub(super) struct Output {
    out: Box<dyn Write + Send>,
    format: Format,
    frames: usize,
    /// Frames for `--output-format json --verbose`, which prints them as one array.
    pub(super) kept: Option<Vec<String>>,
    pub(super) faults: Faults,
}

impl Output {
    pub(super) fn new(out: Box<dyn Write + Send>, format: Format, faults: Faults) -> Self {
        Output { out, format, frames: 0, kept: None, faults }
    }

    /// Triggers the faults that are due before anything is read.
    pub(super) fn begin(&mut self) -> Flow {
        self.faults.before(0, "", &mut self.out)
    }

    /// Writes one frame; formats other than `stream-json` print no frames.
    pub(super) fn frame(&mut self, frame: Frame) -> Flow {
        if self.format != Format::StreamJson {
            if let Some(kept) = &mut self.kept {
                kept.push(frame.line());
            }
            return Ok(());
        }
        self.frames += 1;
        let answers = frame.is("control_response");
        let frame = if answers && self.faults.wrong_id(self.frames) { with_unknown_id(frame) } else { frame };
        self.line(&frame.line())
    }

    /// Writes text unchanged, for the formats without frames.
    pub(super) fn plain(&mut self, text: &str) -> Flow {
        self.frames += 1;
        self.line(text)
    }

    fn line(&mut self, line: &str) -> Flow {
        self.faults.before(self.frames, line, &mut self.out)?;
        if self.faults.muted {
            return Ok(());
        }
        written(self.out.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.out.flush()))
    }
}

/// The same response, for an unknown request id.
fn with_unknown_id(frame: Frame) -> Frame {
    let mut response = frame.get("response").cloned().unwrap_or_default();
    if let Some(members) = response.as_object_mut() {
        members.insert("request_id".to_owned(), Value::from("nobody-asked"));
    }
    frame.with("response", response)
}
