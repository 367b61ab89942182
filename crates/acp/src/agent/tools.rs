//! Tool calls of Claude Code as an editor shows them: title, kind, locations and differences.

use agent_client_protocol_schema::v1 as acp;
use serde_json::Value;
use tidings_protocol::json::Json;
use tidings_protocol::tools::{ToolFamily, ToolInput, canonical_name, family, mcp_parts};

use super::content::text_block;

/// A tool call as an editor shows it.
#[derive(Debug, Default)]
pub(super) struct ShownCall {
    pub(super) title: String,
    pub(super) kind: acp::ToolKind,
    pub(super) locations: Vec<acp::ToolCallLocation>,
    pub(super) content: Vec<acp::ToolCallContent>,
}

/// The kind of a tool.
pub(super) fn kind(tool: &str) -> acp::ToolKind {
    match (canonical_name(tool), family(tool)) {
        ("Read" | "NotebookRead" | "LS", _) => acp::ToolKind::Read,
        (_, ToolFamily::File) => acp::ToolKind::Edit,
        (_, ToolFamily::Command) => acp::ToolKind::Execute,
        (_, ToolFamily::Search) => acp::ToolKind::Search,
        (_, ToolFamily::Web) => acp::ToolKind::Fetch,
        (_, ToolFamily::Task | ToolFamily::SubAgent) => acp::ToolKind::Think,
        (_, ToolFamily::Plan) => acp::ToolKind::SwitchMode,
        _ => acp::ToolKind::Other,
    }
}

/// The call as an editor shows it.
pub(super) fn shown(tool: &str, input: &Value) -> ShownCall {
    let kind = kind(tool);
    let typed = Json::parse(&input.to_string())
        .ok()
        .and_then(|json| ToolInput::read(tool, json.raw()).ok())
        .filter(|typed| !matches!(typed, ToolInput::Other(_)));
    let Some(typed) = typed else {
        let title = match mcp_parts(tool) {
            Some((server, tool)) => format!("{server}: {tool}"),
            None => tool.to_owned(),
        };
        return ShownCall { title, kind, ..ShownCall::default() };
    };
    let at = |path: &str| vec![acp::ToolCallLocation::new(path)];
    let (locations, content) = match &typed {
        ToolInput::Read(read) => {
            let line = number(input, "offset");
            (vec![acp::ToolCallLocation::new(&*read.file_path).line(line)], Vec::new())
        }
        ToolInput::Write(write) => {
            let diff = acp::Diff::new(&*write.file_path, text(input, "content"));
            (at(&write.file_path), vec![diff.into()])
        }
        ToolInput::Edit(edit) => (at(&edit.file_path), vec![difference(&edit.file_path, input)]),
        ToolInput::MultiEdit(edit) => {
            let edits = input["edits"].as_array().into_iter().flatten();
            (at(&edit.file_path), edits.map(|one| difference(&edit.file_path, one)).collect())
        }
        ToolInput::NotebookEdit(edit) => (at(&edit.notebook_path), Vec::new()),
        ToolInput::Glob(_) | ToolInput::Grep(_) => {
            (input["path"].as_str().map(at).unwrap_or_default(), Vec::new())
        }
        ToolInput::Agent(agent) => (Vec::new(), vec![text_block(agent.prompt.clone()).into_content()]),
        ToolInput::ExitPlanMode(_) => {
            let plan = text(input, "plan");
            (Vec::new(), if plan.is_empty() { Vec::new() } else { vec![text_block(plan).into_content()] })
        }
        _ => (Vec::new(), Vec::new()),
    };
    let summary = typed.summary();
    let title = match kind {
        acp::ToolKind::Execute if !summary.is_empty() => format!("`{}`", summary.replace('`', "'")),
        acp::ToolKind::SwitchMode => "Ready to code?".to_owned(),
        _ if summary.is_empty() => tool.to_owned(),
        _ => format!("{tool} {summary}"),
    };
    ShownCall { title, kind, locations, content }
}

fn difference(path: &str, edit: &Value) -> acp::ToolCallContent {
    acp::Diff::new(path, text(edit, "new_string")).old_text(text(edit, "old_string")).into()
}

fn text(input: &Value, key: &str) -> String {
    input[key].as_str().unwrap_or_default().to_owned()
}

fn number(input: &Value, key: &str) -> Option<u32> {
    input[key].as_u64().and_then(|number| u32::try_from(number).ok())
}

/// Converts content into that of a tool call.
pub(super) trait IntoContent {
    fn into_content(self) -> acp::ToolCallContent;
}

impl IntoContent for acp::ContentBlock {
    fn into_content(self) -> acp::ToolCallContent {
        acp::ToolCallContent::Content(acp::Content::new(self))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_have_the_kinds_that_editors_know() {
        let check = |tool: &str, wanted: &str| {
            let kind = serde_json::to_value(kind(tool)).unwrap();
            // The default kind is left out of a call, and is written here.
            assert_eq!(kind, json!(wanted), "{tool}");
        };
        check("Read", "read");
        check("Edit", "edit");
        check("Write", "edit");
        check("Bash", "execute");
        check("Grep", "search");
        check("ToolSearch", "search");
        check("WebFetch", "fetch");
        check("Task", "think");
        check("TodoWrite", "think");
        check("ExitPlanMode", "switch_mode");
        check("Skill", "other");
        check("mcp__box__open", "other");
    }

    #[test]
    fn edits_have_a_difference_and_a_location() {
        let input = json!({"file_path": "/a.rs", "old_string": "one", "new_string": "two"});
        let call = shown("Edit", &input);
        assert_eq!(call.title, "Edit /a.rs");
        assert_eq!(
            serde_json::to_value(&call.content).unwrap(),
            json!([{"type": "diff", "path": "/a.rs", "oldText": "one", "newText": "two"}])
        );
        assert_eq!(serde_json::to_value(&call.locations).unwrap(), json!([{"path": "/a.rs"}]));
        assert_eq!(shown("Bash", &json!({"command": "ls `x`"})).title, "`ls 'x'`");
        assert_eq!(shown("mcp__box__open", &json!({})).title, "box: open");
    }
}
