//! The twelve events of seed 003, and nothing that its page does not have.

use std::borrow::Cow;

use tidings_protocol::ui::{PermissionRequest, StopReason, SubAgentOutcome, TargetType, UiMessage};

/// The event as the page knows it; `None` when it has nothing like it.
///
/// What cannot be done on the page is at least told: that text is taken back, that a sub-agent works, that the agent
/// has to wait.
pub fn to_ui(event: &UiMessage) -> Option<Cow<'_, UiMessage>> {
    match event {
        UiMessage::Complete { session_id, turn_id, stop_reason: StopReason::Other(_) } => {
            // The page has four reasons. What else can happen is told by the `Error` before.
            let (session_id, turn_id) = (*session_id, *turn_id);
            Some(Cow::Owned(UiMessage::Complete { session_id, turn_id, stop_reason: StopReason::EndTurn }))
        }
        UiMessage::PermissionRequired { tool_use_id, request, session_id } => {
            Some(Cow::Owned(UiMessage::PermissionRequired {
                tool_use_id: tool_use_id.clone(),
                request: on_page(request),
                session_id: *session_id,
            }))
        }
        UiMessage::BatchPermissionRequired { batch_id, requests, session_id } => {
            Some(Cow::Owned(UiMessage::BatchPermissionRequired {
                batch_id: batch_id.clone(),
                requests: requests.iter().map(on_page).collect(),
                session_id: *session_id,
            }))
        }
        event if event.is_seed() => Some(Cow::Borrowed(event)),
        event => {
            let message = note(event)?;
            Some(Cow::Owned(UiMessage::System { message, session_id: event.session_id() }))
        }
    }
}

/// The page has paths, domains and commands; a tool as a whole is closest to a command.
fn on_page(request: &PermissionRequest) -> PermissionRequest {
    let target_type = match request.target_type {
        TargetType::Path => TargetType::Path,
        TargetType::Domain => TargetType::Domain,
        _ => TargetType::Command,
    };
    PermissionRequest { target_type, ..request.clone() }
}

/// An event of ours as a line for logs.
fn note(event: &UiMessage) -> Option<String> {
    Some(match event {
        UiMessage::SessionStarted(event) => match &event.model {
            Some(model) => format!("Session {} with {model}", event.cli_session_id),
            None => format!("Session {}", event.cli_session_id),
        },
        UiMessage::SettingsChanged(event) => {
            let named = [("Model", &event.model), ("Permission mode", &event.permission_mode)];
            let told = named.iter().filter_map(|(name, value)| Some(format!("{name}: {}", value.as_ref()?)));
            let told: Vec<String> = told.collect();
            if told.is_empty() {
                return None;
            }
            told.join(", ")
        }
        UiMessage::Retracted(event) => retraction(&event.text, &event.tool_use_ids)?,
        UiMessage::Compacted(_) => "The conversation was compacted".to_owned(),
        UiMessage::RateLimit(event) if event.status != "allowed" => {
            let kind = event.kind.as_deref().unwrap_or("plan");
            format!("Rate limit ({kind}): {}", event.status)
        }
        UiMessage::Retrying(event) => {
            let of = event.max_attempts.map(|max| format!(" of {max}")).unwrap_or_default();
            let error = event.error.as_deref().unwrap_or("unknown");
            format!("The API failed ({error}); attempt {}{of} follows", event.attempt)
        }
        UiMessage::SubAgentStarted(event) => {
            let kind = event.agent_type.as_deref().unwrap_or("agent");
            let what = event.description.as_deref().unwrap_or(&event.agent_id);
            format!("Sub-agent {kind} began: {what}")
        }
        UiMessage::SubAgentEnded(event) => {
            let how = match event.outcome {
                SubAgentOutcome::Completed => "is done",
                SubAgentOutcome::Failed => "failed",
                _ => "was stopped",
            };
            let what = event.summary.as_deref().unwrap_or(&event.agent_id);
            format!("A sub-agent {how}: {what}")
        }
        _ => return None,
    })
}

fn retraction(text: &str, calls: &[String]) -> Option<String> {
    match (text.is_empty(), calls.len()) {
        (true, 0) => None,
        (true, calls) => Some(format!("Void: {calls} tool calls that were announced")),
        (false, _) => {
            Some(format!("Void, the last {} characters of the answer: {text}", text.chars().count()))
        }
    }
}
