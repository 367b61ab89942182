//! Prompts of the host, and their queue.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::frames::{Frame, text};
use super::result::Ending;
use super::session::Session;
use super::stop::{Flow, Stop};

/// One message for the model.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompt {
    /// Content as sent by the host: a text or blocks.
    pub(super) content: Value,
    /// Its text.
    pub(super) text: String,
    /// Id given by the host.
    pub(super) uuid: Option<String>,
    /// True if the message is only added to the conversation, without a request to the model.
    pub(super) silent: bool,
    /// Origin, if the host did not send it.
    pub(super) origin: Option<Value>,
}

impl Prompt {
    pub(super) fn plain(text: &str) -> Self {
        Prompt { content: Value::from(text), text: text.to_owned(), ..Prompt::default() }
    }

    /// True if it is not answered together with others.
    fn stands_alone(&self) -> bool {
        self.silent || self.origin.is_some() || self.command().is_some()
    }

    /// The command, if this is one: `/compact now` gives `compact` and `now`.
    pub(super) fn command(&self) -> Option<(&str, &str)> {
        let rest = self.text.strip_prefix('/')?;
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c));
        plain.then_some((name, arguments.trim()))
    }
}

impl Session {
    /// Accepts a `user` frame.
    pub(super) fn take_user(&mut self, frame: &Value) -> Flow {
        let role = frame["message"].get("role").and_then(Value::as_str).unwrap_or("undefined");
        if role != "user" {
            self.print_error(&format!("Error: Expected message role 'user', got '{role}'"));
            return Err(Stop::Exit(1));
        }
        let content = frame["message"]["content"].clone();
        let uuid = frame.get("uuid").and_then(Value::as_str).map(str::to_owned);
        if let Some(uuid) = &uuid {
            if self.taken.contains(uuid) {
                return Ok(());
            }
            self.taken.push(uuid.clone());
            self.lifecycle(uuid, "queued")?;
        }
        let origin = frame.get("isSynthetic").and_then(Value::as_bool).unwrap_or_default();
        let prompt = Prompt {
            text: content_text(&content),
            content,
            uuid,
            silent: frame.get("shouldQuery") == Some(&Value::Bool(false)),
            origin: origin.then(|| json!({"kind": "unclassified"})),
        };
        self.note_queue("enqueue", Some(&prompt.text));
        if text(frame, "priority") == "now" && self.turn.is_some() {
            self.queue.push_front(prompt);
            if let Some(turn) = &mut self.turn {
                turn.preempted = true;
            }
            return Err(Stop::Interrupted);
        }
        self.queue.push_back(prompt);
        Ok(())
    }

    /// Prompts of the next turn: queued ones are answered together, commands alone.
    pub(super) fn next_prompts(&mut self) -> Option<Vec<Prompt>> {
        let first = self.queue.pop_front()?;
        let mut prompts = vec![first];
        while !prompts[0].stands_alone() && self.queue.front().is_some_and(|next| !next.stands_alone()) {
            prompts.extend(self.queue.pop_front());
        }
        self.note_queue("dequeue", None);
        Some(prompts)
    }

    /// Adds messages that arrived while tools were running to the current turn.
    pub(super) fn absorb(&mut self, conversation: &mut Conversation) -> Flow {
        while self.queue.front().is_some_and(|prompt| !prompt.stands_alone()) {
            let Some(prompt) = self.queue.pop_front() else { break };
            self.note_absorbed(conversation, &prompt)?;
            conversation.add(prompt.text.as_str());
            if let Some(uuid) = prompt.uuid {
                self.lifecycle(&uuid, "started")?;
                self.with_turn(|turn| turn.absorbed.push(uuid));
            }
        }
        Ok(())
    }

    /// Notifies the host of the state of a message with a uuid.
    pub(super) fn lifecycle(&mut self, uuid: &str, state: &str) -> Flow {
        let frame = Frame::new("command_lifecycle").with("command_uuid", uuid).with("state", state);
        self.emit(frame).map(drop)
    }

    /// Ends the turn of a prompt that a hook blocked.
    pub(super) fn refused_prompt(
        &mut self,
        kind: &str,
        kept: bool,
        reason: &str,
        prompt: &str,
    ) -> Flow<Ending> {
        let text = if kept {
            format!("Operation stopped by hook: {reason}")
        } else {
            format!("UserPromptSubmit operation blocked by hook:\n{reason}\n\nOriginal prompt: {prompt}")
        };
        let outcome = json!({"kind": kind, "prompt_kept": kept, "reason": reason});
        let frame = Frame::system("informational")
            .with("content", text.as_str())
            .with("level", "warning")
            .with("prevent_continuation", true)
            .with("prompt_submit_outcome", outcome);
        self.emit(frame)?;
        Ok(Ending::local(&text, None))
    }

    /// `--replay-user-messages`: prepares the echo of the messages, sent when the model starts to answer.
    pub(super) fn prepare_replay(&mut self, prompts: &[Prompt], uuids: &[String]) {
        if !self.args.has("replay-user-messages") {
            return;
        }
        for (prompt, uuid) in prompts.iter().zip(uuids).filter(|(prompt, _)| prompt.origin.is_none()) {
            let stamp = self.stamp();
            let frame = Frame::new("user")
                .with("message", json!({"role": "user", "content": prompt.content}))
                .with("session_id", self.id.as_str())
                .with("parent_tool_use_id", Value::Null)
                .with("uuid", uuid.as_str())
                .with("timestamp", stamp)
                .with("isReplay", true);
            self.with_turn(|turn| turn.replays.push(frame));
        }
    }

    /// Sends the prepared echoes.
    pub(super) fn replay(&mut self) -> Flow {
        let frames = self.turn.as_mut().map(|turn| std::mem::take(&mut turn.replays)).unwrap_or_default();
        frames.into_iter().try_for_each(|frame| self.emit(frame).map(drop))
    }
}

/// Text of a message's content.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block.get("content") {
                None if block.is_string() => block.as_str().map(str::to_owned),
                Some(inner) => Some(content_text(inner)),
                None => block.get("text").and_then(Value::as_str).map(str::to_owned),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
