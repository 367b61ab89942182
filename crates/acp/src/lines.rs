//! Lines of an editor, whatever their length: of a line that is too long, its id is kept.

use serde_json::value::RawValue;

use crate::limits::{ID_BYTES_MAX, NESTING_MAX};
use crate::rpc::{self, Id, RpcError};

/// Length of an empty buffer above which it is freed.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// Splits the bytes of an editor into lines.
#[derive(Debug)]
pub struct EditorLines {
    line_bytes_max: usize,
    buffer: Vec<u8>,
    /// The line that is under way, if it is too long to be kept.
    long: Option<(EnvelopeScan, u64)>,
}

/// A line of an editor.
#[derive(Debug, PartialEq, Eq)]
pub enum EditorLine {
    /// A line without its line end.
    Whole(String),
    /// A line that is too long.
    TooLong(LongLine),
}

/// The known parts of a line that is too long.
#[derive(Debug, PartialEq, Eq)]
pub struct LongLine {
    /// Its length in bytes.
    pub length: u64,
    /// Id of the message.
    pub id: Option<Id>,
    /// True for a request or a notification.
    pub has_method: bool,
    line_bytes_max: usize,
}

impl EditorLines {
    /// A splitter that keeps lines of up to this length.
    pub fn new(line_bytes_max: usize) -> Self {
        EditorLines { line_bytes_max, buffer: Vec::new(), long: None }
    }

    /// Takes bytes. Returns the lines that end in them; blank ones are left out.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<EditorLine> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            self.append(text.unwrap_or(part));
            if text.is_some() {
                lines.extend(self.end_line());
            }
        }
        lines
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.long.is_none() {
            if self.buffer.len() + bytes.len() <= self.line_bytes_max {
                return self.buffer.extend_from_slice(bytes);
            }
            let mut scan = EnvelopeScan::default();
            scan.push(&self.buffer);
            self.long = Some((scan, self.buffer.len() as u64));
            self.buffer = Vec::new();
        }
        if let Some((scan, length)) = &mut self.long {
            scan.push(bytes);
            *length += bytes.len() as u64;
        }
    }

    fn end_line(&mut self) -> Option<EditorLine> {
        if let Some((mut scan, length)) = self.long.take() {
            return Some(EditorLine::TooLong(LongLine::new(&mut scan, length, self.line_bytes_max)));
        }
        let line = String::from_utf8_lossy(&self.buffer).trim().to_owned();
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_BYTES_KEPT);
        (!line.is_empty()).then_some(EditorLine::Whole(line))
    }
}

impl LongLine {
    /// The known parts of a message, if it is longer than this.
    pub fn of_message(message: &str, line_bytes_max: usize) -> Option<Self> {
        if message.len() <= line_bytes_max {
            return None;
        }
        let mut scan = EnvelopeScan::default();
        scan.push(message.as_bytes());
        Some(LongLine::new(&mut scan, message.len() as u64, line_bytes_max))
    }

    fn new(scan: &mut EnvelopeScan, length: u64, line_bytes_max: usize) -> Self {
        scan.end();
        LongLine { length, id: scan.id(), has_method: scan.has_method, line_bytes_max }
    }

    /// True for the response to a request of ours. Its error stands for it, so that the request does not wait
    /// for ever.
    pub fn is_response(&self) -> bool {
        self.id.is_some() && !self.has_method
    }

    /// The error for the line, as a response with its id.
    pub fn error(&self) -> String {
        rpc::response(self.id.as_ref(), &Err(too_long(self.length, self.line_bytes_max)))
    }
}

/// The error for a message that is too long.
pub(crate) fn too_long(length: u64, max: usize) -> RpcError {
    let message = format!("A message of {length} bytes is longer than {max}");
    RpcError::new(RpcError::INVALID_REQUEST, message, "put large files into the folder")
}

/// Id of a request or notification that cannot be read, such as one whose brackets do not match.
pub fn id_of_call(line: &str) -> Option<Id> {
    let mut scan = EnvelopeScan::default();
    scan.push(line.as_bytes());
    scan.end();
    scan.id().filter(|_| scan.has_method)
}

/// Finds the id and the method of a JSON-RPC message, byte by byte, and keeps nothing else of it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a part of the scanner's position")]
struct EnvelopeScan {
    /// Brackets that are open, each as the one that closes it.
    open: Vec<u8>,
    /// Number of brackets that are open within these, of which the kinds are not kept.
    deeper: u64,
    in_string: bool,
    is_escaped: bool,
    /// Position within a member of the outermost object.
    member: MemberPart,
    /// The key or the id that is being read.
    token: Vec<u8>,
    /// True if the current member is the id.
    is_id: bool,
    id: Option<Vec<u8>>,
    has_method: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum MemberPart {
    /// The message has not begun, is no object, or is over.
    #[default]
    Outside,
    Key,
    Value,
}

impl EnvelopeScan {
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return self.keep(byte);
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.open_bracket(byte);
                if self.is_outermost() && byte == b'{' && self.id.is_none() && !self.has_method {
                    self.member = MemberPart::Key;
                    return;
                }
            }
            b'}' | b']' => self.close_bracket(byte),
            b':' if self.is_outermost() && self.member == MemberPart::Key => {
                let key = std::mem::take(&mut self.token);
                self.is_id = key.trim_ascii() == br#""id""# && self.id.is_none();
                self.has_method |= key.trim_ascii() == br#""method""#;
                self.member = MemberPart::Value;
                return;
            }
            b',' if self.is_outermost() => return self.end_member(MemberPart::Key),
            _ => {}
        }
        self.keep(byte);
    }

    /// True directly within the outermost object or array.
    fn is_outermost(&self) -> bool {
        self.open.len() == 1
    }

    fn open_bracket(&mut self, byte: u8) {
        if self.open.len() < NESTING_MAX {
            self.open.push(if byte == b'{' { b'}' } else { b']' });
        } else {
            self.deeper += 1;
        }
    }

    /// Closes a bracket, and those within it that were left open. One that closes nothing is skipped.
    fn close_bracket(&mut self, byte: u8) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(at) = self.open.iter().rposition(|close| *close == byte) else { return };
        if at == 0 {
            self.end_member(MemberPart::Outside);
        }
        self.open.truncate(at);
    }

    /// Ends the message. The last bracket of a broken one may be missing.
    fn end(&mut self) {
        if self.is_outermost() && !self.in_string {
            self.end_member(MemberPart::Outside);
        }
    }

    /// Keeps a byte of a key or of the id. An id that is longer than any in use is not kept.
    fn keep(&mut self, byte: u8) {
        let is_kept = match self.member {
            MemberPart::Outside => false,
            MemberPart::Key => true,
            MemberPart::Value => self.is_id,
        };
        if is_kept && self.token.len() <= ID_BYTES_MAX {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self, next: MemberPart) {
        if self.member == MemberPart::Outside {
            return;
        }
        let token = std::mem::take(&mut self.token);
        if self.is_id && self.member == MemberPart::Value && token.len() <= ID_BYTES_MAX {
            self.id = Some(token);
        }
        self.is_id = false;
        self.member = next;
    }

    fn id(&self) -> Option<Id> {
        let raw: &RawValue = serde_json::from_slice(self.id.as_deref()?).ok()?;
        Id::read(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of some bytes that come in parts of this length.
    fn lines(bytes: &str, part: usize) -> Vec<EditorLine> {
        let mut lines = EditorLines::new(100);
        bytes.as_bytes().chunks(part).flat_map(|part| lines.push(part)).collect()
    }

    #[test]
    fn r9_a_line_that_is_too_long_keeps_its_id_wherever_it_stands() {
        let data = format!(r#"{{"a":[{{"id":1,"method":2}}],"b":"\"id\":3,{{","c":"{}"}}"#, "x".repeat(200));
        let cases = [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{data}}}"#),
                Some("7"),
                true,
            ),
            (
                format!(r#"{{"method":"m","params":{data},"jsonrpc":"2.0", "id" : "a\"b" }}"#),
                Some(r#""a\"b""#),
                true,
            ),
            (format!(r#"{{"jsonrpc":"2.0","result":{data},"id":"s/t"}}"#), Some(r#""s/t""#), false),
            (format!(r#"{{"method":"m","params":{data}}}"#), None, true),
            (format!(r#"{{"method":"m","params":{data},"id":null}}"#), None, true),
            (format!(r#"[{{"id":7,"method":"m","params":{data}}}]"#), None, false),
            (
                format!(r#"{{"id":"{}","method":"m","params":{data}}}"#, "i".repeat(2 * ID_BYTES_MAX)),
                None,
                true,
            ),
            (format!("nonsense {data}"), None, false),
        ];
        for (line, id, has_method) in cases {
            for part in [1, 7, 64, 10_000] {
                let read = lines(&format!("{line}\n{{}}\n"), part);
                let [EditorLine::TooLong(long), EditorLine::Whole(next)] = read.as_slice() else {
                    panic!("{read:?}")
                };
                assert_eq!(long.id.as_ref().map(Id::as_json), id, "{line}");
                assert_eq!((long.has_method, long.length), (has_method, line.len() as u64), "{line}");
                assert_eq!(next, "{}", "the next line is whole");
            }
        }
    }

    #[test]
    fn r9_a_call_keeps_its_id_although_its_brackets_do_not_match() {
        let deep = "[".repeat(2 * NESTING_MAX);
        let closed = format!("{deep}{}", "]".repeat(2 * NESTING_MAX));
        for (line, id) in [
            (r#"{"method":"m","params":{"a":[what},"id":"a"}"#.to_owned(), Some(r#""a""#)),
            (r#"{"method":"m","params":{"a":[{"b":1]},"id":7}"#.to_owned(), Some("7")),
            (r#"{"method":"m","params":{"a":1]},"id":7}"#.to_owned(), Some("7")),
            (r#"{"id":7,"method":"m","params":{"a":[{"id":8"#.to_owned(), Some("7")),
            (r#"{"method":"m","params":{},"id":7"#.to_owned(), Some("7")),
            (format!(r#"{{"method":"m","params":{{"a":{closed}}},"id":7}}"#), Some("7")),
            (format!(r#"{{"id":7,"method":"m","params":{{"a":{deep}}},"id":8}}"#), Some("7")),
            // The id of something else is not that of the call, nor is the beginning of one.
            (r#"{"method":"m","params":{"id":8"#.to_owned(), None),
            (r#"{"method":"m","id":"8"#.to_owned(), None),
            (r#"]}{"method":"m","id":7}"#.to_owned(), Some("7")),
            (r#"{"result":[},"id":7}"#.to_owned(), None),
        ] {
            assert_eq!(id_of_call(&line).as_ref().map(Id::as_json), id, "{line}");
        }
    }

    #[test]
    fn a_line_of_the_greatest_length_is_whole_and_blank_ones_are_left_out() {
        let longest = "x".repeat(100);
        let read = lines(&format!("\n  \r\n{longest}\n"), 3);
        assert_eq!(read, [EditorLine::Whole(longest)]);
    }
}
