//! The state of a conversation that a host keeps for a returning bridge: open requests, the CLI's reply to
//! the handshake, the last `system/init`, and the ids of written lines.

use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;
use tidings_protocol::messages::SystemView;
use tidings_protocol::{FrameRef, Kind};

use super::wire::Novelty;
use crate::limits::{CLI_REQUESTS_MAX, HOST_IDS_MAX, HOST_LINE_BYTES_MAX, HOST_OPEN_BYTES_MAX};

#[derive(Debug, Default)]
pub(super) struct ConversationState {
    /// The line that is being read.
    line: Vec<u8>,
    /// True if the line is too long to inspect.
    skips: bool,
    /// The offset of the next byte.
    at: u64,
    open: Vec<OpenRequest>,
    /// Requests whose answers are queued for writing, each with the id of its line. Their number is bounded
    /// by the number of queued lines.
    removed: Vec<(String, OpenRequest)>,
    handshake: Option<String>,
    /// The CLI's reply to the handshake.
    pub(super) initialize: Option<Vec<u8>>,
    /// The last `system/init`.
    pub(super) init: Option<Vec<u8>>,
    /// The session of an `init` that was not taken yet.
    pub(super) started_session: Option<String>,
    written: HashSet<String>,
    written_in_order: VecDeque<String>,
}

/// The names of kinds that are kept, and an escape that may hide one.
static MARKS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["control_", "\"init\"", "\\u"].map(Finder::new));

/// True if a line may be of a kind that is kept.
fn may_be_kept(line: &[u8]) -> bool {
    MARKS.iter().any(|mark| mark.find(line).is_some())
}

/// An open request of the CLI.
#[derive(Debug)]
struct OpenRequest {
    id: String,
    /// Missing if there were too many requests, or the line was too long to keep.
    line: Option<Vec<u8>>,
    end: u64,
}

impl ConversationState {
    /// Processes bytes that the CLI wrote.
    pub(super) fn observe_output(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (rest, after) = bytes.split_at(end + 1);
            self.at += rest.len() as u64;
            if self.line.is_empty() && !self.skips && rest.len() <= HOST_LINE_BYTES_MAX {
                self.observe_line(rest);
            } else {
                self.buffer(rest);
                let mut line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.skips) {
                    self.observe_line(&line);
                }
                line.clear();
                line.shrink_to(64 << 10);
                self.line = line;
            }
            bytes = after;
        }
        self.buffer(bytes);
        self.at += bytes.len() as u64;
    }

    fn buffer(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > HOST_LINE_BYTES_MAX {
            self.skips = true;
            self.line = Vec::new();
        }
        if !self.skips {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Processes a complete line. The server decodes every line; the host decodes only those that can be of a
    /// kind that it keeps.
    fn observe_line(&mut self, line: &[u8]) {
        if !may_be_kept(line) {
            return;
        }
        let repaired;
        let frame = if let Ok(frame) = FrameRef::decode(line) {
            frame
        } else {
            // A request that is not valid UTF-8 is a request all the same.
            repaired = String::from_utf8_lossy(line).into_owned();
            let Ok(frame) = FrameRef::from_json(&repaired) else { return };
            frame
        };
        let succeeded = || frame.subtype().as_deref() == Some("success");
        let id = || frame.request_id().map(std::borrow::Cow::into_owned);
        match frame.kind() {
            Kind::ControlRequest => {
                let Some(id) = id() else { return };
                self.add_request(id, line);
            }
            Kind::ControlCancelRequest => {
                if let Some(id) = id() {
                    self.cancel_request(&id);
                }
            }
            Kind::ControlResponse if self.handshake.is_some() && self.handshake == id() && succeeded() => {
                self.initialize = Some(line.to_vec());
            }
            Kind::System if matches!(frame.system(), SystemView::Init(_)) => {
                self.init = Some(line.to_vec());
                self.started_session = frame.session_id().map(std::borrow::Cow::into_owned);
            }
            _ => {}
        }
    }

    fn add_request(&mut self, id: String, line: &[u8]) {
        let (kept, bytes) =
            self.open().fold((0, 0), |(kept, bytes), (line, _)| (kept + 1, bytes + line.len()));
        let has_room = kept < CLI_REQUESTS_MAX && bytes + line.len() <= HOST_OPEN_BYTES_MAX;
        if has_room || self.open.len() - kept < CLI_REQUESTS_MAX {
            self.open.push(OpenRequest { id, line: has_room.then(|| line.to_vec()), end: self.at });
        }
    }

    /// Removes a request that the CLI has cancelled.
    fn cancel_request(&mut self, id: &str) {
        drop(self.remove_request(id));
        self.removed.retain(|(_, removed)| removed.id != id);
    }

    fn remove_request(&mut self, id: &str) -> Option<OpenRequest> {
        let at = self.open.iter().position(|request| request.id == id)?;
        Some(self.open.remove(at))
    }

    /// Registers a line that is about to be written, unless one with that id was.
    pub(super) fn begin_write(&mut self, name: &str, frame: FrameRef<'_>) -> Novelty {
        if self.written.contains(name) {
            return Novelty::Seen;
        }
        self.written.insert(name.to_owned());
        self.written_in_order.push_back(name.to_owned());
        if self.written_in_order.len() > HOST_IDS_MAX
            && let Some(oldest) = self.written_in_order.pop_front()
        {
            self.written.remove(&oldest);
        }
        let id = || frame.request_id().map(std::borrow::Cow::into_owned);
        match frame.kind() {
            Kind::ControlResponse => {
                // A bridge that attaches meanwhile must not answer it again.
                let removed = id().and_then(|id| self.remove_request(&id));
                self.removed.extend(removed.map(|removed| (name.to_owned(), removed)));
            }
            // Recorded before it is written: the reply may arrive before the write returns.
            Kind::ControlRequest if frame.subtype().as_deref() == Some("initialize") => self.handshake = id(),
            _ => {}
        }
        Novelty::New
    }

    /// Confirms that a line was written.
    pub(super) fn finish_write(&mut self, name: &str) {
        self.removed.retain(|(by, _)| by != name);
    }

    /// Reverts a line that was not written: the request that it answers is open again.
    pub(super) fn revert_write(&mut self, name: &str) {
        self.written.remove(name);
        self.written_in_order.retain(|other| other != name);
        for (_, removed) in self.removed.extract_if(.., |(by, _)| by == name) {
            let at = self.open.partition_point(|other| other.end < removed.end);
            self.open.insert(at, removed);
        }
    }

    /// The lines of open requests and the offsets of their ends, in the order of their arrival.
    pub(super) fn open(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.open.iter().filter_map(|request| Some((request.line.as_deref()?, request.end)))
    }

    /// The number of open requests that could not be kept.
    pub(super) fn forgotten(&self) -> u64 {
        self.open.iter().filter(|request| request.line.is_none()).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(line: &str) -> FrameRef<'_> {
        FrameRef::from_json(line).unwrap()
    }

    fn question(id: &str) -> String {
        format!(
            "{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{{\"subtype\":\"can_use_tool\"}}}}\n"
        )
    }

    fn open(conversation: &ConversationState) -> Vec<&str> {
        let kept = conversation.open.iter().filter(|request| request.line.is_some());
        kept.map(|request| request.id.as_str()).collect()
    }

    /// F61: a request is open until it is answered or cancelled, however its bytes are split.
    #[test]
    fn f61_a_question_stays_open_until_it_is_settled() {
        let text = ["banner\n".to_owned(), question("a"), question("b"), question("c")].concat();
        for size in [1, 7, 1000] {
            let mut conversation = ConversationState::default();
            for chunk in text.as_bytes().chunks(size) {
                conversation.observe_output(chunk);
            }
            assert_eq!(open(&conversation), ["a", "b", "c"]);
            let kept: Vec<_> = conversation.open().collect();
            assert_eq!(kept[2], (question("c").as_bytes(), text.len() as u64));
            assert_eq!(kept[0].0, question("a").as_bytes());
            let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"b"}}"#;
            assert_eq!(conversation.begin_write("answer", frame(answer)), Novelty::New);
            assert_eq!(open(&conversation), ["a", "c"]);
            conversation.finish_write("answer");
            conversation.observe_output(b"{\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\n");
            assert_eq!(open(&conversation), ["c"]);
        }
    }

    /// The names of kinds may be written with escapes, as any text of JSON.
    #[test]
    fn f61_a_question_whose_kind_is_written_with_escapes_stays_open() {
        for kind in [r"control_request", r"\u0063ontrol_request", r"control\u005frequest"] {
            let mut conversation = ConversationState::default();
            conversation.observe_output(question("a").replace("control_request", kind).as_bytes());
            assert_eq!(open(&conversation), ["a"], "{kind}");
        }
    }

    /// F61: an answer that the CLI never got answers nothing, and a request that was cancelled meanwhile
    /// stays cancelled.
    #[test]
    fn f61_a_question_is_open_again_if_its_answer_was_not_written() {
        let answer = |id: &str| {
            format!(r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"}}}}"#)
        };
        let mut conversation = ConversationState::default();
        conversation.observe_output([question("a"), question("b"), question("c")].concat().as_bytes());
        for id in ["a", "b", "c"] {
            assert_eq!(conversation.begin_write(&format!("line {id}"), frame(&answer(id))), Novelty::New);
        }
        assert_eq!(open(&conversation), [""; 0], "no bridge may answer twice");
        conversation.observe_output(b"{\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\n");
        conversation.finish_write("line c");
        for id in ["c", "b", "a"] {
            conversation.revert_write(&format!("line {id}"));
        }
        assert_eq!(open(&conversation), ["b"]);
        assert_eq!(
            conversation.begin_write("line b", frame(&answer("b"))),
            Novelty::New,
            "it can be sent again"
        );
        assert_eq!(open(&conversation), [""; 0]);

        let mut conversation = ConversationState::default();
        for number in 0..=CLI_REQUESTS_MAX {
            conversation.observe_output(question(&number.to_string()).as_bytes());
        }
        conversation.begin_write("first", frame(&answer("0")));
        conversation.begin_write("last", frame(&answer(&CLI_REQUESTS_MAX.to_string())));
        assert_eq!((conversation.open().count(), conversation.forgotten()), (CLI_REQUESTS_MAX - 1, 0));
        conversation.revert_write("first");
        conversation.revert_write("last");
        assert_eq!(
            (open(&conversation)[0], conversation.open().count(), conversation.forgotten()),
            ("0", CLI_REQUESTS_MAX, 1)
        );
    }

    /// Only a successful reply to the handshake is kept; of `system/init` frames the last one.
    #[test]
    fn the_handshake_and_the_last_init_are_remembered() {
        let mut conversation = ConversationState::default();
        let reply = |id: &str| {
            format!(
                "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":\"{id}\",\"response\":{{}}}}}}\n"
            )
        };
        conversation.observe_output(reply("early").as_bytes());
        assert_eq!(conversation.initialize.as_deref(), None);
        conversation.begin_write(
            "1",
            frame(r#"{"type":"control_request","request_id":"hi","request":{"subtype":"initialize"}}"#),
        );
        conversation.observe_output(reply("other").as_bytes());
        assert_eq!(conversation.initialize.as_deref(), None);
        conversation.observe_output(reply("hi").as_bytes());
        assert_eq!(conversation.initialize.as_deref(), Some(reply("hi").as_bytes()));
        for session in ["one", "two"] {
            let init = format!("{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\"}}\n");
            conversation.observe_output(init.as_bytes());
            assert_eq!(conversation.init.as_deref(), Some(init.as_bytes()));
        }
    }

    /// Lines that are too long are skipped, and requests that are too many are counted.
    #[test]
    fn memory_is_bounded() {
        let mut conversation = ConversationState::default();
        conversation.observe_output(&vec![b'x'; HOST_LINE_BYTES_MAX + 1]);
        assert!(conversation.line.capacity() <= HOST_LINE_BYTES_MAX);
        conversation.observe_output(b"\n");
        for number in 0..CLI_REQUESTS_MAX + 3 {
            conversation.observe_output(question(&number.to_string()).as_bytes());
        }
        assert_eq!((conversation.open().count(), conversation.forgotten()), (CLI_REQUESTS_MAX, 3));
        conversation.observe_output(
            format!("{{\"type\":\"control_cancel_request\",\"request_id\":\"{CLI_REQUESTS_MAX}\"}}\n")
                .as_bytes(),
        );
        assert_eq!(conversation.forgotten(), 2);
        for number in 0..=HOST_IDS_MAX {
            assert_eq!(conversation.begin_write(&number.to_string(), frame("{}")), Novelty::New);
        }
        assert_eq!(conversation.begin_write("1", frame("{}")), Novelty::Seen);
        assert_eq!(conversation.begin_write("0", frame("{}")), Novelty::New, "forgotten by now");
    }
}
