//! One span per turn, with the OpenTelemetry attributes for generative models.

use std::collections::HashMap;

use parking_lot::Mutex;
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::messages::SystemView;
use tidings_protocol::{Frame, Kind};
use tracing::Span;
use tracing::field::Empty;

use super::event::{TurnEnd, TurnId, TurnOutcome};
use super::turns::TurnUpdate;

#[derive(Debug, Default)]
pub(super) struct Spans(Mutex<SpanState>);

#[derive(Debug, Default)]
struct SpanState {
    /// The spans that prompts were sent from. Their number is bounded by the number of open prompts.
    senders: HashMap<String, Span>,
    current: Option<(TurnId, Span)>,
}

impl Spans {
    /// Records the current span as the parent of the prompt's turn.
    pub(super) fn sent(&self, uuid: &str) {
        self.0.lock().senders.insert(uuid.to_owned(), Span::current());
    }

    /// Forgets a prompt that could not be sent.
    pub(super) fn unsent(&self, uuid: &str) {
        self.0.lock().senders.remove(uuid);
    }

    /// Updates the spans for a frame of the conversation.
    pub(super) fn observe(&self, frame: &Frame, update: &TurnUpdate) {
        let mut state = self.0.lock();
        if let Some((turn, prompts)) = &update.started {
            let sender = prompts.iter().find_map(|prompt| state.senders.get(prompt));
            state.current = Some((*turn, begin(sender.and_then(Span::id))));
        }
        if let Some((_, span)) = &state.current {
            describe(span, frame);
        }
        for end in &update.ended {
            if let Some((_, span)) = state.current.take_if(|(turn, _)| end.turn == Some(*turn)) {
                finish(&span, end);
            }
            for prompt in &end.prompts {
                state.senders.remove(prompt);
            }
        }
    }

    /// Ends all spans.
    pub(super) fn end(&self) {
        *self.0.lock() = SpanState::default();
    }
}

fn begin(parent: Option<tracing::span::Id>) -> Span {
    tracing::info_span!(
        parent: parent,
        "turn",
        otel.name = "invoke_agent claude-code",
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.system = "anthropic",
        gen_ai.provider.name = "anthropic",
        gen_ai.agent.name = "claude-code",
        gen_ai.conversation.id = Empty,
        gen_ai.request.model = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.id = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.cache_creation.input_tokens = Empty,
        error.type = Empty,
    )
}

/// Records the attributes that a frame contains.
fn describe(span: &Span, frame: &Frame) {
    match frame.kind() {
        Kind::System if matches!(frame.system(), SystemView::Init(_)) => {
            record(span, "gen_ai.request.model", frame.get("model"));
            record(span, "gen_ai.conversation.id", frame.get("session_id"));
        }
        // Messages of sub-agents are part of the turn, but not its answer.
        Kind::Assistant if frame.parent_tool_use_id().is_none() => {
            let message = frame.get("message");
            record(span, "gen_ai.response.model", message.and_then(|message| message.get("model")));
            record(span, "gen_ai.response.id", message.and_then(|message| message.get("id")));
        }
        _ => {}
    }
}

fn finish(span: &Span, end: &TurnEnd) {
    if let Some(usage) = end.result.as_ref().and_then(Frame::usage) {
        let read = usage.cache_read_input_tokens.unwrap_or_default();
        let created = usage.cache_creation_input_tokens.unwrap_or_default();
        // The convention includes cached tokens in the input tokens; the API counts them separately.
        span.record(
            "gen_ai.usage.input_tokens",
            usage.input_tokens.saturating_add(read).saturating_add(created),
        );
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        span.record("gen_ai.usage.cache_read.input_tokens", read);
        span.record("gen_ai.usage.cache_creation.input_tokens", created);
    }
    match end.outcome {
        TurnOutcome::Completed => span.record("otel.status_code", "OK"),
        TurnOutcome::Cancelled | TurnOutcome::Dropped => span.record("error.type", "cancelled"),
        TurnOutcome::Failed(outcome) => {
            span.record("otel.status_code", "ERROR").record("error.type", tracing::field::debug(outcome))
        }
        TurnOutcome::ResultLost => {
            span.record("otel.status_code", "ERROR").record("error.type", "result_lost")
        }
    };
}

fn record(span: &Span, name: &'static str, value: Option<Raw<'_>>) {
    if let Some(text) = value.and_then(Raw::text).map(Text::get) {
        span.record(name, &*text);
    }
}
