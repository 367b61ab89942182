//! Tools of this process, called by the stand-in as the real CLI calls them.

use schemars::JsonSchema;
use serde::Deserialize;
use tidings::mcp::{Tool, ToolServer};
use tidings::messages::ContentBlock;
use tidings::{AllowAll, query};

use crate::stage::{Stage, example};

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

/// The model calls a function of this program and gets its result, or an error about its arguments.
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
    let misfit = "The arguments of `add` are invalid: missing field `b`".to_owned();
    assert_eq!(results, [("5".to_owned(), false), (misfit, true)]);
    assert_eq!(texts, ["The sum is 5."]);
}

/// Runs an example with a `claude` that plays a script, in a folder with a file of five words.
fn printed_by(name: &str, script: &str) -> String {
    let stage = Stage::playing(script);
    std::fs::write(stage.path("README.md"), "# Demo\n\nA small project.\n").unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = std::process::Command::new(example(name));
    command.env_clear().env("PATH", path).env("HOME", stage.path("home")).current_dir(stage.path(""));
    let output = command.arg("Go on").arg(stage.program()).output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_example_of_a_function_counts_words() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "mcp__files__count_words"
input = { path = "README.md" }

[[turn]]
when = { contains = "5 words" }
text = "Five."
"#;
    let printed = printed_by("tool_function", script);
    assert_eq!(printed, "[mcp__files__count_words {\"path\":\"README.md\"}]\nFive.\n(success)\n");
}

#[test]
fn the_example_of_an_rmcp_server_remembers() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "mcp__notes__remember"
input = { text = "tea" }

[[turn]]
when = { contains = "1 notes" }
text = "I will remember."
"#;
    assert_eq!(printed_by("tool_server_rmcp", script), "I will remember.\n");
}
