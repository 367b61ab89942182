//! The agent's pipe with nothing between, or with programs that only pass on what they read: what pipes, wake-ups and
//! the reader take by themselves.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::json;

use crate::clock::{now_ns, times};
use crate::{Failure, process};

/// An agent, and those who pass on what it says.
pub(crate) struct Direct {
    agent: Child,
    passers: Vec<Child>,
    output: ChildStdout,
}

impl Direct {
    pub(crate) fn start(agent: &Path, passers: usize) -> Result<Self, Failure> {
        let mut agent = Command::new(agent).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut output = agent.stdout.take().ok_or("no pipe")?;
        let mut all = Vec::new();
        for _ in 0..passers {
            let mut passer = Command::new(std::env::current_exe()?);
            let mut passer = passer.arg("pass").stdin(output).stdout(Stdio::piped()).spawn()?;
            output = passer.stdout.take().ok_or("no pipe")?;
            all.push(passer);
        }
        Ok(Direct { agent, passers: all, output })
    }

    /// How long each piece takes, in nanoseconds.
    pub(crate) fn tell(&mut self, pieces: usize, gap_us: u64) -> Result<Vec<u64>, Failure> {
        let input = self.agent.stdin.as_mut().ok_or("no pipe")?;
        let content = format!("pieces={pieces} gap_us={gap_us}");
        let prompt = json!({"type": "user", "message": {"role": "user", "content": content}});
        input.write_all(format!("{prompt}\n").as_bytes())?;
        let (mut chunk, mut all) = (vec![0; 256 << 10], Vec::new());
        loop {
            let count = self.output.read(&mut chunk)?;
            let now = now_ns();
            all.extend(times(&chunk[..count]).map(|said| now.saturating_sub(said)));
            if count == 0 || memchr::memmem::find(&chunk[..count], br#""type":"result""#).is_some() {
                return Ok(all);
            }
        }
    }

    /// The processor time of those who pass on.
    pub(crate) fn cpu_ms(&self) -> Result<f64, Failure> {
        self.passers.iter().map(|passer| process::cpu_ms(passer.id())).sum()
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        for child in std::iter::once(&mut self.agent).chain(&mut self.passers) {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Passes on what it reads.
pub(crate) fn pass() -> Result<bool, Failure> {
    let (mut input, mut output) = (
        std::io::stdin().lock(),
        std::fs::File::from(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?),
    );
    let mut chunk = vec![0; 64 << 10];
    loop {
        match input.read(&mut chunk)? {
            0 => return Ok(true),
            count => output.write_all(&chunk[..count])?,
        }
    }
}
