//! Lines of `tidings rehearse record`, which have the frames of both sides in them.

use tidings_protocol::json::Raw;

/// What a line holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Holds<'a> {
    /// The frame that the line is, or that was recorded in it.
    Frame(&'a [u8]),
    /// A recorded line that is no frame: one of standard error, or the end.
    Nothing,
}

/// Takes a frame out of what was recorded around it. No frame of the CLI has the time and the direction at its top.
pub(super) fn holds(line: &[u8]) -> Holds<'_> {
    let raw = str::from_utf8(line).ok().and_then(|line| Raw::parse(line).ok());
    let recorded = raw.filter(|raw| {
        raw.get("type").is_none()
            && raw.get("t_ms").and_then(Raw::f64).is_some()
            && raw.get("dir").and_then(Raw::text).is_some()
    });
    match recorded.map(|raw| raw.get("frame")) {
        None => Holds::Frame(line),
        Some(Some(frame)) => Holds::Frame(frame.as_str().as_bytes()),
        Some(None) => Holds::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_taken_out_of_what_was_recorded_around_it() {
        for (line, expected) in [
            (r#"{"t_ms":1.0,"dir":"out","frame":{"type":"result"}}"#, Holds::Frame(br#"{"type":"result"}"#)),
            (r#"{"t_ms":1.0,"dir":"in","frame":{"type":"user"}}"#, Holds::Frame(br#"{"type":"user"}"#)),
            (r#"{"t_ms":1.0,"dir":"stderr","raw":"warning"}"#, Holds::Nothing),
            (r#"{"t_ms":1.0,"dir":"exit","rc":0}"#, Holds::Nothing),
        ] {
            assert_eq!(holds(line.as_bytes()), expected, "{line}");
        }
        for line in [r#"{"type":"x","t_ms":1,"dir":"out"}"#, r#"{"dir":"out"}"#, "no JSON"] {
            assert_eq!(holds(line.as_bytes()), Holds::Frame(line.as_bytes()));
        }
    }
}
