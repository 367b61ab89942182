//! Recorded frames as events.

use std::collections::BTreeMap;

use tidings_protocol::control::{Call, CanUseTool, Request as _};
use tidings_protocol::json::Raw;
use tidings_protocol::messages::{Message, SystemView};
use tidings_protocol::ui::{
    InteractionResolved, OptionDetails, PermissionDetails, PermissionResolved, QuestionDetails, QuestionKind,
    QuestionNote, Resolution, UiMessage,
};
use tidings_protocol::view::Block;
use tidings_protocol::{FrameRef, Kind};

use crate::AskKey;
use crate::fold::{Fold, FoldOptions, Input, OpenedRequest, SettledRequest};
use crate::permissions::{Ask, SessionFacts};
use crate::questions::{Inquiry, Origin};

/// Requests that may be open at once; agents open far fewer.
const OPEN_MAX: usize = 1_024;

/// Converts recorded frames into events.
///
/// In a running session, the handler of the agent's requests opens and settles them. A recording has no
/// handler:
/// here a request is opened by its control frame, and its outcome is derived from the result of the call.
#[derive(Debug)]
pub struct Recording {
    fold: Fold,
    folder: Option<String>,
    /// Open requests by id: the call, and the kind of the request.
    open: BTreeMap<String, (String, RecordedKind)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordedKind {
    Permission,
    Questions,
}

impl Recording {
    /// Creates a converter for a new recording.
    pub fn new(handle: i64, options: FoldOptions) -> Self {
        Self { fold: Fold::new(handle, options), folder: None, open: BTreeMap::new() }
    }

    /// Converts one frame; frames come in the order in which they were written.
    pub fn frame(&mut self, frame: &FrameRef<'_>, out: &mut Vec<UiMessage>) {
        match frame.kind() {
            Kind::ControlRequest if frame.subtype().as_deref() == Some(CanUseTool::SUBTYPE) => {
                self.asked(frame, out);
            }
            Kind::ControlCancelRequest => {
                let request_id = frame.request_id().unwrap_or_default();
                if let Some((tool_use_id, kind)) = self.open.remove(&*request_id) {
                    self.settle(&tool_use_id, kind, Resolution::Cancelled, out);
                }
            }
            Kind::System => {
                if let SystemView::Init(init) = frame.system() {
                    self.folder = init.read().ok().and_then(|init| init.cwd);
                }
            }
            Kind::User if !self.open.is_empty() => self.answered(frame, out),
            _ => {}
        }
        self.fold.step(Input::Frame(frame), out);
    }

    fn asked(&mut self, frame: &FrameRef<'_>, out: &mut Vec<UiMessage>) {
        let Message::ControlRequest { request_id, request } = frame.message() else { return };
        let Call::CanUseTool(call) = &request.call else { return };
        let handle = self.fold.handle();
        let facts = SessionFacts::recorded(self.folder.as_deref());
        let ask = Ask::new(handle, &request_id, call, &facts);
        let tool_use_id = ask.key.tool_use_id.clone();
        let (asked, kind) = match Inquiry::from_call(handle, &request_id, call, None) {
            Some(inquiry) => (questions_of(&inquiry), RecordedKind::Questions),
            None => (permission_of(frame, call, ask, handle), RecordedKind::Permission),
        };
        self.fold.step(Input::RequestOpened(&asked), out);
        if self.open.len() < OPEN_MAX {
            self.open.insert(request_id, (tool_use_id, kind));
        }
    }

    /// Settles requests whose calls have a result, from which their outcome follows.
    fn answered(&mut self, frame: &FrameRef<'_>, out: &mut Vec<UiMessage>) {
        for block in frame.content_blocks() {
            let Block::ToolResult { tool_use_id, is_error, .. } = block else { continue };
            let id = tool_use_id.get();
            let Some((request, kind)) = self
                .open
                .iter()
                .find(|(_, (call, _))| *call == id)
                .map(|(request, (_, kind))| (request.clone(), *kind))
            else {
                continue;
            };
            self.open.remove(&request);
            let outcome = match (kind, decision(frame, &id)) {
                (_, Some("reject")) => Resolution::Denied,
                (_, Some("cancelled")) => Resolution::Cancelled,
                (RecordedKind::Questions, None) if is_error => Resolution::Denied,
                (RecordedKind::Questions, _) => Resolution::Answered,
                (RecordedKind::Permission, _) => Resolution::Allowed,
            };
            self.settle(&id, kind, outcome, out);
        }
    }

    fn settle(
        &mut self,
        tool_use_id: &str,
        kind: RecordedKind,
        outcome: Resolution,
        out: &mut Vec<UiMessage>,
    ) {
        let handle = self.fold.handle();
        let settled = match kind {
            RecordedKind::Permission => {
                SettledRequest::Permission(PermissionResolved::new(handle, tool_use_id, outcome))
            }
            RecordedKind::Questions => {
                SettledRequest::Questions(InteractionResolved::new(handle, tool_use_id, outcome))
            }
        };
        self.fold.step(Input::RequestSettled(&settled), out);
    }
}

/// The permission decision that the agent attaches to a tool result.
fn decision(frame: &FrameRef<'_>, tool_use_id: &str) -> Option<&'static str> {
    let notes = frame.get("tool_result_meta")?;
    let note =
        notes.items().find(|note| note.get("id").and_then(Raw::text).is_some_and(|id| id == tool_use_id))?;
    let decision = note.get("permission_decision")?.get("decision")?.text()?;
    ["accept", "reject", "cancelled"].into_iter().find(|word| decision == *word)
}

fn permission_of(frame: &FrameRef<'_>, call: &CanUseTool, ask: Ask, handle: i64) -> OpenedRequest {
    let input = ask.input.raw().value().unwrap_or_default();
    let mut details =
        PermissionDetails::new(handle, ask.key.tool_use_id, ask.tool_name.as_str(), input, ask.risk);
    details.title.clone_from(&call.title);
    details.description.clone_from(&call.description);
    details.agent_id.clone_from(&call.agent_id);
    details.blocked_path.clone_from(&call.blocked_path);
    details.decision_reason.clone_from(&call.decision_reason);
    details.digest = Some(ask.digest.to_string());
    let suggestions = frame.get("request").and_then(|request| request.get("permission_suggestions"));
    details.suggestions = suggestions.and_then(|raw| raw.value().ok());
    OpenedRequest::Permission { request: ask.request, details }
}

fn questions_of(inquiry: &Inquiry) -> OpenedRequest {
    let kind =
        if matches!(inquiry.origin, Origin::Plan(_)) { QuestionKind::Plan } else { QuestionKind::Questions };
    let AskKey { session_id, tool_use_id, .. } = &inquiry.key;
    let mut details = QuestionDetails::new(*session_id, tool_use_id.as_str(), kind);
    for field in &inquiry.fields {
        let mut note = QuestionNote::new(field.question.id.as_str());
        note.header.clone_from(&field.header);
        for choice in &field.choices {
            let mut option = OptionDetails::new(choice.label.as_str());
            option.description.clone_from(&choice.description);
            option.preview.clone_from(&choice.preview);
            note.options.push(option);
        }
        details.questions.push(note);
    }
    OpenedRequest::Questions { request: inquiry.request(), details, plan: None }
}
