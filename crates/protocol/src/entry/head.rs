//! Positions of an entry's most used keys, found in one scan.

use super::{EntryKind, EntryRef};
use crate::frame::{MessageSpans, Notes, Span};

/// Positions of the keys needed for scanning whole folders. Kept small: there is one per line.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryHead {
    pub(super) kind: EntryKind,
    pub(super) repaired: bool,
    pub(super) is_sidechain: bool,
    pub(super) is_meta: bool,
    pub(super) type_name: Span,
    pub(super) subtype: Span,
    pub(super) uuid: Span,
    pub(super) parent_uuid: Span,
    pub(super) logical_parent_uuid: Span,
    pub(super) session_id: Span,
    pub(super) timestamp: Span,
    pub(super) agent_id: Span,
    pub(super) request_id: Span,
    pub(super) message: Span,
    /// Positions inside `message`, so that its content is not scanned a second time.
    pub(super) message_spans: MessageSpans,
    pub(super) cwd: Span,
    pub(super) leaf_uuid: Span,
}

/// A head during the scan of its line: flags are still spans.
#[derive(Debug, Default)]
pub(super) struct EntryHeadBuilder {
    head: EntryHead,
    is_sidechain: Span,
    is_meta: Span,
}

impl Notes for EntryHeadBuilder {
    #[inline]
    fn enters(&mut self, level: u8, key: &[u8]) -> bool {
        let message = level == 0 && key == b"message";
        if message {
            // Of duplicate keys the last counts.
            self.head.message_spans = MessageSpans::default();
        }
        message
    }

    #[inline]
    fn note(&mut self, level: u8, key: &[u8], _: usize, span: Span) {
        let head = &mut self.head;
        if level > 0 {
            return head.message_spans.note(key, span);
        }
        match key {
            b"type" => head.type_name = span,
            b"uuid" => head.uuid = span,
            b"parentUuid" => head.parent_uuid = span,
            b"sessionId" => head.session_id = span,
            b"timestamp" => head.timestamp = span,
            b"message" => head.message = span,
            b"isSidechain" => self.is_sidechain = span,
            b"cwd" => head.cwd = span,
            b"agentId" => head.agent_id = span,
            b"requestId" => head.request_id = span,
            b"subtype" => head.subtype = span,
            b"isMeta" => self.is_meta = span,
            b"leafUuid" => head.leaf_uuid = span,
            b"logicalParentUuid" => head.logical_parent_uuid = span,
            _ => {}
        }
    }
}

impl EntryHeadBuilder {
    #[inline]
    pub(super) fn finish(self, text: &str, repaired: bool) -> EntryRef<'_> {
        let set = |span: Span| span.raw(text).is_some_and(|flag| flag.as_str() == "true");
        let mut head = self.head;
        head.repaired = repaired;
        head.is_sidechain = set(self.is_sidechain);
        head.is_meta = set(self.is_meta);
        if let Some(name) = head.type_name.text(text) {
            head.kind = EntryKind::of(&name.get());
        }
        EntryRef::from_parts(text, head)
    }
}

impl Default for EntryHead {
    fn default() -> Self {
        let none = Span::default();
        EntryHead {
            kind: EntryKind::Unknown,
            repaired: false,
            is_sidechain: false,
            is_meta: false,
            type_name: none,
            subtype: none,
            uuid: none,
            parent_uuid: none,
            logical_parent_uuid: none,
            session_id: none,
            timestamp: none,
            agent_id: none,
            request_id: none,
            message: none,
            message_spans: MessageSpans::default(),
            cwd: none,
            leaf_uuid: none,
        }
    }
}
