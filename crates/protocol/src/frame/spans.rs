//! Positions of the parts of stream events and messages.

use super::head::Span;

/// Positions of the parts of a stream event. These frames are by far the most frequent ones.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EventSpans {
    pub(crate) kind: Span,
    pub(crate) index: Span,
    pub(crate) delta: Span,
    pub(crate) block: Span,
    pub(crate) message: Span,
    pub(crate) usage: Span,
    pub(crate) delta_kind: Span,
    /// Text of the delta, and the key that holds it.
    pub(crate) delta_text: Span,
    pub(crate) delta_key: DeltaKey,
    members: u8,
    delta_members: u8,
}

/// Key of the text in a delta.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DeltaKey {
    #[default]
    Other,
    Text,
    PartialJson,
    Thinking,
    Signature,
}

/// Positions of the most used parts of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MessageSpans {
    pub(crate) content: Span,
    pub(crate) id: Span,
    pub(crate) model: Span,
    pub(crate) usage: Span,
    pub(crate) stop_reason: Span,
}

impl EventSpans {
    /// True if the event consists of `type`, `index` and `delta` only, and the delta of `type` and a text
    /// only.
    pub(crate) fn is_plain_delta(&self) -> bool {
        self.members == 3
            && self.delta_members == 2
            && [self.kind, self.index, self.delta, self.delta_kind, self.delta_text]
                .iter()
                .all(|span| *span != Span::default())
    }

    #[inline]
    pub(super) fn note(&mut self, key: &[u8], value: Span) {
        self.members = self.members.saturating_add(1);
        match key {
            b"type" => self.kind = value,
            b"index" => self.index = value,
            b"delta" => self.delta = value,
            b"content_block" => self.block = value,
            b"message" => self.message = value,
            b"usage" => self.usage = value,
            _ => {}
        }
    }

    /// Starts a delta; an earlier one under the same key is dropped.
    #[inline]
    pub(super) fn begin_delta(&mut self) {
        self.delta_kind = Span::default();
        self.delta_text = Span::default();
        self.delta_key = DeltaKey::Other;
        self.delta_members = 0;
    }

    #[inline]
    pub(super) fn note_delta(&mut self, key: &[u8], value: Span) {
        self.delta_members = self.delta_members.saturating_add(1);
        self.delta_key = match key {
            b"type" => return self.delta_kind = value,
            b"text" => DeltaKey::Text,
            b"partial_json" => DeltaKey::PartialJson,
            b"thinking" => DeltaKey::Thinking,
            b"signature" => DeltaKey::Signature,
            _ => return,
        };
        self.delta_text = value;
    }
}

impl MessageSpans {
    #[inline]
    pub(crate) fn note(&mut self, key: &[u8], value: Span) {
        match key {
            b"content" => self.content = value,
            b"id" => self.id = value,
            b"model" => self.model = value,
            b"usage" => self.usage = value,
            b"stop_reason" => self.stop_reason = value,
            _ => {}
        }
    }
}

/// Maximum number of noted members with unusual keys; frames with more are read in full.
const OTHERS_MAX: usize = 4;

/// Members without an accessor, kept when the frame is converted into a value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OtherMembers {
    members: [Span; OTHERS_MAX],
    count: u8,
    /// True if there are more members, or one that is a typed field of some frame.
    incomplete: bool,
}

impl OtherMembers {
    pub(super) fn all(&self) -> Option<&[Span]> {
        if self.incomplete { None } else { self.members.get(..usize::from(self.count)) }
    }

    #[inline]
    pub(super) fn note(&mut self, key: &[u8], member: Span) {
        let typed =
            matches!(key, b"ttft_ms" | b"user_message_uuid" | b"user_message_uuids" | b"resume_reason");
        match self.members.get_mut(usize::from(self.count)) {
            Some(free) if !typed => {
                *free = member;
                self.count += 1;
            }
            _ => self.incomplete = true,
        }
    }
}
