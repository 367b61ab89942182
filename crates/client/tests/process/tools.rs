//! Tools of this process, called by the stand-in as the real CLI calls them.

use schemars::JsonSchema;
use serde::Deserialize;
use tidings::mcp::{Tool, ToolServer};
use tidings::messages::ContentBlock;
use tidings::{AllowAll, query};

use crate::stage::Stage;

const SCRIPT: &str = r#"
[[turn]]
[[turn.block]]
tool = "mcp__calc__add"
input = { a = 2, b = 3 }
ask = true

[[turn]]
[[turn.block]]
tool = "mcp__calc__add"
input = { a = 2 }
ask = true

[[turn]]
text = "The sum is 5."
"#;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

/// The model calls a function of this program and gets its result, or hears what was wrong with its arguments.
#[tokio::test]
async fn a_tool_of_this_process_is_called() {
    let stage = Stage::playing(SCRIPT);
    let add = Tool::new("add", "Adds two numbers", |Add { a, b }| async move { (a + b).to_string() });
    let options = stage.options().tool_server(ToolServer::new("calc").tool(add)).on_permission(AllowAll);
    let mut answer = query("add 2 and 3", options);
    let mut results = Vec::new();
    let mut texts = Vec::new();
    while let Some(message) = answer.next().await {
        for block in message.unwrap().content_blocks() {
            match block {
                ContentBlock::ToolResult { content, is_error, .. } => {
                    let text = content[0]["text"].as_str().or(content.as_str());
                    results.push((text.unwrap_or_default().to_owned(), *is_error));
                }
                ContentBlock::Text { text } => texts.push(text.clone()),
                _ => {}
            }
        }
    }
    let misfit = "The arguments of `add` do not fit: missing field `b`".to_owned();
    assert_eq!(results, [("5".to_owned(), false), (misfit, true)]);
    assert_eq!(texts, ["The sum is 5."]);
}
