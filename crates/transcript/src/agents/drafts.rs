//! Entries of Claude Code, made from the records of another agent.

use std::collections::HashMap;
use std::fmt::Write as _;

use jiff::Timestamp;
use tidings_protocol::json::{Raw, write_string};

use crate::cost::Tokens;
use crate::limits::CONVERTED_BYTES_MAX;
use crate::reader::EntryLines;
use crate::{Error, ErrorKind};

/// The entries of one session, as a tree: each follows the tail, which a rewind moves back.
#[derive(Debug)]
pub(super) struct Drafts {
    session: String,
    version: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    entries: Vec<Draft>,
    /// The entry that the next one follows.
    tail: Option<usize>,
    uuids: HashMap<String, u32>,
    bytes: usize,
}

#[derive(Debug)]
struct Draft {
    uuid: String,
    parent: Option<usize>,
    line: u64,
    role: DraftRole,
    /// The entry up to its last brace, without its links.
    body: String,
}

/// The author of a text in the user's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A prompt.
    User,
    /// Context and instructions.
    Agent,
}

/// The state of a tool call with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultState {
    Done,
    Failed,
}

impl ResultState {
    /// The state of a call that did or did not fail.
    pub(super) fn failed_if(failed: bool) -> Self {
        if failed { ResultState::Failed } else { ResultState::Done }
    }
}

/// The role of an entry that matters while a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DraftRole {
    Prompt,
    Response,
    Boundary,
    Other,
}

/// The position of a record: its line, its id, if it has one, and its time as written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecordHead<'a> {
    pub(super) line: u64,
    pub(super) id: Option<&'a str>,
    pub(super) at: Option<Timestamp>,
}

impl Drafts {
    pub(super) fn new(session: &str) -> Self {
        Drafts {
            session: session.to_owned(),
            version: None,
            cwd: None,
            branch: None,
            entries: Vec::new(),
            tail: None,
            uuids: HashMap::new(),
            bytes: 0,
        }
    }

    pub(super) fn set_version(&mut self, version: Option<&str>) {
        self.version = version.map(str::to_owned).or(self.version.take());
    }

    pub(super) fn set_cwd(&mut self, cwd: Option<&str>) {
        self.cwd = cwd.map(str::to_owned).or(self.cwd.take());
    }

    pub(super) fn set_branch(&mut self, branch: Option<&str>) {
        self.branch = branch.map(str::to_owned).or(self.branch.take());
    }

    /// The entry that the next one follows.
    pub(super) fn tail(&self) -> Option<usize> {
        self.tail
    }

    /// The next entry follows this one; the entries after it become an abandoned branch.
    pub(super) fn rewind(&mut self, tail: Option<usize>) {
        self.tail = tail;
    }

    /// Goes back to before the last `turns` prompts.
    pub(super) fn rewind_turns(&mut self, turns: u64) {
        for _ in 0..turns {
            let mut at = self.tail;
            while let Some(index) = at {
                at = self.entries[index].parent;
                if self.entries[index].role == DraftRole::Prompt {
                    break;
                }
            }
            self.tail = at;
        }
    }

    /// A prompt, or text that the agent added for the model.
    pub(super) fn user(&mut self, head: RecordHead<'_>, content: &ContentBlocks, author: Author) {
        let mut body = self.head("user", head);
        if author == Author::Agent {
            body.push_str(",\"isMeta\":true");
        }
        body.push_str(",\"message\":{\"role\":\"user\",\"content\":");
        content.write(&mut body);
        body.push('}');
        let role = match author {
            Author::User => DraftRole::Prompt,
            Author::Agent => DraftRole::Other,
        };
        self.push(head, role, body);
    }

    /// A part of a response.
    pub(super) fn assistant(
        &mut self,
        head: RecordHead<'_>,
        response: &ResponseHead<'_>,
        content: &ContentBlocks,
    ) {
        let mut body = self.head("assistant", head);
        body.push_str(",\"message\":{\"role\":\"assistant\",\"id\":");
        write_string(response.id, &mut body);
        body.push_str(",\"model\":");
        match response.model {
            Some(model) => write_string(model, &mut body),
            None => body.push_str("null"),
        }
        body.push_str(",\"content\":");
        content.write(&mut body);
        if let Some(tokens) = response.tokens {
            // Writing into a String cannot fail.
            let _ = write!(
                body,
                ",\"usage\":{{\"input_tokens\":{},\"output_tokens\":{},\"cache_creation_input_tokens\":{},\
                 \"cache_read_input_tokens\":{}}}",
                tokens.input,
                tokens.output,
                tokens.cache_write(),
                tokens.cache_read
            );
        }
        body.push('}');
        self.push(head, DraftRole::Response, body);
    }

    /// The result of a tool call: text, or blocks.
    pub(super) fn result(
        &mut self,
        head: RecordHead<'_>,
        call: &str,
        content: &ContentBlocks,
        state: ResultState,
    ) {
        let mut body = self.head("user", head);
        body.push_str(
            ",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":",
        );
        write_string(call, &mut body);
        body.push_str(",\"content\":");
        content.write(&mut body);
        body.push_str(match state {
            ResultState::Failed => ",\"is_error\":true}]}",
            ResultState::Done => "}]}",
        });
        self.push(head, DraftRole::Other, body);
    }

    /// A remark of the agent; `error` as its name makes it an error.
    pub(super) fn event(&mut self, head: RecordHead<'_>, name: &str, text: &str) {
        let mut body = self.head("system", head);
        body.push_str(",\"subtype\":");
        write_string(name, &mut body);
        body.push_str(",\"content\":");
        write_string(text, &mut body);
        self.push(head, DraftRole::Other, body);
    }

    /// A compaction. The conversation before it stays readable.
    pub(super) fn boundary(&mut self, head: RecordHead<'_>, trigger: Option<&str>) {
        let mut body = self.head("system", head);
        body.push_str(",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\"");
        if let Some(trigger) = trigger {
            body.push_str(",\"compactMetadata\":{\"trigger\":");
            write_string(trigger, &mut body);
            body.push('}');
        }
        self.push(head, DraftRole::Boundary, body);
    }

    /// The summary after a compaction.
    pub(super) fn summary(&mut self, head: RecordHead<'_>, content: &ContentBlocks) {
        let mut body = self.head("user", head);
        body.push_str(
            ",\"isCompactSummary\":true,\"isVisibleInTranscriptOnly\":true,\"message\":{\"role\":\"user\",\"content\":",
        );
        content.write(&mut body);
        body.push('}');
        self.push(head, DraftRole::Other, body);
    }

    /// A record of an unknown kind, as it is.
    pub(super) fn unknown(&mut self, head: RecordHead<'_>, kind: &str, record: Raw<'_>) {
        let mut body = self.head(kind, head);
        body.push_str(",\"record\":");
        body.push_str(record.as_str());
        self.push(head, DraftRole::Other, body);
    }

    /// Number of prompts.
    pub(super) fn prompts(&self) -> u64 {
        self.entries.iter().filter(|draft| draft.role == DraftRole::Prompt).count() as u64
    }

    /// Ends the session.
    pub(super) fn finish(self, title: Option<&str>) -> Result<EntryLines, Error> {
        if self.bytes > CONVERTED_BYTES_MAX {
            let message = format!("The session `{}` is too large to read", self.session);
            return Err(Error::new(ErrorKind::Invalid, message, "export it as it is with --to ndjson"));
        }
        let mut lines = EntryLines::default();
        for draft in &self.entries {
            let mut entry = draft.body.clone();
            let parent = draft.parent.map(|parent| self.entries[parent].uuid.as_str());
            // A compaction begins a new part, and names the entry before it.
            let key = if draft.role == DraftRole::Boundary { "logicalParentUuid" } else { "parentUuid" };
            if draft.role == DraftRole::Boundary {
                entry.push_str(",\"parentUuid\":null");
            }
            entry.push_str(",\"");
            entry.push_str(key);
            entry.push_str("\":");
            match parent {
                Some(parent) => write_string(parent, &mut entry),
                None => entry.push_str("null"),
            }
            entry.push('}');
            lines.push(draft.line, &entry);
        }
        if let Some(title) = title {
            let mut entry = "{\"type\":\"ai-title\",\"aiTitle\":".to_owned();
            write_string(title, &mut entry);
            entry.push('}');
            lines.push(0, &entry);
        }
        let last = self.entries.len().checked_sub(1);
        if let Some(tail) = self.tail.filter(|tail| Some(*tail) != last) {
            let mut entry = "{\"type\":\"last-prompt\",\"leafUuid\":".to_owned();
            write_string(&self.entries[tail].uuid, &mut entry);
            entry.push('}');
            lines.push(0, &entry);
        }
        Ok(lines)
    }

    fn head(&self, kind: &str, head: RecordHead<'_>) -> String {
        let mut body = "{\"type\":".to_owned();
        write_string(kind, &mut body);
        let at = head.at.map(|at| at.to_string());
        let keys = [
            ("sessionId", Some(self.session.as_str())),
            ("timestamp", at.as_deref()),
            ("cwd", self.cwd.as_deref()),
            ("version", self.version.as_deref()),
            ("gitBranch", self.branch.as_deref()),
        ];
        for (key, value) in keys {
            let Some(value) = value else { continue };
            body.push_str(",\"");
            body.push_str(key);
            body.push_str("\":");
            write_string(value, &mut body);
        }
        body
    }

    fn push(&mut self, head: RecordHead<'_>, role: DraftRole, mut body: String) {
        let id =
            head.id.filter(|id| !id.is_empty()).map_or_else(|| format!("line-{}", head.line), str::to_owned);
        let count = self.uuids.entry(id.clone()).or_default();
        *count += 1;
        // One record may become several entries, and each needs an id of its own.
        let uuid = if *count == 1 { id } else { format!("{id}#{count}") };
        body.push_str(",\"uuid\":");
        write_string(&uuid, &mut body);
        self.bytes = self.bytes.saturating_add(body.len());
        // Beyond the limit nothing is kept, and the session is an error in the end.
        if self.bytes > CONVERTED_BYTES_MAX {
            return;
        }
        self.entries.push(Draft { uuid, parent: self.tail, line: head.line, role, body });
        self.tail = Some(self.entries.len() - 1);
    }
}

/// The response that an entry is a part of.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResponseHead<'a> {
    pub(super) id: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) tokens: Option<&'a Tokens>,
}

/// Content blocks of a message, as JSON.
#[derive(Debug, Default, Clone)]
pub(super) struct ContentBlocks {
    json: String,
}

impl ContentBlocks {
    pub(super) fn of_text(text: &str) -> Self {
        let mut blocks = ContentBlocks::default();
        blocks.text(text);
        blocks
    }

    pub(super) fn is_empty(&self) -> bool {
        self.json.is_empty()
    }

    pub(super) fn text(&mut self, text: &str) {
        self.begin("{\"type\":\"text\",\"text\":");
        write_string(text, &mut self.json);
        self.json.push('}');
    }

    pub(super) fn thinking(&mut self, text: &str) {
        self.begin("{\"type\":\"thinking\",\"thinking\":");
        write_string(text, &mut self.json);
        self.json.push('}');
    }

    /// A tool call; its input is any JSON.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &str) {
        self.begin("{\"type\":\"tool_use\",\"id\":");
        write_string(id, &mut self.json);
        self.json.push_str(",\"name\":");
        write_string(name, &mut self.json);
        self.json.push_str(",\"input\":");
        self.json.push_str(input);
        self.json.push('}');
    }

    /// An image or document, given as a URL; a data URL contains it.
    pub(super) fn file(&mut self, media: Option<&str>, url: &str) {
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        let media = data.map(|(media, _)| media).or(media).unwrap_or_default();
        let kind = if media.is_empty() || media.starts_with("image/") { "image" } else { "document" };
        self.begin("{\"type\":\"");
        self.json.push_str(kind);
        self.json.push_str("\",\"source\":{\"type\":");
        if let Some((_, data)) = data {
            self.json.push_str("\"base64\",\"data\":");
            write_string(data, &mut self.json);
        } else {
            self.json.push_str("\"url\",\"url\":");
            write_string(url, &mut self.json);
        }
        self.json.push_str(",\"media_type\":");
        write_string(media, &mut self.json);
        self.json.push_str("}}");
    }

    /// A block of another kind, as it is.
    pub(super) fn raw(&mut self, block: Raw<'_>) {
        self.begin(block.as_str());
    }

    fn begin(&mut self, text: &str) {
        if !self.json.is_empty() {
            self.json.push(',');
        }
        self.json.push_str(text);
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        out.push_str(&self.json);
        out.push(']');
    }
}
