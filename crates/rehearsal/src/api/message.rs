//! The answer to one request, rendered from a turn of the script.

use super::blocks::{Rendered, render};
use super::body::{End, Step};
use super::ids::ApiIds;
use super::json::Object;
use super::request::ApiCall;
use super::safeguards;
use super::tokens::AnswerTokens;
use crate::script::{ApiFailure, Block, Pace, Turn};

/// Members of a message that the API sends only at its end, next to the stop reason.
const LATE: &[&str] = &["stop_sequence", "stop_details", "container", "safeguard_results"];

/// The answer to one request, rendered from a turn of the script.
#[derive(Debug)]
pub(super) struct Message<'a> {
    turn: &'a Turn,
    pace: Pace,
    head: Object,
    blocks: Vec<(Block, Rendered)>,
    /// Outcomes of the check of tool calls, if the request asks for it.
    safeguard_results: Option<String>,
    tokens: AnswerTokens,
}

impl<'a> Message<'a> {
    /// The answer to a call.
    pub(super) fn new(turn: &'a Turn, pace: Pace, call: &ApiCall, ids: &mut ApiIds) -> Self {
        let head = Object::default()
            .with("model", &call.request.model)
            .with("id", ids.message())
            .with("type", "message")
            .with("role", "assistant");
        let rendered = |block: Block| {
            let rendered = render(&block, pace.chunk_chars, ids);
            (block, rendered)
        };
        let blocks: Vec<_> = turn.content().into_iter().map(rendered).collect();
        let safeguard_results = call.checks_tools.then(|| safeguards::results(&blocks));
        Message { turn, pace, head, blocks, safeguard_results, tokens: AnswerTokens::of(turn, call.chars) }
    }

    /// The message as a whole.
    pub(super) fn whole(&self) -> Object {
        let blocks: Vec<_> = self.blocks.iter().map(|(_, block)| block.whole.to_string()).collect();
        let mut message = self
            .head
            .clone()
            .with_json("content", format!("[{}]", blocks.join(",")))
            .with("stop_reason", self.turn.stop_reason())
            .with("stop_sequence", ())
            .with_object("usage", self.tokens.whole());
        if let Some(results) = &self.safeguard_results {
            message = message.with_json("safeguard_results", results.clone());
        }
        message.merge(&self.turn.message);
        message
    }

    /// The events of the message, each with its delay, and the end of the body after them.
    pub(super) fn events(&self, request_id: &str) -> (Vec<Step>, End) {
        let mut steps = vec![event("message_start", Object::default().with_object("message", self.start()))];
        // The API sends one early `ping`.
        let mut ping = Some(event("ping", Object::default()));
        let mut wait_ms = 0;
        let mut sent = 0;
        for (index, (_, block)) in self.blocks.iter().enumerate() {
            let at = || Object::default().with("index", index);
            steps.push(event("content_block_start", at().with_object("content_block", block.start.clone())));
            steps.extend(ping.take());
            for delta in &block.deltas {
                let step = event("content_block_delta", at().with_object("delta", delta.clone()));
                steps.push(Step { wait_ms, ..step });
                wait_ms = self.pace.chunk_delay_ms;
                steps.extend(self.turn.ping.then(|| event("ping", Object::default())));
                sent += 1;
                if self.turn.hold_after == Some(sent) {
                    return (steps, End::Held);
                }
            }
            steps.push(event("content_block_stop", at()));
        }
        match &self.turn.error_event {
            Some(kind) => steps.push(error_event(kind, request_id)),
            None => steps.extend([self.end(), event("message_stop", Object::default())]),
        }
        (steps, End::Whole)
    }

    fn start(&self) -> Object {
        let mut message = self
            .head
            .clone()
            .with("content", [(); 0])
            .with("stop_reason", ())
            .with("stop_sequence", ())
            .with_object("usage", self.tokens.at_start());
        let late = |key: &str| LATE.contains(&key) || key == "context_management";
        message.merge(self.turn.message.iter().filter(|(key, _)| !late(key)));
        message
    }

    fn end(&self) -> Step {
        let members = &self.turn.message;
        let mut delta =
            Object::default().with("stop_reason", self.turn.stop_reason()).with("stop_sequence", ());
        if let Some(results) = &self.safeguard_results {
            delta = delta.with_json("safeguard_results", results.clone());
        }
        delta.merge(members.iter().filter(|(key, _)| LATE.contains(&key.as_str())));
        let mut body =
            Object::default().with_object("delta", delta).with_object("usage", self.tokens.at_end());
        body.merge(members.iter().filter(|(key, _)| *key == "context_management"));
        event("message_delta", body)
    }
}

/// The error of the API for a given error type.
pub(super) fn failure(kind: &str) -> ApiFailure {
    let statuses = [400, 401, 402, 403, 404, 413, 429, 529];
    let of = |status| ApiFailure { status, kind: None, message: None, retry_after: None };
    let known = statuses.into_iter().map(of).find(|failure| failure.kind() == kind);
    known.unwrap_or_else(|| ApiFailure { kind: Some(kind.to_owned()), ..of(500) })
}

/// Body of an error response.
pub(super) fn error_body(failure: &ApiFailure, request_id: &str) -> Object {
    let error = Object::typed(failure.kind()).with("message", failure.message());
    Object::typed("error").with_object("error", error).with("request_id", request_id)
}

fn error_event(kind: &str, request_id: &str) -> Step {
    Step::now(format!("event: error\ndata: {}\n\n", error_body(&failure(kind), request_id)))
}

fn event(kind: &str, body: Object) -> Step {
    Step::now(format!("event: {kind}\ndata: {}\n\n", Object::typed(kind).followed_by(body)))
}
