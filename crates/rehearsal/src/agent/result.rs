//! The frame that ends a turn.

use serde_json::{Map, Value, json};

use super::args::Format;
use super::frames::Frame;
use super::model::Failure;
use super::session::Session;
use super::stop::{Flow, Stop};
use super::usage::{Tokens, shown_dollars};

/// Result of a turn.
#[derive(Debug, Clone, Default)]
pub(super) struct Ending {
    subtype: &'static str,
    is_error: bool,
    terminal: Option<&'static str>,
    /// Text of a success.
    text: Option<String>,
    errors: Vec<String>,
    stop_reason: Option<Value>,
    /// True if a request was made to the model, so that durations exist.
    timed: bool,
    /// True if no request was made to the model.
    local: bool,
    extra: Vec<(&'static str, Value)>,
}

/// Statistics of the sub-agents of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentStats {
    pub(super) background: usize,
    pub(super) foreground: usize,
    pub(super) unset: usize,
    pub(super) started_in_background: usize,
    pub(super) completed: usize,
    pub(super) killed: usize,
    pub(super) by_type: Map<String, Value>,
}

impl Ending {
    pub(super) fn completed(text: String) -> Self {
        let extra = vec![("api_error_status", Value::Null)];
        Ending {
            subtype: "success",
            terminal: Some("completed"),
            text: Some(text),
            timed: true,
            extra,
            ..Ending::default()
        }
    }

    pub(super) fn hook_stopped() -> Self {
        Ending { terminal: Some("hook_stopped"), ..Ending::completed(String::new()) }
    }

    pub(super) fn deferred(call: Value) -> Self {
        Ending {
            subtype: "success",
            terminal: Some("tool_deferred"),
            text: Some(String::new()),
            stop_reason: Some(json!("tool_deferred")),
            extra: vec![("deferred_tool_use", call)],
            ..Ending::default()
        }
    }

    pub(super) fn api_error(failure: &Failure) -> Self {
        let mut extra = vec![("api_error_status", json!(failure.status))];
        if let Some(kind) = &failure.kind {
            extra.push(("api_error_type", json!(kind)));
        }
        Ending {
            subtype: "success",
            is_error: true,
            terminal: Some("api_error"),
            text: Some(failure.text.clone()),
            extra,
            ..Ending::default()
        }
    }

    /// Adds a member.
    pub(super) fn with(mut self, key: &'static str, value: Value) -> Self {
        self.extra.push((key, value));
        self
    }

    /// Result of a command that needs no model, or of a prompt that did not reach it.
    pub(super) fn local(text: &str, command: Option<&str>) -> Self {
        let extra = command.map(|command| ("local_command", json!(command))).into_iter().collect();
        let stop_reason = Some(Value::Null);
        Ending {
            subtype: "success",
            text: Some(text.to_owned()),
            local: true,
            stop_reason,
            extra,
            ..Ending::default()
        }
    }

    pub(super) fn error(subtype: &'static str, terminal: &'static str, text: &str) -> Self {
        let errors = vec![text.to_owned()];
        Ending { subtype, is_error: true, terminal: Some(terminal), errors, ..Ending::default() }
    }
}

impl Session {
    /// Writes the result of the turn.
    pub(super) fn result(&mut self, ending: Ending) -> Flow {
        let now = self.now();
        let turn = self.turn.take().unwrap_or_default();
        let answered = turn.uuids.iter().chain(&turn.absorbed).cloned().collect::<Vec<_>>();
        let named = turn.uuids.last().map(|last| (last.clone(), answered));
        let stop_reason = ending.stop_reason.clone().unwrap_or_else(|| turn.stop_reason.clone());
        let rounds = if ending.local { 0 } else { turn.rounds };
        let mut frame = Frame::default();
        if ending.local {
            frame = frame.with("is_error", ending.is_error);
        }
        frame = frame.with("duration_api_ms", self.api_ms);
        if ending.local {
            frame = frame.with("num_turns", rounds);
        }
        frame = frame
            .with("stop_reason", stop_reason)
            .with("session_id", self.id.as_str())
            .with("total_cost_usd", shown_dollars(self.ledger.cost_nano()))
            .with("usage", turn.tokens.at_end())
            .with("modelUsage", self.ledger.by_model())
            .with("permission_denials", turn.denials.clone())
            .maybe("terminal_reason", ending.terminal)
            .with("fast_mode_state", "off")
            .with("fast_mode_disabled_reason", "sdk_opt_in_required")
            .maybe("origin", turn.origin.clone())
            .with("subagent_stats", self.stats.shown())
            .with("safety_stops", 0)
            .with("is_error", ending.is_error)
            .with("num_turns", rounds)
            .with("subtype", ending.subtype);
        for (key, value) in &ending.extra {
            frame = frame.with(key, value.clone());
        }
        frame = match &ending.text {
            Some(text) => frame.with("result", text.as_str()),
            None => frame.with("errors", ending.errors.clone()),
        };
        frame = frame.maybe("structured_output", turn.structured.clone());
        if ending.timed {
            frame = frame.with("ttft_ms", 1);
        }
        let duration_ms = now.saturating_sub(turn.started_ms);
        frame = frame.with("type", "result").with("duration_ms", duration_ms).with("uuid", self.ids.uuid());
        if ending.timed {
            frame = frame
                .with("ttft_stream_ms", 1)
                .with("time_to_request_ms", 1)
                .with("first_content_frame_ms", 1);
        }
        if let Some((last, all)) = named {
            frame = frame.with("user_message_uuid", last).with("user_message_uuids", all);
            if ending.timed {
                let first = turn.first_request.unwrap_or_default();
                frame = frame
                    .with("request_sent_wall_ms", turn.started_ms)
                    .with("first_request_input_tokens", first.context() - first.output)
                    .with("first_request_cache_read_input_tokens", first.cache_read);
            }
        }
        let frame = frame
            // Queued messages do not count, since they become part of the next turn.
            .with("queued_turn_count", 0)
            .with("result_index", self.results)
            .with("model_usage_since_last_result", self.ledger.since_last());
        self.results += 1;
        self.exit_code = i32::from(ending.is_error);
        let text = ending.text.unwrap_or_else(|| ending.errors.join("\n"));
        self.print_result(frame, &text)
    }

    /// Ends a session that cannot start: a minimal result, a message on stderr, and the exit.
    pub(super) fn startup_failure(&mut self, text: &str, reason: Option<Value>) -> Flow {
        self.print_error(text);
        let frame = Frame::new("result")
            .with("subtype", "error_during_execution")
            .with("duration_ms", 0)
            .with("duration_api_ms", 0)
            .with("is_error", true)
            .with("num_turns", 0)
            .with("stop_reason", Value::Null)
            .with("session_id", self.id.as_str())
            .with("total_cost_usd", 0)
            .with("usage", Tokens::default().at_end())
            .with("modelUsage", json!({}))
            .with("permission_denials", json!([]))
            .with("uuid", self.ids.uuid())
            .with("errors", vec![text])
            .maybe("startup_failure_reason", reason)
            .with("result_index", 0);
        self.print_result(frame, "")?;
        Err(Stop::Exit(1))
    }

    fn print_result(&mut self, frame: Frame, text: &str) -> Flow {
        match self.format() {
            Format::StreamJson => self.out.frame(frame),
            Format::Json => {
                let line = match self.out.kept.take() {
                    Some(mut kept) => {
                        kept.push(frame.line());
                        format!("[{}]", kept.join(","))
                    }
                    None => frame.line(),
                };
                self.out.plain(&line)
            }
            Format::Text if text.is_empty() => Ok(()),
            Format::Text => self.out.plain(text),
        }
    }
}

impl AgentStats {
    fn shown(&self) -> Value {
        json!({
            "spawned": self.background + self.foreground + self.unset,
            "requested": {"background": self.background, "foreground": self.foreground, "unset": self.unset},
            "started_in_background": self.started_in_background,
            "max_depth": usize::from(!self.by_type.is_empty()),
            "spawned_by_subagents": 0,
            "completed": self.completed,
            "failed": 0,
            "killed": {"parent": 0, "user": self.killed, "system": 0},
            "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
            "by_type": self.by_type,
        })
    }
}
