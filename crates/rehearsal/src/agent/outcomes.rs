//! Default results of tools, where the script has none.

use serde_json::{Value, json};

use super::frames::text;
use super::prompt::content_text;
use super::tools::{Call, Outcome};

/// Result given by the script, with the additions of the real tool.
pub(super) fn scripted(call: &Call) -> Outcome {
    let given = call.block.result.clone();
    if call.block.is_error {
        let content = given.unwrap_or_else(|| json!("Exit code 1"));
        let output =
            call.block.output.clone().unwrap_or_else(|| json!(format!("Error: {}", content_text(&content))));
        return Outcome { content, is_error: Some(true), output, ..Outcome::default() };
    }
    let content = given.unwrap_or_else(|| usual(call));
    let output = call.block.output.clone().filter(|_| !is_edited(call));
    let output = output.unwrap_or_else(|| structured(call, &content));
    Outcome { content, is_error: (call.name == "Bash").then_some(false), output, ..Outcome::default() }
}

/// True if the host changed the input of a call whose result repeats it: the result in the script belongs to
/// the input in the script.
fn is_edited(call: &Call) -> bool {
    matches!(call.name.as_str(), "Edit" | "Write") && call.input != json!(call.block.input)
}

/// Default result for the model when a tool succeeded.
fn usual(call: &Call) -> Value {
    let path = text(&call.input, "file_path");
    match call.name.as_str() {
        "Bash" => json!("(Bash completed with no output)"),
        "Write" => json!(format!("File created successfully at: {path}")),
        "Edit" => json!(format!("The file {path} has been updated successfully.")),
        "AskUserQuestion" => json!(answers(&call.input)),
        "ExitPlanMode" => json!("User has approved exiting plan mode. You can now proceed."),
        name => json!(format!("{name} completed")),
    }
}

/// Structured output for the host.
fn structured(call: &Call, content: &Value) -> Value {
    let input = &call.input;
    let shown = content_text(content);
    match call.name.as_str() {
        "Bash" => {
            let silent = shown == "(Bash completed with no output)";
            let stdout = if silent { "" } else { shown.as_str() };
            json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": silent})
        }
        "Read" => {
            let lines = shown.lines().count() + 1;
            let file = json!({
                "filePath": input["file_path"], "content": shown, "numLines": lines, "startLine": 1, "totalLines": lines,
            });
            json!({"type": "text", "file": file})
        }
        "Write" => json!({
            "type": "create", "filePath": input["file_path"], "content": input["content"],
            "structuredPatch": [], "originalFile": null, "userModified": false,
        }),
        "Edit" => json!({
            "filePath": input["file_path"], "oldString": input["old_string"], "newString": input["new_string"],
            "originalFile": input["old_string"], "structuredPatch": [], "userModified": false,
            "replaceAll": input["replace_all"] == true,
        }),
        "AskUserQuestion" => json!({"questions": input["questions"], "answers": input["answers"]}),
        "ExitPlanMode" => json!({"plan": null, "isAgent": false, "filePath": ""}),
        _ => content.clone(),
    }
}

/// The user's answers in the form that the model reads.
fn answers(input: &Value) -> String {
    let answers = input.get("answers").and_then(Value::as_object).cloned().unwrap_or_default();
    let pairs: Vec<String> =
        answers.iter().map(|(question, answer)| format!("\"{question}\"={answer}")).collect();
    format!(
        "Your questions have been answered: {}. You can now continue with these answers in mind.",
        pairs.join(", ")
    )
}
