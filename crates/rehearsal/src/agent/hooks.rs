//! Hooks that the host registered in `initialize`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tidings_protocol::hooks::HookEvent;

use super::conversation::Agent;
use super::frames::{Frame, members, text};
use super::session::Session;
use super::stop::Flow;
use super::wait::Reply;

/// Default timeout of a hook, in seconds.
const TIMEOUT_S: f64 = 60.0;

/// The hooks of a session, by event.
#[derive(Debug, Clone, Default)]
pub(super) struct Hooks(BTreeMap<String, Vec<Matcher>>);

#[derive(Debug, Clone)]
struct Matcher {
    pattern: Option<String>,
    callbacks: Vec<String>,
    timeout: Duration,
    blocks_on_failure: bool,
}

/// Combined output of the hooks of one event.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdict {
    /// Reason of `decision: block`, or of a failure that counts as one.
    pub(super) block: Option<String>,
    /// `continue: false`
    pub(super) stop: Option<String>,
    /// `permissionDecision` and its reason.
    pub(super) decision: Option<(String, String)>,
    pub(super) updated_input: Option<Value>,
    /// The `decision` of a `PermissionRequest` hook.
    pub(super) permission: Option<Value>,
    pub(super) context: Vec<String>,
    /// True if a hook did not answer in time.
    pub(super) late: bool,
}

impl Hooks {
    /// Reads `hooks` of an `initialize` request.
    pub(super) fn parse(hooks: &Value) -> Self {
        let events = hooks.as_object().cloned().unwrap_or_default();
        let matchers = |list: &Value| list.as_array().into_iter().flatten().map(Matcher::parse).collect();
        Hooks(events.iter().map(|(event, list)| (event.clone(), matchers(list))).collect())
    }

    fn of(&self, event: &str, subject: Option<&str>) -> Vec<(String, Duration, bool)> {
        let matchers = self.0.get(event).into_iter().flatten().filter(|matcher| matcher.fits(subject));
        let callbacks = matchers.flat_map(|matcher| {
            matcher.callbacks.iter().map(|id| (id.clone(), matcher.timeout, matcher.blocks_on_failure))
        });
        callbacks.collect()
    }
}

impl Matcher {
    fn parse(value: &Value) -> Self {
        let ids = value["hookCallbackIds"].as_array().into_iter().flatten();
        let seconds = value.get("timeout").and_then(Value::as_f64).unwrap_or(TIMEOUT_S);
        Matcher {
            pattern: value.get("matcher").and_then(Value::as_str).map(str::to_owned),
            callbacks: ids.filter_map(Value::as_str).map(str::to_owned).collect(),
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            blocks_on_failure: value["onFailure"] == "block",
        }
    }

    /// True if the pattern matches: `Bash`, `Edit|Write`, `mcp__.*`, `*` (names, alternatives, and a wildcard
    /// at the end).
    fn fits(&self, subject: Option<&str>) -> bool {
        let (Some(pattern), Some(subject)) = (self.pattern.as_deref(), subject) else {
            return true;
        };
        pattern.is_empty()
            || pattern.split('|').any(|name| match name.strip_suffix(".*").or(name.strip_suffix('*')) {
                Some(prefix) => subject.starts_with(prefix.trim_start_matches('^')),
                None => name.trim_start_matches('^').trim_end_matches('$') == subject,
            })
    }
}

impl Verdict {
    /// Refusal of a prompt: name of the outcome, whether the prompt is kept, and the reason.
    pub(super) fn refuses_prompt(&self) -> Option<(&'static str, bool, String)> {
        match (&self.stop, &self.block) {
            (Some(reason), _) => Some(("stopped_by_hook", true, reason.clone())),
            (None, Some(reason)) => Some(("blocked_by_hook", false, reason.clone())),
            (None, None) => None,
        }
    }

    fn add(&mut self, answer: &Value) {
        if answer.get("continue") == Some(&Value::Bool(false)) {
            self.stop = Some(text(answer, "stopReason").to_owned());
        }
        if answer["decision"] == "block" {
            self.block = Some(text(answer, "reason").to_owned());
        }
        let specific = &answer["hookSpecificOutput"];
        if let Some(decision) = specific.get("permissionDecision").and_then(Value::as_str) {
            // Of several decisions the strictest counts.
            let strictness =
                |decision: &str| ["allow", "ask", "defer", "deny"].iter().position(|name| *name == decision);
            if self.decision.as_ref().is_none_or(|(other, _)| strictness(decision) > strictness(other)) {
                self.decision =
                    Some((decision.to_owned(), text(specific, "permissionDecisionReason").to_owned()));
            }
        }
        if let Some(input) = specific.get("updatedInput") {
            self.updated_input = Some(input.clone());
        }
        if let Some(decision) = specific.get("decision") {
            self.permission = Some(decision.clone());
        }
        self.context.extend(specific.get("additionalContext").and_then(Value::as_str).map(str::to_owned));
    }
}

impl Session {
    /// Runs all hooks of an event in parallel and waits for their answers.
    pub(super) fn run_hooks(
        &mut self,
        event: &str,
        subject: Option<&str>,
        tool_use_id: Option<&str>,
        agent: Option<&Agent>,
        input: &Value,
    ) -> Flow<Verdict> {
        let open = self.send_hooks(event, subject, tool_use_id, agent, input)?;
        let mut verdict = Verdict::default();
        for (id, timeout, blocks) in open {
            let reply = self.reply(&id, Some(timeout))?;
            self.add_hook_reply(&mut verdict, event, subject, reply, blocks)?;
        }
        Ok(verdict)
    }

    /// Sends the requests of an event; each has an id, a timeout, and a flag whether a failure blocks.
    pub(super) fn send_hooks(
        &mut self,
        event: &str,
        subject: Option<&str>,
        tool_use_id: Option<&str>,
        agent: Option<&Agent>,
        input: &Value,
    ) -> Flow<Vec<(String, Duration, bool)>> {
        debug_assert!(HookEvent::KNOWN.contains(&event), "no such hook event: {event}");
        let callbacks = self.hooks.of(event, subject);
        if callbacks.is_empty() {
            return Ok(Vec::new());
        }
        let input = self.hook_input(event, agent, input);
        let mut open = Vec::new();
        for (callback, timeout, blocks) in callbacks {
            let tool_use_id = tool_use_id.map_or_else(|| self.ids.uuid(), str::to_owned);
            let request = json!({
                "subtype": "hook_callback", "callback_id": callback, "input": input, "tool_use_id": tool_use_id,
            });
            open.push((self.request(request)?, timeout, blocks));
        }
        Ok(open)
    }

    /// Adds one answer to the verdict.
    pub(super) fn add_hook_reply(
        &mut self,
        verdict: &mut Verdict,
        event: &str,
        subject: Option<&str>,
        reply: Reply,
        blocks: bool,
    ) -> Flow {
        match reply {
            Reply::Success(answer) => {
                verdict.add(&answer);
                if let Some(message) = answer.get("systemMessage").and_then(Value::as_str) {
                    let name =
                        subject.map_or_else(|| event.to_owned(), |subject| format!("{event}:{subject}"));
                    let frame =
                        Frame::system("informational").with("content", format!("{name} says: {message}"));
                    self.emit(frame.with("level", "notice"))?;
                }
            }
            Reply::Error(error) if blocks => verdict.block = Some(error),
            Reply::Error(error) => self.print_error(&format!("Error in hook callback: {error}")),
            Reply::Late => verdict.late = true,
            Reply::Closed => {}
        }
        Ok(())
    }

    fn hook_input(&self, event: &str, agent: Option<&Agent>, input: &Value) -> Value {
        let mut all = Map::new();
        all.insert("session_id".to_owned(), json!(self.id));
        all.insert("transcript_path".to_owned(), json!(self.transcript_path(None)));
        all.insert("cwd".to_owned(), json!(self.cwd));
        // A session that has just been cleared has no prompt yet.
        if let Some(turn) = self.turn.as_ref().filter(|_| input["source"] != "clear") {
            all.insert("prompt_id".to_owned(), json!(turn.prompt_id));
        }
        let with_mode = [
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "PermissionRequest",
            "Stop",
            "SubagentStop",
        ];
        if with_mode.contains(&event) || event == "UserPromptSubmit" {
            all.insert("permission_mode".to_owned(), json!(self.mode));
        }
        if let Some(agent) = agent {
            all.insert("agent_id".to_owned(), json!(agent.id));
            all.insert("agent_type".to_owned(), json!(agent.kind));
        }
        if with_mode.contains(&event) || event == "StopFailure" {
            all.insert("effort".to_owned(), json!({"level": self.args.get("effort").unwrap_or("medium")}));
        }
        all.insert("hook_event_name".to_owned(), json!(event));
        all.extend(members(input));
        Value::Object(all)
    }
}
