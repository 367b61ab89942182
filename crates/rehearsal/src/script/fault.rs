//! Faults of the stand-in agent, and expectations about its input.

use serde::Deserialize;

use super::error::Problem;
use super::{Table, When};

/// A fault of the stand-in agent.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Number of the stdout frame (from 1) before which it happens; 0 is before the first byte is read.
    #[serde(default)]
    pub at_frame: usize,
    /// For `partial`: number of bytes of that frame that are written before the process ends.
    #[serde(default)]
    pub bytes: usize,
    /// For `noise`: text to write.
    #[serde(default)]
    pub text: Option<String>,
    /// For `exit`: the exit code; for `signal`: the signal that the process sends to itself.
    #[serde(default)]
    pub code: i32,
    /// For `mute`: duration of the silence in milliseconds; unlimited by default.
    #[serde(default)]
    pub ms: Option<u64>,
    /// For `long_line`: its length in bytes; 64 MiB by default.
    #[serde(default)]
    pub length: Option<usize>,
}

/// The kinds of [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// Writes text to stdout that is not a frame.
    Noise,
    /// Cuts a frame off after `bytes` bytes and ends the process.
    Partial,
    /// The process exits with `code`.
    Exit,
    /// The process kills itself with signal `code`.
    Signal,
    /// Writes nothing more, for `ms` or without end.
    Mute,
    /// Writes one line of `length` bytes.
    LongLine,
    /// The end of stdin does not end the process.
    IgnoreEof,
    /// SIGTERM does not end the process.
    IgnoreTerm,
    /// Starts a grandchild in its own session, which outlives a parent that only stops its child.
    Grandchild,
    /// Gives the next control response an unknown request id.
    WrongId,
}

/// An expectation about the input of a stand-in.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Name for the report.
    #[serde(default)]
    pub name: Option<String>,
    /// Members that a line on the agent's stdin must have (deep; further members are allowed).
    #[serde(default)]
    pub stdin: Option<Table>,
    /// Condition that a request to the API must meet.
    #[serde(default)]
    pub request: Option<When>,
    /// Exact number of matches; at least one by default. 0 means never.
    #[serde(default)]
    pub times: Option<usize>,
}

impl Fault {
    pub(super) fn check(&self) -> Result<(), Problem> {
        let missing = match self.kind {
            FaultKind::Noise if self.text.is_none() => Some(("text", "`noise` needs `text`")),
            FaultKind::Signal if self.code == 0 => Some(("code", "`signal` needs `code`, such as 9")),
            FaultKind::Partial if self.at_frame == 0 => {
                Some(("at_frame", "`partial` needs `at_frame`, from 1"))
            }
            _ => None,
        };
        missing.map_or(Ok(()), |(key, message)| Err(Problem::new(key, message)))
    }
}

impl Expect {
    pub(super) fn check(&self) -> Result<(), Problem> {
        match (&self.stdin, &self.request) {
            (Some(_), None) | (None, Some(_)) => Ok(()),
            _ => Err(Problem::general("an expectation needs either `stdin` or `request`")),
        }
    }
}
