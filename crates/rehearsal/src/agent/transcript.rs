//! The session file that the CLI writes to disk.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::conversation::Conversation;
use super::frames::Frame;
use super::model::Failure;
use super::prompt::Prompt;
use super::session::Session;
use super::stop::Flow;
use super::surrogates::restore_surrogates;
use super::tools::Outcome;
use super::turn::Stream;
use crate::script::Turn;

/// State of a growing session file.
#[derive(Debug, Clone, Default)]
pub(super) struct Transcript {
    /// Last entry of the chain.
    pub(super) parent: Option<String>,
    /// Sub-agent whose file this is.
    pub(super) agent: Option<String>,
    /// True if something was written.
    pub(super) begun: bool,
}

impl Session {
    /// Folder name of this project's sessions: its path with dashes.
    pub(super) fn project_key(&self) -> String {
        self.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
    }

    /// File of the session, or of one of its sub-agents.
    pub(super) fn transcript_path(&self, agent: Option<&str>) -> PathBuf {
        let project = self.config_dir.join("projects").join(self.project_key());
        match agent {
            None => project.join(format!("{}.jsonl", self.id)),
            Some(agent) => project.join(&self.id).join("subagents").join(format!("agent-{agent}.jsonl")),
        }
    }

    /// Records a prompt, and before the first one the start of the file.
    pub(super) fn note_prompt(
        &mut self,
        conversation: &mut Conversation,
        prompt: &Prompt,
        uuid: &str,
    ) -> Flow {
        let message = json!({"role": "user", "content": prompt.content});
        let mut entry = self.chained(conversation, "user", uuid);
        entry.insert("message".to_owned(), message);
        entry.insert("permissionMode".to_owned(), json!(self.mode));
        entry.insert("promptSource".to_owned(), json!("sdk"));
        entry.insert("turnOrigin".to_owned(), json!("sdk"));
        entry.insert("turnPosition".to_owned(), json!({"promptIndex": 0, "turnIndex": self.turns}));
        if let Some(origin) = &prompt.origin {
            entry.insert("origin".to_owned(), origin.clone());
        }
        let first = !conversation.file.begun;
        self.write(conversation, entry)?;
        if first {
            let stamp = self.stamp();
            let uuid = self.ids.uuid();
            let mut entry = self.chained(conversation, "attachment", &uuid);
            entry.insert("attachment".to_owned(), json!({"type": "date", "date": stamp[..10]}));
            self.write(conversation, entry)?;
        }
        Ok(())
    }

    /// Records a `user` entry that is not a prompt.
    pub(super) fn note_user(&mut self, conversation: &mut Conversation, message: &Value, uuid: &str) -> Flow {
        let mut entry = self.chained(conversation, "user", uuid);
        entry.insert("message".to_owned(), message.clone());
        self.write(conversation, entry)
    }

    /// Records the result of a call, with the call as its parent.
    pub(super) fn note_result(
        &mut self,
        conversation: &mut Conversation,
        message: &Value,
        outcome: &Outcome,
        assistant: &str,
        uuid: &str,
    ) -> Flow {
        conversation.file.parent = Some(assistant.to_owned());
        let mut entry = self.chained(conversation, "user", uuid);
        entry.insert("message".to_owned(), message.clone());
        entry.insert("toolUseResult".to_owned(), outcome.output.clone());
        entry.insert("sourceToolAssistantUUID".to_owned(), json!(assistant));
        self.write(conversation, entry)
    }

    /// Records an answer: one entry per block, each with the final usage.
    pub(super) fn note_answer(
        &mut self,
        conversation: &mut Conversation,
        turn: &Turn,
        stream: &Stream,
        contents: &[Value],
        uuids: &[String],
    ) -> Flow {
        for (index, (content, uuid)) in contents.iter().zip(uuids).enumerate() {
            let message = json!({
                "model": stream.model, "id": stream.message_id, "type": "message", "role": "assistant",
                "content": [content], "stop_reason": turn.stop_reason(), "stop_sequence": null,
                "usage": stream.tokens.at_end(), "stop_details": null,
            });
            let entry = self.answer_entry(conversation, stream, message, index, uuid);
            self.write(conversation, entry)?;
        }
        if conversation.agent.is_none() {
            let leaf = conversation.file.parent.clone();
            self.write_plain(
                conversation,
                json!({"type": "last-prompt", "leafUuid": leaf, "sessionId": self.id}),
            )?;
        }
        Ok(())
    }

    /// Records the text before an interrupt.
    pub(super) fn note_aborted(
        &mut self,
        conversation: &mut Conversation,
        stream: &Stream,
        content: &Value,
        uuid: &str,
    ) -> Flow {
        let message = json!({
            "model": stream.model, "id": stream.message_id, "type": "message", "role": "assistant",
            "content": [content], "stop_reason": null, "stop_sequence": null, "usage": stream.tokens.at_start(),
        });
        let mut entry = self.answer_entry(conversation, stream, message, stream.index, uuid);
        entry.insert("isAbortedMidStream".to_owned(), json!(true));
        self.write(conversation, entry)
    }

    /// Records a failure of the API.
    pub(super) fn note_failure(
        &mut self,
        conversation: &mut Conversation,
        message: &Value,
        failure: &Failure,
        uuid: &str,
    ) -> Flow {
        let mut entry = self.chained(conversation, "assistant", uuid);
        entry.insert("message".to_owned(), message.clone());
        entry.insert("error".to_owned(), json!(failure.name));
        entry.insert("isApiErrorMessage".to_owned(), json!(true));
        if let Some(status) = failure.status {
            entry.insert("apiErrorStatus".to_owned(), json!(status));
        }
        entry.insert("madeBy".to_owned(), json!("model"));
        self.write(conversation, entry)
    }

    /// Records the boundary of a compaction; the next entry has no parent.
    pub(super) fn note_boundary(
        &mut self,
        conversation: &mut Conversation,
        metadata: Value,
        uuid: &str,
    ) -> Flow {
        let logical = conversation.file.parent.take();
        let mut entry = self.chained(conversation, "system", uuid);
        entry.insert("subtype".to_owned(), json!("compact_boundary"));
        entry.insert("logicalParentUuid".to_owned(), json!(logical));
        entry.insert("content".to_owned(), json!("Conversation compacted"));
        entry.insert("isMeta".to_owned(), json!(false));
        entry.insert("level".to_owned(), json!("info"));
        entry.insert("compactMetadata".to_owned(), metadata);
        self.write(conversation, entry)
    }

    /// Records the summary that replaces the earlier conversation.
    pub(super) fn note_summary(
        &mut self,
        conversation: &mut Conversation,
        message: &Value,
        uuid: &str,
    ) -> Flow {
        let mut entry = self.chained(conversation, "user", uuid);
        entry.insert("message".to_owned(), message.clone());
        entry.insert("isVisibleInTranscriptOnly".to_owned(), json!(true));
        entry.insert("isCompactSummary".to_owned(), json!(true));
        self.write(conversation, entry)
    }

    fn answer_entry(
        &mut self,
        conversation: &Conversation,
        stream: &Stream,
        message: Value,
        index: usize,
        uuid: &str,
    ) -> Map<String, Value> {
        let mut entry = self.chained(conversation, "assistant", uuid);
        entry.insert("message".to_owned(), message);
        entry.insert("apiBlockIndex".to_owned(), json!(index));
        entry.insert("requestId".to_owned(), json!(stream.request_id));
        entry.insert("requestedModel".to_owned(), json!(stream.model));
        entry.insert("effort".to_owned(), json!("medium"));
        entry.insert("perTurnEffort".to_owned(), json!("medium"));
        entry.insert("madeBy".to_owned(), json!("model"));
        entry
    }

    /// Fields common to all entries of the chain.
    pub(super) fn chained(
        &mut self,
        conversation: &Conversation,
        kind: &str,
        uuid: &str,
    ) -> Map<String, Value> {
        let mut entry = Map::new();
        entry.insert("parentUuid".to_owned(), json!(conversation.file.parent));
        entry.insert("isSidechain".to_owned(), json!(conversation.file.agent.is_some()));
        if kind == "user"
            && let Some(turn) = &self.turn
        {
            entry.insert("promptId".to_owned(), json!(turn.prompt_id));
        }
        if let Some(agent) = &conversation.file.agent {
            entry.insert("agentId".to_owned(), json!(agent));
        }
        for (key, value) in [
            ("type", kind),
            ("uuid", uuid),
            ("userType", "external"),
            ("entrypoint", "sdk-cli"),
            ("cwd", &self.cwd),
            ("sessionId", &self.id),
            ("gitBranch", ""),
        ] {
            entry.insert(key.to_owned(), json!(value));
        }
        entry.insert("version".to_owned(), json!(self.version()));
        let stamp = self.stamp();
        entry.insert("timestamp".to_owned(), json!(stamp));
        entry
    }

    /// Appends an entry of the chain.
    pub(super) fn write(&mut self, conversation: &mut Conversation, entry: Map<String, Value>) -> Flow {
        conversation.file.parent = entry.get("uuid").and_then(Value::as_str).map(str::to_owned);
        self.write_plain(conversation, Value::Object(entry))
    }

    fn write_plain(&mut self, conversation: &mut Conversation, entry: Value) -> Flow {
        conversation.file.begun = true;
        let agent = conversation.file.agent.clone();
        self.append(agent.as_deref(), &entry);
        if self.args.has("session-mirror") && !self.args.has("no-session-persistence") {
            let path = self.transcript_path(agent.as_deref());
            let frame =
                Frame::new("transcript_mirror").with("filePath", json!(path)).with("entries", vec![entry]);
            self.out.frame(frame)?;
        }
        Ok(())
    }

    /// Appends a line; like the real CLI, it ignores a full or read-only disk.
    pub(super) fn append(&mut self, agent: Option<&str>, entry: &Value) {
        if self.args.has("no-session-persistence") {
            return;
        }
        let path = self.transcript_path(agent);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.write_all(format!("{}\n", restore_surrogates(entry.to_string())).as_bytes())
        });
        drop(written);
    }
}
