//! Recordings of runs: every line in both directions, with its time.
//!
//! One JSON object per line: `{"t_ms":12,"dir":"out","frame":{…}}`, or `"raw"` for a line that is not a
//! frame; at the end `{"t_ms":…,"dir":"exit","rc":0}`. Frames are stored byte for byte.

mod lockstep;
mod script;

use std::fmt;

use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, Text, write_string};
use tidings_protocol::ndjson::Line;

pub use lockstep::{Action, Lockstep};
pub use script::to_script;

/// Direction of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// From the host to the CLI.
    In,
    /// From the CLI to the host.
    Out,
    /// From the CLI to stderr.
    Stderr,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A line was written.
    Line {
        /// Milliseconds since the start.
        t_ms: f64,
        /// Direction of the line.
        direction: Direction,
        /// The line without its line end.
        text: String,
    },
    /// The process ended.
    Exit {
        /// Milliseconds since the start.
        t_ms: f64,
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
    },
}

/// An error in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingError {
    /// Line number, from 1.
    pub line: usize,
    /// Error message.
    pub message: String,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the recording: {}", self.line, self.message)
    }
}

impl std::error::Error for RecordingError {}

impl Event {
    /// The event as a line of a recording, without the line end.
    pub fn to_line(&self) -> String {
        match self {
            Event::Line { t_ms, direction, text } => {
                let name = match direction {
                    Direction::In => "in",
                    Direction::Out => "out",
                    Direction::Stderr => "stderr",
                };
                let mut line = format!(r#"{{"t_ms":{t_ms:.1},"dir":"{name}","#);
                match FrameRef::from_json(text) {
                    Ok(frame) if *direction != Direction::Stderr => {
                        line.push_str("\"frame\":");
                        line.push_str(frame.json().as_str());
                    }
                    _ => {
                        line.push_str("\"raw\":");
                        write_string(text, &mut line);
                    }
                }
                line.push('}');
                line
            }
            Event::Exit { t_ms, code } => {
                let code = code.map_or_else(|| "null".to_owned(), |code| code.to_string());
                format!(r#"{{"t_ms":{t_ms:.1},"dir":"exit","rc":{code}}}"#)
            }
        }
    }

    /// Parses a whole recording. Unknown kinds of events are skipped.
    pub fn parse_all(text: &str) -> Result<Vec<Event>, RecordingError> {
        let lines =
            text.lines().enumerate().filter(|(_, line)| !matches!(Line::of(line.as_bytes()), Line::Blank(_)));
        let events = lines.map(|(index, line)| {
            Event::parse(line).map_err(|message| RecordingError { line: index + 1, message })
        });
        events.filter_map(Result::transpose).collect()
    }

    fn parse(line: &str) -> Result<Option<Event>, String> {
        let raw = Raw::parse(line).map_err(|error| error.to_string())?;
        let t_ms = raw.get("t_ms").and_then(Raw::f64).ok_or("`t_ms` is missing")?;
        let direction = match raw.get("dir").and_then(Raw::text).map(Text::get).as_deref() {
            Some("in") => Direction::In,
            Some("out") => Direction::Out,
            Some("stderr") => Direction::Stderr,
            Some("exit") => {
                let code = raw.get("rc").and_then(Raw::i64).and_then(|code| i32::try_from(code).ok());
                return Ok(Some(Event::Exit { t_ms, code }));
            }
            Some(_) => return Ok(None),
            None => return Err("`dir` is missing".to_owned()),
        };
        let frame = raw.get("frame").map(|frame| frame.as_str().to_owned());
        let text = frame.or_else(|| Some(raw.get("raw")?.text()?.get().into_owned()));
        let text = text.ok_or("expected `frame` or `raw`")?;
        Ok(Some(Event::Line { t_ms, direction, text }))
    }
}
