//! Splits the bytes of a stream into lines for a transport.

use tidings_protocol::Frame;
use tidings_protocol::ndjson::{Line, Splitter};

use super::Incoming;
use crate::limits::NOISE_BYTES_MAX;

/// Splits bytes into events, for transports that read a stream.
#[derive(Debug, Clone)]
pub struct Lines {
    splitter: Splitter,
    /// The offset at which the last line ended.
    end: u64,
}

impl Lines {
    /// Creates a splitter for lines of up to `line_bytes_max`; longer ones become [`Incoming::Oversized`].
    pub fn new(line_bytes_max: usize) -> Self {
        Lines::starting_at(line_bytes_max, 0)
    }

    /// Creates a splitter for bytes that begin at an offset of a longer stream.
    pub fn starting_at(line_bytes_max: usize, offset: u64) -> Self {
        Lines { splitter: Splitter::new(line_bytes_max), end: offset }
    }

    /// The offset at which the line of the last event ended.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Adds bytes. Pull all events before the next push.
    pub fn push(&mut self, bytes: &[u8]) {
        self.splitter.push(bytes);
    }

    /// The next event. Blank lines are skipped.
    #[expect(clippy::should_implement_trait, reason = "more events follow `None`, once bytes are pushed")]
    pub fn next(&mut self) -> Option<Incoming> {
        while let Some(line) = self.splitter.next() {
            self.end += length(line);
            if let Some(event) = event(line) {
                return Some(event);
            }
        }
        None
    }

    /// The remaining bytes at the end of the stream, as an event. A truncated frame is noise.
    pub fn finish(&mut self) -> Option<Incoming> {
        let line = self.splitter.finish()?;
        self.end += length(line);
        event(line)
    }
}

fn length(line: Line<'_>) -> u64 {
    match line {
        Line::Json(bytes) | Line::Noise(bytes) | Line::Blank(bytes) => bytes.len() as u64,
        Line::Oversized { len, .. } => len,
        _ => 0,
    }
}

fn event(line: Line<'_>) -> Option<Incoming> {
    match line {
        Line::Json(bytes) => Some(match Frame::decode_lossy(bytes) {
            Ok(frame) => Incoming::from(frame),
            Err(error) => Incoming::Noise { text: shown(bytes), error: Some(error) },
        }),
        Line::Noise(bytes) => Some(Incoming::Noise { text: shown(bytes), error: None }),
        Line::Oversized { len, head } => Some(Incoming::Oversized { bytes: len, head: shown(head) }),
        _ => None,
    }
}

fn shown(bytes: &[u8]) -> String {
    let bytes = bytes.trim_ascii();
    String::from_utf8_lossy(&bytes[..bytes.len().min(NOISE_BYTES_MAX)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F7: lines that are not JSON before, between and after frames cost none of them.
    #[test]
    fn f7_noise_costs_no_frame() {
        let mut lines = Lines::new(64);
        let text = b"banner\n{\"type\":\"keep_alive\"}\n\n{broken\n{\"type\":\"keep_alive\"}\r\n".as_slice();
        let long = [b"{".as_slice(), &[b'x'; 100], b"\n{\"type\":\"keep_ali"].concat();
        let mut seen = Vec::new();
        for byte in text.iter().chain(&long) {
            lines.push(&[*byte]);
            while let Some(event) = lines.next() {
                seen.push(event);
            }
        }
        seen.extend(lines.finish());
        assert_eq!(lines.end(), (text.len() + long.len()) as u64);
        let shape: Vec<&str> = seen
            .iter()
            .map(|event| match event {
                Incoming::Frame { .. } => "frame",
                Incoming::Noise { error: Some(_), .. } => "broken",
                Incoming::Noise { .. } => "noise",
                Incoming::Oversized { bytes: 102, .. } => "oversized",
                _ => "other",
            })
            .collect();
        assert_eq!(shape, ["noise", "frame", "broken", "frame", "oversized", "broken"]);
    }
}
