//! A run written down: every line in both directions, with its time.
//!
//! One JSON object a line: `{"t_ms":12,"dir":"out","frame":{…}}`, or `"raw"` for a line that is no frame;
//! at the end `{"t_ms":…,"dir":"exit","rc":0}`. Frames stand in it byte for byte.

mod lockstep;
mod script;

use std::fmt;

use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, Text, write_string};
use tidings_protocol::ndjson::Line;

pub use lockstep::{Action, Lockstep};
pub use script::to_script;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// From the host to the CLI.
    In,
    /// From the CLI to the host.
    Out,
    /// What the CLI wrote to its error output.
    Stderr,
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A line went by.
    Line {
        /// Milliseconds since the start.
        t_ms: f64,
        /// Which way.
        direction: Direction,
        /// The line without its end.
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

/// A recording that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the recording: {}", self.line, self.message)
    }
}

impl std::error::Error for RecordingError {}

impl Event {
    /// The event as a line of a recording, without its end.
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

    /// Reads a whole recording. Kinds of events that nobody knows are passed over.
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
