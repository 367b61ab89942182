//! Resumption of sessions on disk.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::frames::text;
use super::prompt::content_text;
use super::session::Session;
use super::stop::{Flow, Stop};
use super::surrogates::replace_lone_surrogates;
use super::usage::Tokens;

impl Session {
    /// Opens or creates the session of the command line.
    pub(super) fn open_session(&mut self) -> Flow {
        let given = self.args.get("session-id").map(str::to_owned);
        if given.as_deref().is_some_and(|id| !is_uuid(id)) {
            self.print_error("Error: Invalid session ID. Must be a valid UUID.");
            return Err(Stop::Exit(1));
        }
        let source = if self.args.has("resume") {
            Some(self.args.get("resume").unwrap_or_default().to_owned())
        } else if self.args.has("continue") {
            let Some(id) = self.newest_session() else {
                self.print_error("No conversation found to continue");
                return Err(Stop::Exit(1));
            };
            Some(id)
        } else {
            None
        };
        let Some(source) = source else {
            if let Some(id) = given.filter(|_| self.transcript_path(None).exists()) {
                self.print_error(&format!("Error: Session ID {id} is already in use."));
                return Err(Stop::Exit(1));
            }
            return Ok(());
        };
        if !is_uuid(&source) {
            let text = format!(
                "Error: --resume requires a valid session ID or session title when used with --print. \
                 Usage: claude -p --resume <session-id|title>. \
                 Provided value \"{source}\" is not a UUID and does not match any session title."
            );
            return self.startup_failure(&text, None);
        }
        self.resume(&source)
    }

    fn resume(&mut self, source: &str) -> Flow {
        let fresh = std::mem::replace(&mut self.id, source.to_owned());
        let Ok(file) = fs::read_to_string(self.transcript_path(None)) else {
            return self.startup_failure(&format!("No conversation found with session ID: {source}"), None);
        };
        let mut entries: Vec<Value> = file
            .lines()
            .filter_map(|line| serde_json::from_str(&replace_lone_surrogates(line)).ok())
            .collect();
        if let Some(at) = self.args.get("resume-session-at").map(str::to_owned) {
            let Some(last) = entries.iter().position(|entry| text(entry, "uuid") == at) else {
                return self.startup_failure(&format!("No message found with message.uuid of: {at}"), None);
            };
            let costs: Vec<Value> =
                entries.iter().filter(|entry| entry["type"] == "cost-state").cloned().collect();
            entries.truncate(last + 1);
            entries.extend(costs);
        }
        if self.args.has("fork-session") {
            self.id = fresh;
            for entry in &mut entries {
                entry["sessionId"] = json!(self.id);
                self.append(None, entry);
            }
        }
        for entry in &entries {
            self.restore(entry);
        }
        Ok(())
    }

    /// Restores the state from one entry of the file.
    fn restore(&mut self, entry: &Value) {
        match text(entry, "type") {
            "user" | "assistant" => {
                let message = &entry["message"];
                self.conversation.add(content_text(&message["content"]));
            }
            "system" if entry["subtype"] == "compact_boundary" => self.conversation.texts.clear(),
            "custom-title" => self.title = Some(text(entry, "customTitle").to_owned()),
            "cost-state" => self.restore_costs(&entry["modelUsage"]),
            _ => {}
        }
        // The title of a copy has an id too, but is not part of the tree.
        let in_tree = entry.get("parentUuid").is_some();
        if let Some(uuid) = entry.get("uuid").and_then(Value::as_str).filter(|_| in_tree) {
            self.conversation.file.parent = Some(uuid.to_owned());
            self.conversation.file.begun = true;
        }
    }

    /// Restores the totals of the last process.
    fn restore_costs(&mut self, models: &Value) {
        self.ledger = super::usage::Ledger::default();
        for (model, usage) in models.as_object().into_iter().flatten() {
            let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
            let tokens = Tokens {
                input: count("inputTokens"),
                output: count("outputTokens"),
                cache_read: count("cacheReadInputTokens"),
                write_5m: count("cacheCreationEphemeral5mInputTokens"),
                write_1h: count("cacheCreationEphemeral1hInputTokens"),
                web_searches: count("webSearchRequests"),
            };
            self.ledger.spend(model, tokens);
        }
        self.ledger.end_restoration();
    }

    /// Most recently written session of this project.
    fn newest_session(&self) -> Option<String> {
        let project: PathBuf = self.transcript_path(None).parent()?.to_owned();
        let files = fs::read_dir(project).ok()?.filter_map(Result::ok);
        let sessions = files.filter_map(|file| {
            let name = file.file_name().to_string_lossy().strip_suffix(".jsonl")?.to_owned();
            Some((file.metadata().ok()?.modified().ok()?, name))
        });
        sessions.max().map(|(_, name)| name)
    }
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths = [8, 4, 4, 4, 12];
    parts.len() == lengths.len()
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, length)| part.len() == length && part.chars().all(|c| c.is_ascii_hexdigit()))
}
