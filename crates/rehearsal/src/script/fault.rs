use schemars::JsonSchema;
use serde::Deserialize;

use super::error::Problem;
use super::{Table, When};

/// Something that goes wrong in the stand-in agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Before which frame written to stdout (from 1) it happens; 0 is before the first byte is read.
    #[serde(default)]
    pub at_frame: usize,
    /// For `partial`: how many bytes of that frame are written before the process ends.
    #[serde(default)]
    pub bytes: usize,
    /// For `noise`: what is written.
    #[serde(default)]
    pub text: Option<String>,
    /// For `exit`: the exit code; for `signal`: the signal the process sends itself.
    #[serde(default)]
    pub code: i32,
    /// For `mute`: how long nothing is written; for ever unless written.
    #[serde(default)]
    pub ms: Option<u64>,
    /// For `long_line`: its length; 64 MiB unless written.
    #[serde(default)]
    pub length: Option<usize>,
}

/// The kinds of [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// Text that is no frame on stdout.
    Noise,
    /// A frame breaks off after `bytes` bytes and the process ends.
    Partial,
    /// The process exits with `code`.
    Exit,
    /// The process kills itself with signal `code`.
    Signal,
    /// Nothing is written any more, for `ms` or for ever.
    Mute,
    /// One line of `length` bytes.
    LongLine,
    /// The end of stdin does not end the process.
    IgnoreEof,
    /// SIGTERM does not end the process.
    IgnoreTerm,
    /// A grandchild in a session of its own, which outlives a careless parent.
    Grandchild,
    /// The next answer to a control request carries an id that nobody used.
    WrongId,
}

/// What must arrive at a stand-in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// What this is about, for the report.
    #[serde(default)]
    pub name: Option<String>,
    /// A line on the agent's stdin that has these members (deep; more may be there).
    #[serde(default)]
    pub stdin: Option<Table>,
    /// A request to the API that fits.
    #[serde(default)]
    pub request: Option<When>,
    /// How often; at least once unless written. 0 means never.
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
