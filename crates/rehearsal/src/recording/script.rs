//! Converts a recording into a script.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tidings_protocol::Frame;
use tidings_protocol::control::Call;
use tidings_protocol::json::Json;
use tidings_protocol::messages::{AssistantMessage, ContentBlock, Message, UserMessage};
use toml::Table;

use super::{Direction, Event};

/// Converts a recording into a script with the answers of the model and the results of the tools.
///
/// Both stand-ins can play it. It lacks everything that the recording does not show (failed requests, the
/// exact deltas of a stream).
pub fn to_script(events: &[Event], name: &str) -> String {
    let mut turns: Vec<RecordedAnswer> = Vec::new();
    let mut results: HashMap<String, RecordedResult> = HashMap::new();
    let mut asked: HashSet<String> = HashSet::new();
    let mut prompts: HashMap<String, String> = HashMap::new();
    for event in events {
        let Event::Line { direction: Direction::Out, text, .. } = event else { continue };
        let Ok(frame) = Frame::from_json(text) else { continue };
        match frame.message() {
            Message::Assistant(assistant) => note_answer(assistant, &mut turns, &mut prompts),
            Message::User(user) => note_results(user, &mut results),
            Message::ControlRequest { request, .. } => {
                if let Call::CanUseTool(ask) = request.call {
                    asked.extend(ask.tool_use_id);
                }
            }
            _ => {}
        }
    }
    let mut script = Table::new();
    script.insert("name".to_owned(), name.into());
    let turns = turns.into_iter().map(|turn| turn.table(&mut results, &asked, &prompts));
    script.insert("turn".to_owned(), turns.map(toml::Value::Table).collect::<Vec<_>>().into());
    toml::to_string_pretty(&script).unwrap_or_default()
}

/// One API response: its frames share an id.
struct RecordedAnswer {
    id: Option<String>,
    /// Tool call whose sub-agent wrote it.
    parent: Option<String>,
    blocks: Vec<ContentBlock>,
}

struct RecordedResult {
    content: Value,
    is_error: bool,
    output: Option<Json>,
}

fn note_answer(
    assistant: AssistantMessage,
    turns: &mut Vec<RecordedAnswer>,
    prompts: &mut HashMap<String, String>,
) {
    // Messages written by the client in the model's place are skipped.
    if assistant.message.model.as_deref() == Some("<synthetic>") {
        return;
    }
    for block in &assistant.message.content {
        if let ContentBlock::ToolUse { id, input, .. } = block
            && let Some(prompt) = input.get("prompt").and_then(Value::as_str)
        {
            prompts.insert(id.clone(), prompt.to_owned());
        }
    }
    let id = assistant.message.id.clone();
    let blocks = assistant.message.content.into_iter();
    match turns.last_mut() {
        Some(turn) if turn.id == id && id.is_some() => turn.blocks.extend(blocks),
        _ => {
            turns.push(RecordedAnswer { id, parent: assistant.parent_tool_use_id, blocks: blocks.collect() });
        }
    }
}

fn note_results(user: UserMessage, results: &mut HashMap<String, RecordedResult>) {
    for block in user.message.content {
        if let ContentBlock::ToolResult { tool_use_id, content, is_error } = block {
            results.insert(
                tool_use_id,
                RecordedResult { content, is_error, output: user.tool_use_result.clone() },
            );
        }
    }
}

impl RecordedAnswer {
    fn table(
        self,
        results: &mut HashMap<String, RecordedResult>,
        asked: &HashSet<String>,
        prompts: &HashMap<String, String>,
    ) -> Table {
        let mut table = Table::new();
        // The answers of a sub-agent are matched by the prompt that started it.
        if let Some(prompt) = self.parent.as_ref().and_then(|parent| prompts.get(parent)) {
            let when = Table::from_iter([("last_contains".to_owned(), first_line(prompt).into())]);
            table.insert("when".to_owned(), when.into());
        }
        let blocks = self.blocks.into_iter().filter_map(|block| block_table(block, results, asked));
        table.insert("block".to_owned(), blocks.map(toml::Value::Table).collect::<Vec<_>>().into());
        table
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(80).collect()
}

fn block_table(
    block: ContentBlock,
    results: &mut HashMap<String, RecordedResult>,
    asked: &HashSet<String>,
) -> Option<Table> {
    let mut table = Table::new();
    let mut set = |key: &str, value: Option<toml::Value>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    };
    match block {
        ContentBlock::Text { text } => set("text", Some(text.into())),
        ContentBlock::Thinking { thinking } => set("thinking", Some(thinking.into())),
        ContentBlock::ToolUse { id, name, input } => {
            set("tool", Some(name.into()));
            set("input", to_toml(&input));
            if asked.contains(&id) {
                set("ask", Some(true.into()));
            }
            if let Some(end) = results.remove(&id) {
                set("result", to_toml(&end.content));
                if end.is_error {
                    set("is_error", Some(true.into()));
                }
                let output = end.output.and_then(|output| output.raw().value().ok());
                set("output", output.as_ref().and_then(to_toml));
            }
            set("id", Some(id.into()));
        }
        _ => return None,
    }
    Some(table)
}

/// Converts JSON to TOML, which has no `null`: such members are left out.
fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.clone().into(),
        Value::Array(items) => items.iter().filter_map(to_toml).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let members = members.iter().filter_map(|(key, value)| Some((key.clone(), to_toml(value)?)));
            toml::Value::Table(members.collect())
        }
    })
}
