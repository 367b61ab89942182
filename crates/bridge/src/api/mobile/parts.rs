//! The messages of a long event, translated a few at a time.
//!
//! A text of a megabyte becomes many messages. If all of them waited for a phone that does not read, each
//! such phone would cost a megabyte; the event itself is shared by all subscribers, and is translated again
//! for the next messages.

use tidings_journal::Event;
use tidings_journal::limits::LONG_EVENT_BYTES;
use tidings_protocol::mobile::MobileMessage;

use super::position::MessagePosition;
use super::translator::MobileTranslator;
use crate::limits::MOBILE_PART_MESSAGES;

/// The rest of a long event.
#[derive(Debug)]
struct LongEventRest {
    event: Event,
    /// The state before the event.
    before: MobileTranslator,
    /// Number of messages that were returned.
    sent: usize,
}

/// Translates events for one phone, long ones in parts.
#[derive(Debug, Default)]
pub(crate) struct PartTranslator {
    translator: MobileTranslator,
    rest: Option<Box<LongEventRest>>,
}

impl PartTranslator {
    pub(crate) fn new(translator: MobileTranslator) -> Self {
        PartTranslator { translator, rest: None }
    }

    /// Appends the messages of the next event, or the first of them. Must not be called before all messages
    /// of the event before were returned.
    pub(crate) fn translate(&mut self, event: &Event, out: &mut Vec<(MessagePosition, MobileMessage)>) {
        if event.body.len() < LONG_EVENT_BYTES {
            return self.translator.translate(event, out);
        }
        let before = self.translator.clone();
        let mut messages = Vec::new();
        self.translator.translate(event, &mut messages);
        self.take_part(LongEventRest { event: event.clone(), before, sent: 0 }, messages, out);
    }

    /// Appends the next messages of the event before; false if all were returned.
    pub(crate) fn translate_rest(&mut self, out: &mut Vec<(MessagePosition, MobileMessage)>) -> bool {
        let Some(rest) = self.rest.take() else { return false };
        let mut messages = Vec::new();
        rest.before.clone().translate(&rest.event, &mut messages);
        self.take_part(*rest, messages, out);
        true
    }

    /// True if messages of the event before were not returned yet.
    pub(crate) fn has_rest(&self) -> bool {
        self.rest.is_some()
    }

    fn take_part(
        &mut self,
        rest: LongEventRest,
        messages: Vec<(MessagePosition, MobileMessage)>,
        out: &mut Vec<(MessagePosition, MobileMessage)>,
    ) {
        let (total, sent) = (messages.len(), rest.sent + MOBILE_PART_MESSAGES);
        out.extend(messages.into_iter().skip(rest.sent).take(MOBILE_PART_MESSAGES));
        if sent < total {
            self.rest = Some(Box::new(LongEventRest { sent, ..rest }));
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tidings_protocol::ui::UiMessage;

    use super::*;
    use tidings_journal::{Class, Cursor, Epoch, EventDraft, Kind};

    #[test]
    fn k31_the_messages_of_a_long_event_are_made_a_few_at_a_time_and_are_the_same() {
        let content = "é".repeat(1 << 20);
        let body = serde_json::to_vec(&UiMessage::Display { content, session_id: 1 }).unwrap();
        let draft = EventDraft::new(Class::Delta, Timestamp::UNIX_EPOCH, Kind::new("Display").unwrap(), body);
        let event = Event::of(&draft, Cursor::new(Epoch::from_random(1), 7));
        let (mut all, mut parted) = (Vec::new(), Vec::new());
        MobileTranslator::default().translate(&event, &mut all);
        assert!(all.len() > 2 * MOBILE_PART_MESSAGES, "{}", all.len());
        let mut parts = PartTranslator::default();
        parts.translate(&event, &mut parted);
        loop {
            assert!(parted.len() <= all.len());
            let before = parted.len();
            assert_eq!(parts.has_rest(), before < all.len());
            if !parts.translate_rest(&mut parted) {
                break;
            }
            assert!(parted.len() - before <= MOBILE_PART_MESSAGES);
        }
        assert_eq!(parted, all);
    }
}
