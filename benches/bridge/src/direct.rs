//! The agent without anything between: what its pipe and the reader take by themselves.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::Failure;
use crate::clock::{now_ns, times};

/// An agent whose pipe we read ourselves.
pub(crate) struct Direct(Child);

impl Direct {
    pub(crate) fn start(agent: &Path) -> Result<Self, Failure> {
        let child = Command::new(agent).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        Ok(Direct(child))
    }

    /// How long each piece takes, in nanoseconds.
    pub(crate) fn tell(&mut self, pieces: usize, gap_us: u64) -> Result<Vec<u64>, Failure> {
        let (input, output) = self.0.stdin.as_mut().zip(self.0.stdout.as_mut()).ok_or("no pipes")?;
        let content = format!("pieces={pieces} gap_us={gap_us}");
        let prompt = json!({"type": "user", "message": {"role": "user", "content": content}});
        input.write_all(format!("{prompt}\n").as_bytes())?;
        let (mut chunk, mut all) = (vec![0; 256 << 10], Vec::new());
        loop {
            let count = output.read(&mut chunk)?;
            let now = now_ns();
            all.extend(times(&chunk[..count]).map(|said| now.saturating_sub(said)));
            if count == 0 || memchr::memmem::find(&chunk[..count], br#""type":"result""#).is_some() {
                return Ok(all);
            }
        }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
