//! Faults, and the frames before which they happen.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use super::stop::{Flow, Stop};
use crate::script::{Fault, FaultKind};

/// Default lifetime of a grandchild in milliseconds: long enough to be found, short enough to need no
/// cleanup.
const GRANDCHILD_MS: u64 = 60_000;

/// Default length of a long line, in bytes.
const LONG_LINE_BYTES: usize = 64 << 20;

/// Pending faults of a script.
#[derive(Debug, Default)]
pub(super) struct Faults {
    waiting: Vec<Fault>,
    /// True if nothing is written any more.
    pub(super) muted: bool,
}

impl Faults {
    pub(super) fn new(faults: &[Fault]) -> Self {
        Faults { waiting: faults.to_vec(), muted: false }
    }

    /// True if the script has a fault of this kind that lasts for the whole run.
    pub(super) fn lasts(&self, kind: FaultKind) -> bool {
        self.waiting.iter().any(|fault| fault.kind == kind)
    }

    /// Triggers the faults that are due before the `number`th frame, whose line is given.
    pub(super) fn before(&mut self, number: usize, line: &str, out: &mut dyn Write) -> Flow {
        while let Some(at) =
            self.waiting.iter().position(|fault| fault.at_frame == number && happens(fault.kind))
        {
            let fault = self.waiting.remove(at);
            self.trigger(&fault, line, out)?;
        }
        Ok(())
    }

    /// True if the response in this frame gets an unknown id.
    pub(super) fn wrong_id(&mut self, number: usize) -> bool {
        let due = |fault: &Fault| fault.kind == FaultKind::WrongId && fault.at_frame <= number;
        match self.waiting.iter().position(due) {
            Some(at) => {
                self.waiting.remove(at);
                true
            }
            None => false,
        }
    }

    fn trigger(&mut self, fault: &Fault, line: &str, out: &mut dyn Write) -> Flow {
        match fault.kind {
            FaultKind::Noise => {
                let text = fault.text.as_deref().unwrap_or_default();
                written(out.write_all(format!("{text}\n").as_bytes()))?;
            }
            FaultKind::Partial => {
                let bytes = &line.as_bytes()[..fault.bytes.min(line.len())];
                written(out.write_all(bytes).and_then(|()| out.flush()))?;
                return Err(Stop::Exit(fault.code));
            }
            FaultKind::Exit => return Err(Stop::Exit(fault.code)),
            FaultKind::Signal => return Err(Stop::Killed(fault.code)),
            FaultKind::Mute => match fault.ms {
                Some(ms) => std::thread::sleep(std::time::Duration::from_millis(ms)),
                None => self.muted = true,
            },
            FaultKind::LongLine => written(long_line(fault.length.unwrap_or(LONG_LINE_BYTES), out))?,
            FaultKind::Grandchild => grandchild(fault.ms.unwrap_or(GRANDCHILD_MS)),
            FaultKind::IgnoreEof | FaultKind::IgnoreTerm | FaultKind::WrongId => {}
        }
        Ok(())
    }
}

/// Maps a failed write to the end of the process: the host is gone.
pub(super) fn written(result: io::Result<()>) -> Flow {
    result.map_err(|_| Stop::Exit(1))
}

fn happens(kind: FaultKind) -> bool {
    !matches!(kind, FaultKind::IgnoreEof | FaultKind::IgnoreTerm | FaultKind::WrongId)
}

/// Writes a valid frame of exactly `length` bytes and a line feed, in parts.
fn long_line(length: usize, out: &mut dyn Write) -> io::Result<()> {
    let (head, tail) =
        (r#"{"type":"system","subtype":"notification","priority":"low","key":"long","text":""#, "\"}\n");
    out.write_all(head.as_bytes())?;
    let filler = [b'x'; 1 << 13];
    let mut left = length.saturating_sub(head.len() + tail.len() - 1);
    while left > 0 {
        let piece = left.min(filler.len());
        out.write_all(&filler[..piece])?;
        left -= piece;
    }
    out.write_all(tail.as_bytes())?;
    out.flush()
}

/// Starts a process in its own session: killing our process group does not reach it.
fn grandchild(ms: u64) {
    let mut command = Command::new("setsid");
    command.arg("sleep").arg(format!("{}.{:03}", ms / 1_000, ms % 1_000));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The point of this fault is that no process waits for the child.
    drop(command.spawn());
}
