//! Sessions for tests, written to a temporary folder.

use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{BranchState, LaneId, NodeId, Session, View};

/// A session and its folder.
pub(crate) struct Given {
    pub(crate) session: Session,
    _folder: tempfile::TempDir,
}

/// A sub-agent: its id, its lines, and its sidecar.
pub(crate) struct GivenAgent<'a> {
    pub(crate) id: &'a str,
    pub(crate) lines: &'a [String],
    pub(crate) sidecar: Option<&'a str>,
}

/// A session with this main file.
pub(crate) fn session(lines: &[String]) -> Given {
    session_with(lines, &[])
}

/// A session with this main file and these sub-agents.
pub(crate) fn session_with(lines: &[String], agents: &[GivenAgent<'_>]) -> Given {
    let mut bytes = lines.join("\n").into_bytes();
    bytes.push(b'\n');
    session_of_bytes("s-1", &bytes, agents)
}

pub(crate) fn session_of_bytes(id: &str, main: &[u8], agents: &[GivenAgent<'_>]) -> Given {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{id}.jsonl"));
    fs_err::write(&path, main).unwrap();
    let subagents = folder.path().join(id).join("subagents");
    for agent in agents {
        fs_err::create_dir_all(&subagents).unwrap();
        let file = subagents.join(format!("agent-{}.jsonl", agent.id));
        fs_err::write(&file, agent.lines.join("\n") + "\n").unwrap();
        if let Some(sidecar) = agent.sidecar {
            fs_err::write(file.with_extension("meta.json"), sidecar).unwrap();
        }
    }
    let session = Session::open(&SessionFiles::of_file(&path).unwrap()).unwrap();
    Given { session, _folder: folder }
}

impl Given {
    pub(crate) fn id(&self, uuid: &str) -> NodeId {
        let found = self.session.lane_ids().find_map(|lane| self.session.by_uuid(lane, uuid));
        found.unwrap_or_else(|| panic!("no entry {uuid}"))
    }

    /// The uuids of entries, separated by blanks.
    pub(crate) fn names(&self, ids: &[NodeId]) -> String {
        let name = |id: &NodeId| self.session.node(*id).uuid.as_deref().unwrap_or("-");
        ids.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// The active path of the main line.
    pub(crate) fn active(&self, view: View) -> String {
        let leaf = self.session.active_leaf(LaneId::MAIN).unwrap();
        self.names(&self.session.path(leaf, view))
    }

    /// The branches of the main line, each with its own entries; the active one with a star.
    pub(crate) fn branches(&self) -> Vec<String> {
        let branches = self.session.branches(LaneId::MAIN);
        let line = |branch: &tidings_transcript::session::Branch| {
            let star = if branch.state == BranchState::Active { "* " } else { "" };
            let fork = branch.fork.map_or(String::new(), |fork| format!("{} > ", self.names(&[fork])));
            format!("{star}{fork}{}", self.names(&self.session.own_path(branch)))
        };
        branches.iter().map(line).collect()
    }

    /// The violated rules, in order.
    pub(crate) fn rules(&self) -> Vec<&'static str> {
        self.session.findings().iter().map(|(_, finding)| finding.rule.as_str()).collect()
    }
}

fn quoted(parent: &str) -> String {
    if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") }
}

/// The keys that every real entry has; an empty parent is `null`.
pub(crate) fn envelope(uuid: &str, parent: &str) -> String {
    let parent = quoted(parent);
    format!(
        r#""uuid":"{uuid}","parentUuid":{parent},"isSidechain":false,"sessionId":"s-1","timestamp":"2026-11-15T10:00:00.000Z","userType":"external""#
    )
}

pub(crate) fn prompt(uuid: &str, parent: &str, text: &str) -> String {
    let around = envelope(uuid, parent);
    format!(r#"{{"type":"user",{around},"message":{{"role":"user","content":"{text}"}}}}"#)
}

/// A response: one entry of the API message `message`.
pub(crate) fn answer(uuid: &str, parent: &str, message: &str) -> String {
    let around = envelope(uuid, parent);
    format!(
        r#"{{"type":"assistant",{around},"message":{{"id":"{message}","role":"assistant","content":[{{"type":"text","text":"answer {uuid}"}}]}}}}"#
    )
}

/// A call; its id is `toolu_` and the uuid.
pub(crate) fn call(uuid: &str, parent: &str, message: &str, tool: &str) -> String {
    let around = envelope(uuid, parent);
    format!(
        r#"{{"type":"assistant",{around},"message":{{"id":"{message}","role":"assistant","content":[{{"type":"tool_use","id":"toolu_{uuid}","name":"{tool}","input":{{}}}}]}}}}"#
    )
}

/// The result of the call in the entry `called`; it hangs off that entry.
pub(crate) fn result(uuid: &str, called: &str) -> String {
    let around = envelope(uuid, called);
    format!(
        r#"{{"type":"user",{around},"sourceToolAssistantUUID":"{called}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{called}","content":"ok"}}]}}}}"#
    )
}

/// An entry that is not a message: `attachment`, `progress`, …
pub(crate) fn link(kind: &str, uuid: &str, parent: &str) -> String {
    format!(r#"{{"type":"{kind}",{}}}"#, envelope(uuid, parent))
}

/// A boundary after `logical` that preserves `kept` after `anchor`.
pub(crate) fn boundary(uuid: &str, logical: &str, anchor: &str, kept: &str) -> String {
    let around = envelope(uuid, "");
    format!(
        r#"{{"type":"system","subtype":"compact_boundary",{around},"logicalParentUuid":"{logical}","content":"Conversation compacted","compactMetadata":{{"trigger":"auto","preTokens":155000,"postTokens":9000,"preservedMessages":{{"anchorUuid":"{anchor}","uuids":["{kept}"],"allUuids":["{kept}"]}}}}}}"#
    )
}

pub(crate) fn summary(uuid: &str, parent: &str) -> String {
    let around = envelope(uuid, parent);
    format!(
        r#"{{"type":"user",{around},"isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{{"role":"user","content":"This session is being continued"}}}}"#
    )
}

pub(crate) fn last_prompt(leaf: &str) -> String {
    format!(r#"{{"type":"last-prompt","lastPrompt":"x","leafUuid":"{leaf}","sessionId":"s-1"}}"#)
}

/// An entry in the flat dialect; `rest` is appended to the envelope.
pub(crate) fn seed(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
    let parent = quoted(parent);
    let comma = if rest.is_empty() { "" } else { "," };
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"timestamp":"2025-01-27T10:00:00Z","sessionId":"session-123"{comma}{rest}}}"#
    )
}

pub(crate) fn seed_text(kind: &str, uuid: &str, parent: &str, text: &str) -> String {
    seed(kind, uuid, parent, &format!(r#""message":"{text}""#))
}

pub(crate) fn seed_call(uuid: &str, parent: &str, tool: &str) -> String {
    seed(
        "assistant",
        uuid,
        parent,
        &format!(r#""subtype":"tool_use","toolName":"{tool}","toolArguments":{{}}"#),
    )
}

pub(crate) fn seed_result(uuid: &str, parent: &str) -> String {
    seed("system", uuid, parent, r#""subtype":"tool_result","message":"done""#)
}

pub(crate) fn seed_error(uuid: &str, parent: &str) -> String {
    seed("system", uuid, parent, r#""subtype":"error","isError":true,"message":"Error: Permission denied""#)
}

pub(crate) fn seed_side(kind: &str, uuid: &str, parent: &str, text: &str) -> String {
    let rest = format!(r#""message":"{text}","isSidechain":true,"userType":"external""#);
    seed(kind, uuid, parent, &rest)
}
