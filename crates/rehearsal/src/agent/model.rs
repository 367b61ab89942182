//! Answers and failures of the model, from the script.

use serde_json::Value;
use tidings_protocol::json::Raw;

use super::conversation::Conversation;
use super::frames::Frame;
use super::session::Session;
use super::stop::Flow;
use crate::player::Request;
use crate::script::{ApiFailure, Emit, Turn};

/// Number of overload errors after which the fallback model is used.
const OVERLOADS_MAX: u32 = 3;

/// Outcome of a request to the model.
#[derive(Debug)]
pub(super) enum ModelAnswer {
    /// An answer of the model.
    Turn(Box<Turn>),
    /// A permanent failure of the API.
    Failed(Failure),
}

/// A failure in the form that the host sees.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) status: Option<u16>,
    /// Error type of the API.
    pub(super) kind: Option<String>,
    /// Error name of the CLI.
    pub(super) name: &'static str,
    pub(super) text: String,
}

impl Session {
    /// Requests an answer, with retries, until there is one or the failure is permanent.
    pub(super) fn ask_model(&mut self, conversation: &Conversation) -> Flow<ModelAnswer> {
        let mut attempt = 0;
        let mut overloads = 0;
        let mut last: Option<Failure> = None;
        if let Some(refusal) = self.refused_schema() {
            return Ok(ModelAnswer::Failed(refusal));
        }
        loop {
            let Some(turn) = self.next_answer(conversation) else {
                // A script that ends with failures has failed permanently.
                return Ok(ModelAnswer::Failed(last.unwrap_or_else(exhausted)));
            };
            self.emit_scripted(&turn.before)?;
            let failure = match &turn.error {
                Some(error) => failure(error),
                None if turn.drop => Failure::dropped(),
                None => return Ok(ModelAnswer::Turn(Box::new(turn))),
            };
            if failure.status == Some(529) {
                overloads += 1;
                if overloads >= OVERLOADS_MAX && self.fall_back()? {
                    (attempt, overloads) = (0, 0);
                    continue;
                }
            }
            if !retryable(failure.status) || attempt >= self.retries_max {
                return Ok(ModelAnswer::Failed(failure));
            }
            attempt += 1;
            let retry_after = turn.error.as_ref().and_then(|error| error.retry_after);
            self.emit_retry(conversation, &failure, attempt, retry_after)?;
            self.pause(0)?;
            last = Some(failure);
        }
    }

    /// The API's refusal of a tool for structured output whose input is not an object.
    fn refused_schema(&self) -> Option<Failure> {
        let schema = self.schema.as_ref()?.to_string();
        let index =
            self.offered_tools().iter().position(|tool| tool == "StructuredOutput").unwrap_or_default();
        let message = crate::input_schema::refusal(index, Raw::parse(&schema).ok()?)?;
        Some(failure(&ApiFailure { status: 400, kind: None, message: Some(message), retry_after: None }))
    }

    /// Sends the frames that the script has here.
    pub(super) fn emit_scripted(&mut self, emits: &[Emit]) -> Flow {
        for emit in emits {
            self.pause(emit.delay_ms)?;
            // Control frames have neither a uuid nor a session id.
            let frame = match emit.frame.get("type").and_then(Value::as_str) {
                Some(kind) => Frame::new(kind).merged(&emit.frame),
                None => Frame::default().merged(&emit.frame),
            };
            if ["control_request", "control_cancel_request", "control_response", "keep_alive"]
                .iter()
                .any(|kind| frame.is(kind))
            {
                self.out.frame(frame)?;
            } else {
                self.emit(frame)?;
            }
        }
        Ok(())
    }

    /// Tools offered to the model, by the names it uses.
    pub(super) fn offered_tools(&self) -> Vec<String> {
        let tools = self.tool_names();
        tools.into_iter().map(|name| if name == "Task" { "Agent".to_owned() } else { name }).collect()
    }

    fn next_answer(&mut self, conversation: &Conversation) -> Option<Turn> {
        let mut texts = vec![self.system_text()];
        texts.extend(conversation.texts.iter().cloned());
        let mut request = Request {
            model: self.model.clone(),
            last: texts.last().cloned().unwrap_or_default(),
            texts,
            tools: self.offered_tools(),
            ..Request::default()
        };
        let found = self.player.next(&mut request);
        self.expect.request(&request);
        found.map(|(_, turn)| turn)
    }

    /// Part of the system prompt set by the host, and the tools that are loaded on demand.
    fn system_text(&self) -> String {
        let tools = self.servers.iter().flat_map(super::mcp::McpServer::tool_names);
        self.system.iter().cloned().chain(tools).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn emit_retry(
        &mut self,
        conversation: &Conversation,
        failure: &Failure,
        attempt: u32,
        retry_after: Option<f64>,
    ) -> Flow {
        // The real CLI waits this long; a rehearsal has no reason to.
        let delay_ms = retry_after.map_or(500 << (attempt - 1).min(6), |seconds| {
            std::time::Duration::try_from_secs_f64(seconds)
                .map_or(0, |delay| u64::try_from(delay.as_millis()).unwrap_or(0))
        });
        let name = if failure.status == Some(529) { "overloaded" } else { failure.name };
        if let Some(agent) = &conversation.agent {
            let retry = serde_json::json!({
                "agent_id": agent.id, "attempt": attempt, "max_retries": self.retries_max, "retry_delay_ms": delay_ms,
                "error_status": failure.status, "error_category": name,
            });
            let frame = Frame::new("tool_progress")
                .with("tool_use_id", agent.call_id.as_str())
                .with("tool_name", "Agent")
                .with("parent_tool_use_id", agent.call_id.as_str())
                .with("elapsed_time_seconds", 0)
                .with("subagent_type", agent.kind.as_str())
                .with("subagent_retry", retry);
            return self.emit(frame).map(drop);
        }
        let frame = Frame::system("api_retry")
            .with("attempt", attempt)
            .with("max_retries", self.retries_max)
            .with("retry_delay_ms", delay_ms)
            .with("error_status", failure.status)
            .with("error", name);
        self.emit(frame).map(drop)
    }

    /// Continues with the fallback model, if there is one.
    fn fall_back(&mut self) -> Flow<bool> {
        let Some(fallback) =
            self.args.get("fallback-model").map(str::to_owned).filter(|name| *name != self.model)
        else {
            return Ok(false);
        };
        let frame = Frame::system("model_fallback")
            .with("trigger", "overloaded")
            .with("original_model", self.model.as_str())
            .with("fallback_model", fallback.as_str())
            .with("content", format!("Switched to {fallback} due to high demand for {}", self.model));
        self.emit(frame)?;
        self.model = fallback;
        Ok(true)
    }
}

fn retryable(status: Option<u16>) -> bool {
    matches!(status, None | Some(401 | 408 | 409 | 429 | 500..))
}

fn failure(error: &ApiFailure) -> Failure {
    let name = match (error.status, error.kind()) {
        (_, "billing_error") => "billing_error",
        (401 | 403, _) => "authentication_failed",
        (404, _) => "model_not_found",
        (429, _) => "rate_limit",
        (500.., _) => "server_error",
        _ => "unknown",
    };
    let text = match error.status {
        401 => "Invalid API key · Fix external API key".to_owned(),
        529 => "API Error: Repeated 529 Overloaded errors".to_owned(),
        status => format!("API Error: {status} {}", error.message()),
    };
    Failure { status: Some(error.status), kind: Some(error.kind().to_owned()), name, text }
}

impl Failure {
    /// Failure of a broken connection.
    pub(super) fn dropped() -> Self {
        Failure { status: None, kind: None, name: "unknown", text: "API Error: Connection error.".to_owned() }
    }
}

fn exhausted() -> Failure {
    let text = "API Error: 400 the script has no turn for this request".to_owned();
    Failure { status: Some(400), kind: Some("invalid_request_error".to_owned()), name: "unknown", text }
}
