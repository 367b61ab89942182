//! A bridge that implements the protocol from its description and shares no code with ours.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

/// Longest wait for a message; most take microseconds.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Raw {
    from: BufReader<UnixStream>,
    to: UnixStream,
    pub(crate) hello: Value,
    /// The messages before `ready`.
    pub(crate) remembered: Vec<(Value, Vec<u8>)>,
}

impl Raw {
    pub(crate) fn connect(folder: &Path) -> Self {
        let to = UnixStream::connect(folder.join("socket")).unwrap();
        to.set_read_timeout(Some(PATIENCE)).unwrap();
        let from = BufReader::new(to.try_clone().unwrap());
        Raw { from, to, hello: Value::Null, remembered: Vec::new() }
    }

    pub(crate) fn secret(folder: &Path) -> String {
        let record: Value =
            serde_json::from_slice(&std::fs::read(folder.join("host.json")).unwrap()).unwrap();
        record["secret"].as_str().unwrap().to_owned()
    }

    /// Attaches to a host.
    pub(crate) fn attach(folder: &Path, owner: &str, fence: u64, after: Option<u64>) -> Self {
        let mut raw = Raw::connect(folder);
        raw.ask_to_attach(&Raw::secret(folder), owner, fence, after);
        raw.greeted();
        raw
    }

    pub(crate) fn ask_to_attach(&mut self, secret: &str, owner: &str, fence: u64, after: Option<u64>) {
        let after = after.map(|after| format!(r#","after":{after}"#)).unwrap_or_default();
        let head = format!(
            r#"{{"kind":"attach","version":1,"secret":"{secret}","owner":"{owner}","fence":{fence}{after}}}"#
        );
        self.send(&head, b"");
    }

    /// Reads all messages up to `ready`.
    pub(crate) fn greeted(&mut self) {
        loop {
            let (head, bytes) = self.next();
            match head["kind"].as_str().unwrap() {
                "hello" => self.hello = head,
                "ready" => return,
                "refused" | "failed" => panic!("{head}"),
                _ => self.remembered.push((head, bytes)),
            }
        }
    }

    pub(crate) fn send(&mut self, head: &str, bytes: &[u8]) {
        let mut message = head.as_bytes().to_vec();
        message.push(b'\n');
        message.extend_from_slice(bytes);
        self.to.write_all(&message).unwrap();
    }

    pub(crate) fn write_line(&mut self, id: &str, line: &str) {
        self.send(&format!(r#"{{"kind":"in","id":"{id}","bytes":{}}}"#, line.len()), line.as_bytes());
    }

    pub(crate) fn ack(&mut self, offset: u64) {
        self.send(&format!(r#"{{"kind":"ack","offset":{offset}}}"#), b"");
    }

    /// The next message; fails when there is none.
    pub(crate) fn next(&mut self) -> (Value, Vec<u8>) {
        self.try_next().expect("the host has closed the connection")
    }

    pub(crate) fn try_next(&mut self) -> Option<(Value, Vec<u8>)> {
        let mut head = String::new();
        if self.from.read_line(&mut head).ok()? == 0 {
            return None;
        }
        let head: Value = serde_json::from_str(&head).unwrap();
        let length = head["bytes"].as_u64().unwrap_or_default();
        let mut bytes = vec![0; usize::try_from(length).unwrap()];
        self.from.read_exact(&mut bytes).ok()?;
        Some((head, bytes))
    }

    /// The next message of a kind; others are skipped.
    pub(crate) fn wait_for(&mut self, kind: &str) -> (Value, Vec<u8>) {
        loop {
            let (head, bytes) = self.next();
            if head["kind"] == kind {
                return (head, bytes);
            }
        }
    }

    /// Reads the CLI's output until the condition holds, without acknowledging.
    pub(crate) fn read_until(&mut self, enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut all = Vec::new();
        while !enough(&all) {
            let (head, bytes) = self.wait_for("out");
            all.extend_from_slice(&bytes);
            assert_eq!(head["bytes"].as_u64(), Some(bytes.len() as u64));
        }
        all
    }
}
