//! Lines of `tidings rehearse record`, which contain the frames of both sides.

use tidings_protocol::json::Raw;

/// Content of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecordedLine<'a> {
    /// A frame, recorded or plain.
    Frame(&'a [u8]),
    /// A recorded line without a frame: standard error, or the exit.
    Other,
}

/// Unwraps a recorded frame, and returns other lines unchanged. No frame of the CLI has the keys `t_ms` and
/// `dir`.
pub(super) fn unwrap_recorded(line: &[u8]) -> RecordedLine<'_> {
    let raw = str::from_utf8(line).ok().and_then(|line| Raw::parse(line).ok());
    let recorded = raw.filter(|raw| {
        raw.get("type").is_none()
            && raw.get("t_ms").and_then(Raw::f64).is_some()
            && raw.get("dir").and_then(Raw::text).is_some()
    });
    match recorded.map(|raw| raw.get("frame")) {
        None => RecordedLine::Frame(line),
        Some(Some(frame)) => RecordedLine::Frame(frame.as_str().as_bytes()),
        Some(None) => RecordedLine::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_frames_are_unwrapped() {
        for (line, expected) in [
            (
                r#"{"t_ms":1.0,"dir":"out","frame":{"type":"result"}}"#,
                RecordedLine::Frame(br#"{"type":"result"}"#),
            ),
            (
                r#"{"t_ms":1.0,"dir":"in","frame":{"type":"user"}}"#,
                RecordedLine::Frame(br#"{"type":"user"}"#),
            ),
            (r#"{"t_ms":1.0,"dir":"stderr","raw":"warning"}"#, RecordedLine::Other),
            (r#"{"t_ms":1.0,"dir":"exit","rc":0}"#, RecordedLine::Other),
        ] {
            assert_eq!(unwrap_recorded(line.as_bytes()), expected, "{line}");
        }
        for line in [r#"{"type":"x","t_ms":1,"dir":"out"}"#, r#"{"dir":"out"}"#, "no JSON"] {
            assert_eq!(unwrap_recorded(line.as_bytes()), RecordedLine::Frame(line.as_bytes()));
        }
    }
}
