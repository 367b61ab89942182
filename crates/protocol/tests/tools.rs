//! Tool inputs and outputs: real ones are typed and round-trip.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tidings_protocol::json::{Json, Raw, Reading, same_json};
use tidings_protocol::tools::{
    AgentOutput, ReadOutput, SUMMARY_CHARS_MAX, TodoWriteStatus, ToolInput, ToolOutput, WebSearchPart,
    WriteKind, canonical_name, mcp_parts,
};

/// Copied from recorded sessions.
const RECORDED: [&str; 2] =
    [include_str!("fixtures/tools/inputs.ndjson"), include_str!("fixtures/tools/outputs.ndjson")];

/// Written from the published shapes, for tools that no recorded session has.
const DOCUMENTED: &str = include_str!("fixtures/tools/documented.ndjson");

/// Made from the published types, for every tool that they have.
const PUBLISHED: &str = include_str!("fixtures/sdk/samples.ndjson");

fn fixtures() -> Vec<Raw<'static>> {
    let published = PUBLISHED.lines().filter(|line| line.starts_with("{\"tool\""));
    let lines = RECORDED.into_iter().flat_map(str::lines).chain(DOCUMENTED.lines()).chain(published);
    lines.map(|line| Raw::parse(line).unwrap()).collect()
}

#[test]
fn fixtures_read_typed_and_come_back() {
    for line in fixtures() {
        let tool = line.get("tool").unwrap().text().unwrap().get();
        if let Some(input) = line.get("input") {
            check_input(&tool, input);
        }
        if let Some(output) = line.get("output") {
            check_output(&tool, output);
        }
    }
}

#[test]
fn every_tool_with_a_view_has_a_fixture() {
    let lines = fixtures();
    let has = |tool: &str, part: &str| {
        lines.iter().any(|line| {
            canonical_name(&line.get("tool").unwrap().text().unwrap().get()) == tool
                && line.get(part).is_some_and(|value| value.is_object() || value.is_array())
        })
    };
    for tool in ToolInput::TOOLS {
        assert!(has(tool, "input"), "{tool}");
    }
    for tool in ToolOutput::TOOLS {
        assert!(has(tool, "output"), "{tool}");
    }
}

/// The same for the shipped recordings, and those below the folder that `TIDINGS_CORPUS` names.
#[test]
fn recordings_read_typed_and_come_back() {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus")];
    folders.extend(std::env::var_os("TIDINGS_CORPUS").map(PathBuf::from));
    for folder in folders {
        let mut files = Vec::new();
        collect(&folder, &mut files);
        let outputs: usize = files.iter().map(|file| check_session(&fs::read(file).unwrap())).sum();
        assert!(outputs > 0, "no tool results in {}", folder.display());
    }
}

#[test]
fn inputs_the_cli_refuses_are_misfits() {
    for (tool, input, missing) in [
        ("Bash", r#"{"cmd":"ls"}"#, "command"),
        (
            "Read",
            r#"{"__unparsedToolInput":{"raw":"{\"file_path\": \"/home/dev/demo/READ","len":34}}"#,
            "file_path",
        ),
        ("TodoWrite", r#"{"todos":[{"status":"pending"}]}"#, "todos[0].content"),
        ("Task", "{}", "prompt"),
    ] {
        let misfit = ToolInput::read(tool, Raw::parse(input).unwrap()).unwrap_err();
        assert_eq!(misfit.path, missing);
    }
    assert!(ToolInput::read("Bash", Raw::parse("[]").unwrap()).is_err());
    assert!(ToolOutput::read("Agent", Raw::parse("1").unwrap()).is_err());
}

#[test]
fn optional_fields_that_do_not_fit_are_kept() {
    let input = Raw::parse(r#"{"command":"ls","timeout":"soon","run_in_background":null}"#).unwrap();
    let mut reading = Reading::default();
    let read = ToolInput::read_with("Bash", input, &mut reading).unwrap();
    assert_eq!(reading.refused.len(), 1);
    assert_eq!(reading.refused[0].path, "timeout");
    assert_comes_back(&read, input);
}

#[test]
fn shapes_told_by_a_key() {
    let ToolOutput::Read(read) = output("Read", r#"{"type":"text","file":{"filePath":"/a"}}"#) else {
        panic!()
    };
    assert_eq!(read.file_path(), Some("/a"));
    assert_eq!(
        serde_json::to_string(&read).unwrap(),
        r#"{"type":"text","file":{"filePath":"/a"}}"#,
        "the key that tells is written once"
    );
    assert_eq!(
        serde_json::from_str::<ReadOutput>(r#"{"file":{"filePath":"/a"},"type":"text"}"#).unwrap(),
        read
    );

    let hologram = r#"{"type":"hologram","file":{}}"#;
    let ToolOutput::Read(ReadOutput::Unknown(json)) = output("Read", hologram) else { panic!() };
    assert_eq!(json, Json::parse(hologram).unwrap());

    let ToolOutput::Agent(AgentOutput::Launched(agent)) =
        output("Task", r#"{"status":"async_launched","agentId":"a1"}"#)
    else {
        panic!()
    };
    assert_eq!(agent.agent_id.as_deref(), Some("a1"));
    assert!(matches!(output("Agent", r#"{"agentId":"a1"}"#), ToolOutput::Agent(AgentOutput::Unknown(_))));
}

#[test]
fn fields_have_the_documented_names() {
    let ToolInput::TodoWrite(todos) =
        input("TodoWrite", r#"{"todos":[{"content":"Test","status":"paused","activeForm":"Testing"}]}"#)
    else {
        panic!()
    };
    assert_eq!(todos.todos[0].status, Some(TodoWriteStatus::from("paused")));
    assert_eq!(todos.todos[0].active_form.as_deref(), Some("Testing"));

    let ToolOutput::Write(write) = output(
        "Write",
        r#"{"type":"update","filePath":"/a","structuredPatch":[{"oldStart":1,"lines":["-a","+b","+c"," d"]}]}"#,
    ) else {
        panic!()
    };
    assert_eq!(write.kind, Some(WriteKind::UPDATE));
    let patch = write.structured_patch.unwrap();
    assert_eq!((patch[0].old_start, patch[0].added(), patch[0].removed()), (Some(1), 2, 1));

    let ToolOutput::AskUserQuestion(asked) =
        output("AskUserQuestion", r#"{"questions":[],"answers":{"Which?":"A"}}"#)
    else {
        panic!()
    };
    assert_eq!(asked.answers.unwrap()["Which?"].raw().text().unwrap(), "A");

    let ToolOutput::WebSearch(search) = output("WebSearch", r#"{"results":["said",{"content":[]}]}"#) else {
        panic!()
    };
    let parts = search.results.unwrap();
    assert_eq!(parts[0], WebSearchPart::Text("said".to_owned()));
    assert!(matches!(parts[1], WebSearchPart::Hits(_)));
}

#[test]
fn plain_strings_and_lists() {
    assert_eq!(output("Bash", r#""Error: \u0041""#), ToolOutput::Text("Error: A".to_owned()));
    assert!(matches!(output("mcp__a__b", "[]"), ToolOutput::Blocks(_)));
    assert!(matches!(output("RefreshMcpTools", "[]"), ToolOutput::RefreshMcpTools(_)));
    assert!(matches!(output("Bash", "[]"), ToolOutput::Blocks(_)));
    assert!(matches!(output("mcp__a__b", "{}"), ToolOutput::Other(_)));
    assert!(matches!(output("Hologram", "null"), ToolOutput::Other(_)));
}

fn input(tool: &str, json: &str) -> ToolInput {
    ToolInput::read(tool, Raw::parse(json).unwrap()).unwrap()
}

fn output(tool: &str, json: &str) -> ToolOutput {
    ToolOutput::read(tool, Raw::parse(json).unwrap()).unwrap()
}

fn check_input(tool: &str, input: Raw<'_>) {
    let mut reading = Reading::default();
    let read =
        ToolInput::read_with(tool, input, &mut reading).unwrap_or_else(|misfit| panic!("{tool}: {misfit}"));
    assert!(reading.refused.is_empty(), "{tool}: {:?}", reading.refused);
    let typed = !matches!(read, ToolInput::Other(_));
    assert_eq!(typed, ToolInput::TOOLS.contains(&canonical_name(tool)), "{tool}: {input}");
    assert!(read.summary().chars().count() <= SUMMARY_CHARS_MAX, "{tool}: {input}");
    assert_comes_back(&read, input);
}

fn check_output(tool: &str, output: Raw<'_>) {
    let mut reading = Reading::default();
    let read =
        ToolOutput::read_with(tool, output, &mut reading).unwrap_or_else(|misfit| panic!("{tool}: {misfit}"));
    assert!(reading.refused.is_empty(), "{tool}: {:?}", reading.refused);
    match &read {
        ToolOutput::Text(_) => assert!(output.text().is_some()),
        ToolOutput::Blocks(_) => assert!(mcp_parts(tool).is_some(), "{tool}: {output}"),
        ToolOutput::Other(_) => {
            assert!(!ToolOutput::TOOLS.contains(&canonical_name(tool)), "{tool}: {output}");
        }
        ToolOutput::Read(ReadOutput::Unknown(_)) | ToolOutput::Agent(AgentOutput::Unknown(_)) => {
            panic!("{tool}: {output}")
        }
        _ => {}
    }
    assert_comes_back(&read, output);
}

fn assert_comes_back(read: &impl Serialize, original: Raw<'_>) {
    let written = serde_json::to_string(read).unwrap();
    assert!(same_json(original, Raw::parse(&written).unwrap()), "\n{original}\n{written}");
}

/// Collects output of the CLI and its transcripts, not files written by a host or the API.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "jsonl")
            || (name.starts_with("stdout") && name.ends_with(".ndjson"))
        {
            files.push(path);
        }
    }
}

/// Checks every tool call of a session and its result; returns the number of results.
fn check_session(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let mut calls: Vec<(String, String, Raw<'_>)> = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    let mut outputs = 0;
    for line in text.lines().filter_map(|line| Raw::parse(line).ok()) {
        let Some(content) = line.get("message").and_then(|message| message.get("content")) else {
            continue;
        };
        for block in content.items() {
            let string = |key: &str| block.get(key).and_then(Raw::text).map(|text| text.get().into_owned());
            match string("type").as_deref() {
                Some("tool_use") => {
                    calls.push((string("id").unwrap(), string("name").unwrap(), block.get("input").unwrap()));
                }
                Some("tool_result") => {
                    let Some(output) = line.get("tool_use_result").or(line.get("toolUseResult")) else {
                        continue;
                    };
                    let id = string("tool_use_id").unwrap();
                    let Some((_, tool, _)) = calls.iter().find(|call| call.0 == id) else {
                        continue;
                    };
                    check_output(tool, output);
                    outputs += 1;
                    if output.text().is_some_and(|text| text.get().starts_with("InputValidationError")) {
                        refused.push(id);
                    }
                }
                _ => {}
            }
        }
    }
    for (id, tool, input) in calls {
        if refused.contains(&id) {
            assert!(ToolInput::read(&tool, input).is_err(), "{tool}: {input}");
        } else {
            check_input(&tool, input);
        }
    }
    outputs
}
