//! Events of a session as messages for an editor.

use tidings_acp::agent::{OpenPrompts, PendingRequest, PromptEnd, Translator};
use tidings_acp::rpc::Id;
use tidings_journal::Event;
use tidings_protocol::ui::{QuestionDetails, SessionPhase, UiMessage, UserPrompt};

use crate::api::feed::{Encoder, EventBatch};

/// Something that an event means for an editor.
#[derive(Debug)]
pub(super) enum EditorItem {
    /// A notification.
    Line(String),
    /// The images and files of another client's prompt, as of this cursor.
    Attachments(Box<UserPrompt>, String),
    /// A request of the agent is pending, as of this sequence number.
    Ask(PendingRequest, u64),
    /// A request was resolved.
    Settled(String),
    /// The turn of a prompt has ended, as of this cursor.
    Ended(Id, PromptEnd, String),
    /// The turn that has begun was cancelled before.
    Interrupt,
    /// The agent may have ended.
    CheckAgent,
    /// The agent runs, and can be asked for its options.
    CheckOptions,
}

/// Translates events, and follows the prompts of the editor.
pub(super) struct EditorEncoder {
    pub(super) translator: Translator,
    pub(super) prompts: OpenPrompts<Id>,
    question: Option<Box<QuestionDetails>>,
    plan: Option<String>,
}

impl EditorEncoder {
    pub(super) fn new(translator: Translator) -> Self {
        EditorEncoder { translator, prompts: OpenPrompts::default(), question: None, plan: None }
    }

    /// The request of an event, if it announces one.
    fn ask(&mut self, message: &UiMessage) -> Option<PendingRequest> {
        match message {
            UiMessage::PermissionDetails(details) => {
                Some(PendingRequest::Permission(Box::new(details.clone())))
            }
            UiMessage::QuestionDetails(details) => {
                self.question = Some(Box::new(details.clone()));
                None
            }
            UiMessage::PlanProposed(plan) => {
                self.plan = Some(plan.plan.clone());
                None
            }
            UiMessage::UserInteractionRequired { request, .. } => {
                let (details, plan) = (self.question.take()?, self.plan.take());
                Some(PendingRequest::Question { request: request.clone(), details, plan })
            }
            _ => None,
        }
    }
}

impl Encoder for EditorEncoder {
    type Batch = EditorBatch;

    fn encode(&mut self, event: &Event, batch: &mut EditorBatch) {
        let Some(message) = event.message() else { return };
        let seq = event.cursor.seq;
        let ended = self.prompts.observe(seq, &message);
        if let UiMessage::PromptQueued(queued) = &*message
            && self.prompts.has(&queued.uuid)
        {
            self.translator.note_own_prompt(&queued.uuid);
        }
        let cursor = event.cursor.to_string();
        let is_own = self.translator.is_own_prompt(&message);
        batch.extend(self.translator.translate(&message, &cursor, seq).into_iter().map(EditorItem::Line));
        if let UiMessage::UserPrompt(prompt) = &*message
            && !is_own
            && prompt.origin.is_none()
            && !prompt.attachments.is_empty()
        {
            batch.push(EditorItem::Attachments(Box::new(prompt.clone()), cursor.clone()));
        }
        if let Some(ask) = self.ask(&message) {
            batch.push(EditorItem::Ask(ask, seq));
        }
        match &*message {
            UiMessage::PermissionResolved(resolved) => {
                batch.push(EditorItem::Settled(resolved.tool_use_id.clone()));
            }
            UiMessage::InteractionResolved(resolved) => {
                batch.push(EditorItem::Settled(resolved.tool_use_id.clone()));
            }
            UiMessage::SessionStarted(_) => batch.push(EditorItem::CheckOptions),
            UiMessage::Error { .. } => batch.push(EditorItem::CheckAgent),
            UiMessage::SessionStateChanged(changed) if changed.state == SessionPhase::Ended => {
                batch.push(EditorItem::CheckAgent);
            }
            _ if self.prompts.must_interrupt(&message) => batch.push(EditorItem::Interrupt),
            _ => {}
        }
        batch.extend(ended.into_iter().map(|(id, end)| EditorItem::Ended(id, end, cursor.clone())));
    }
}

/// Messages that are sent together.
#[derive(Debug, Default)]
pub(super) struct EditorBatch {
    pub(super) items: Vec<EditorItem>,
    bytes: usize,
}

impl EditorBatch {
    fn push(&mut self, item: EditorItem) {
        self.bytes += if let EditorItem::Line(line) = &item { line.len() } else { 0 };
        self.items.push(item);
    }

    fn extend(&mut self, items: impl Iterator<Item = EditorItem>) {
        items.for_each(|item| self.push(item));
    }
}

impl EventBatch for EditorBatch {
    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
