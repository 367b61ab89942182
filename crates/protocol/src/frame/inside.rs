use super::head::Span;

/// Where the parts of a stream event stand. These frames are by far the most frequent ones.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EventSpans {
    pub(crate) kind: Span,
    pub(crate) index: Span,
    pub(crate) delta: Span,
    pub(crate) block: Span,
    pub(crate) message: Span,
    pub(crate) usage: Span,
    pub(crate) delta_kind: Span,
    /// The delta's text, and the key it stands under.
    pub(crate) delta_text: Span,
    pub(crate) delta_key: DeltaKey,
    members: u8,
    delta_members: u8,
}

/// What a delta calls its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum DeltaKey {
    #[default]
    Other,
    Text,
    PartialJson,
    Thinking,
    Signature,
}

/// Where the parts of a message stand that a reader in a hurry wants.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SaidSpans {
    pub(crate) content: Span,
    pub(crate) id: Span,
    pub(crate) model: Span,
    pub(crate) usage: Span,
    pub(crate) stop_reason: Span,
}

impl EventSpans {
    /// Whether the event is `type`, `index` and `delta`, the delta `type` and a text, and nothing else.
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

    /// Begins a delta; an earlier one under the same key no longer counts.
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

impl SaidSpans {
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

/// How many members beside the usual keys are noted; frames with more are read in full.
const OTHERS_MAX: usize = 4;

/// Members of a frame that nobody asks for by name, to be kept when the frame becomes a value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Others {
    members: [Span; OTHERS_MAX],
    count: u8,
    /// There are more, or one that has a typed place in some frame.
    incomplete: bool,
}

impl Others {
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
