//! Fast path for the most frequent frame, in the exact spelling of the CLI.
//!
//! In a streamed answer nine of ten frames are deltas, and the CLI writes them all alike. Comparing the
//! constant parts is cheaper than parsing them. Every byte is still compared or checked, and a line with any
//! other spelling takes the general path.

use super::head::{Notes, Span};
use crate::json::{Checker, SyntaxError};

const EVENT: &[u8] = br#"{"type":"stream_event","event":"#;
const INDEX: &[u8] = br#"{"type":"content_block_delta","index":"#;
const DELTA: &[u8] = br#","delta":"#;
const KIND: &[u8] = br#"{"type":"#;

/// The kinds of delta, quoted, and the keys of their text.
const KINDS: [(&[u8], &[u8]); 4] = [
    (br#""text_delta""#, b"text"),
    (br#""input_json_delta""#, b"partial_json"),
    (br#""thinking_delta""#, b"thinking"),
    (br#""signature_delta""#, b"signature"),
];

/// Reads up to the end of `event` and leaves the checker after it; `false`, without moving the checker, for a
/// line with another spelling.
#[inline]
pub(super) fn scan(
    bytes: &[u8],
    checker: &mut Checker<'_>,
    notes: &mut impl Notes,
) -> Result<bool, SyntaxError> {
    let Some(parts) = parts(bytes) else { return Ok(false) };
    let start = std::mem::replace(&mut checker.at, parts.text);
    let (.., escaped) = checker.string()?;
    let end = checker.at;
    if bytes.get(end..end + 2) != Some(b"}}") {
        checker.at = start;
        return Ok(false);
    }
    checker.at = end + 2;
    // The members in the order in which the general path notes them: inner ones before outer ones.
    let event = EVENT.len();
    notes.enters(0, b"event");
    notes.enters(1, b"delta");
    notes.note(2, b"type", parts.delta + 1, Span::new(parts.kind, parts.kind_end, false));
    notes.note(2, parts.key, parts.kind_end + 1, Span::new(parts.text, end, escaped));
    notes.note(1, b"type", event + 1, Span::new(event + 8, event + INDEX.len() - 9, false));
    notes.note(1, b"index", event + INDEX.len() - 8, Span::new(event + INDEX.len(), parts.index_end, false));
    notes.note(1, b"delta", parts.index_end + 1, Span::new(parts.delta, end + 1, false));
    notes.note(0, b"type", 1, Span::new(8, EVENT.len() - 9, false));
    notes.note(0, b"event", EVENT.len() - 8, Span::new(event, end + 2, false));
    Ok(true)
}

/// Offsets of the parts of a delta.
struct DeltaOffsets {
    index_end: usize,
    /// Offset of the delta object.
    delta: usize,
    kind: usize,
    kind_end: usize,
    key: &'static [u8],
    /// Offset of the opening quote of its text.
    text: usize,
}

#[inline]
fn parts(bytes: &[u8]) -> Option<DeltaOffsets> {
    let rest = bytes.strip_prefix(EVENT)?.strip_prefix(INDEX)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A number has at least one digit and no leading zero.
    if digits == 0 || (digits > 1 && rest[0] == b'0') {
        return None;
    }
    let index_end = bytes.len() - rest.len() + digits;
    let rest = rest[digits..].strip_prefix(DELTA)?;
    let delta = bytes.len() - rest.len();
    let rest = rest.strip_prefix(KIND)?;
    let kind = bytes.len() - rest.len();
    let (name, key) = KINDS.iter().find(|(name, _)| rest.starts_with(name))?;
    let kind_end = kind + name.len();
    let rest = rest[name.len()..].strip_prefix(b",\"")?.strip_prefix(*key)?.strip_prefix(b"\":")?;
    let text = bytes.len() - rest.len();
    rest.starts_with(b"\"").then_some(DeltaOffsets { index_end, delta, kind, kind_end, key, text })
}

#[cfg(test)]
mod tests {
    use crate::{Frame, FrameRef};

    /// The same line in another spelling, so that it takes the general path.
    fn respelt(line: &str) -> String {
        line.replacen('{', "{ ", 1)
    }

    #[test]
    fn both_ways_read_the_same() {
        let inside = [
            r#""index":0,"delta":{"type":"text_delta","text":"a"}"#,
            r#""index":12,"delta":{"type":"text_delta","text":"\ud83d \n \"q\""}"#,
            r#""index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}"#,
            r#""index":0,"delta":{"type":"thinking_delta","thinking":""}"#,
            r#""index":0,"delta":{"type":"signature_delta","signature":"x"}"#,
            r#""index":0,"delta":{"type":"text_delta","text":"a","more":1}"#,
            r#""index":0,"delta":{"type":"text_delta","text":"a"},"more":{"text":"b"}"#,
            r#""index":0,"delta":{"type":"text_delta","text":7}"#,
            r#""index":0,"delta":{"type":"text_delta","thinking":"a"}"#,
            r#""index":0,"delta":{"type":"citations_delta","citation":{}}"#,
            r#""index":1.0,"delta":{"type":"text_delta","text":"a"}"#,
        ];
        let after = [
            r#","uuid":"u","session_id":"s","parent_tool_use_id":null"#,
            r#","uuid":7,"api_message_id":"m","a":1,"b":2,"c":3,"d":4"#,
            r#","ttft_ms":5,"type":"stream_event""#,
            r#","event":{"type":"content_block_stop","index":1}"#,
            "",
        ];
        for inside in inside {
            for after in after {
                let line = format!(
                    r#"{{"type":"stream_event","event":{{"type":"content_block_delta",{inside}}}{after}}}"#
                );
                let spelt = Frame::from_json(&line).unwrap();
                let other = respelt(&line);
                let general = FrameRef::from_json(&other).unwrap();
                assert_eq!(spelt.typed(), general.typed(), "{line}");
                assert_eq!(format!("{:?}", spelt.view()), format!("{:?}", general.view()), "{line}");
                assert_eq!((spelt.name(), spelt.uuid()), (general.name(), general.uuid()));
                assert_eq!(spelt.repaired(), general.repaired());
            }
        }
    }

    #[test]
    fn a_line_cut_at_any_byte_is_an_error_either_way() {
        let line = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":10,"delta":{"type":"text_delta","text":"a\nb"}},"uuid":"u"}"#;
        for cut in 0..line.len() {
            assert!(FrameRef::from_json(&line[..cut]).is_err());
            assert!(FrameRef::from_json(&respelt(&line[..cut])).is_err());
        }
        for index in ["01", "", "-1", "1e"] {
            let line = line.replace(":10,", &format!(":{index},"));
            assert_eq!(
                FrameRef::from_json(&line).is_ok(),
                FrameRef::from_json(&respelt(&line)).is_ok(),
                "{line}"
            );
        }
    }
}
