//! Turns as seen by a host, for cases without a recording.

use serde_json::{Value, json};
use tidings_protocol::TESTED_CLAUDE_CODE;
use tidings_rehearsal::agent::Signal;

use crate::agent::host::{Host, STREAMING};

/// Exit code and output of a run without frames.
fn plain(args: &[&str], script: &str, stdin: &str) -> (i32, Vec<String>, String) {
    let mut host = Host::start(args, script);
    host.raw(stdin);
    let ended = host.end();
    (ended.code, ended.rest, ended.stderr)
}

#[test]
fn text_and_json_are_printed_as_asked() {
    let script = "[[turn]]\ntext = \"One.\\nTwo.\"";
    assert_eq!(plain(&["-p", "hi"], script, ""), (0, vec!["One.".into(), "Two.".into()], String::new()));
    assert_eq!(plain(&["-p"], script, "hi").1, ["One.", "Two."]);
    let (code, lines, _) = plain(&["-p", "hi", "--output-format", "json"], script, "");
    let result: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!((code, lines.len(), &result["result"]), (0, 1, &"One.\nTwo.".into()));

    let (_, lines, _) = plain(&["-p", "hi", "--output-format", "json", "--verbose"], script, "");
    assert_eq!(serde_json::from_str::<Vec<Value>>(&lines[0]).unwrap().len(), 3);

    let failing = "[[turn]]\nerror = { status = 400, message = \"bad\" }";
    assert_eq!(plain(&["-p", "hi"], failing, ""), (1, vec!["API Error: 400 bad".into()], String::new()));
    assert_eq!(plain(&["--version"], script, "").1, [format!("{TESTED_CLAUDE_CODE} (Claude Code)")]);
    let (code, _, stderr) = plain(&["--no-such-flag"], script, "");
    assert_eq!((code, stderr.as_str()), (1, "error: unknown option '--no-such-flag'\n"));
}

#[test]
fn what_is_no_frame_ends_the_process_or_means_nothing() {
    let cases = [
        ("", None),
        ("[1,2,3]", None),
        ("{\"type\":\"mystery\"}", None),
        ("{\"type\":\"keep_alive\"}", None),
        (
            "{\"type\":\"user\",\"message\":",
            Some("Error parsing streaming input line (type=user, 25 chars): SyntaxError"),
        ),
        ("null", Some("Error parsing streaming input line (type=unknown, 4 chars): TypeError")),
        ("{\"type\":\"user\"}", Some("Error: Expected message role 'user', got 'undefined'")),
        (
            "{\"type\":\"control_request\",\"request_id\":\"1\"}",
            Some("Error: Missing request on control_request"),
        ),
    ];
    for (line, complaint) in cases {
        let mut host = Host::start(STREAMING, "[[turn]]\noptional = true\ntext = \"ok\"");
        host.raw(line);
        host.user("hello");
        let ended = host.end();
        assert_eq!(ended.stderr.trim(), complaint.unwrap_or_default(), "{line}");
        assert_eq!(
            (ended.code, ended.rest.len()),
            if complaint.is_some() { (1, 0) } else { (0, 3) },
            "{line}"
        );
    }
}

#[test]
fn lone_surrogates_pass_in_both_directions() {
    let args: Vec<&str> = STREAMING.iter().copied().chain(["--replay-user-messages"]).collect();
    let mut host = Host::start(&args, "[[turn]]\n[[turn.block]]\nraw_text = 'half \\ud83d and \\u2028'");
    host.raw(r#"{"type":"user","message":{"role":"user","content":"x\udc00y"}}"#);
    host.line();
    assert!(host.line().unwrap().contains(r"x\udc00y"));
    assert!(host.line().unwrap().contains(r"half \ud83d and \u2028"));
}

#[test]
fn signals_end_the_process_as_they_end_the_cli() {
    let script = "[[turn]]\npace = { chunk_chars = 1, chunk_delay_ms = 100 }\ntext = \"A long answer that takes its time\"";
    let args: Vec<&str> = STREAMING.iter().copied().chain(["--include-partial-messages"]).collect();
    for (signal, code) in [(Signal::Terminate, 143), (Signal::Interrupt, 0)] {
        let mut host = Host::start(&args, script);
        host.user("hi");
        while host.frame()["event"]["type"] != "content_block_delta" {}
        host.signal(signal);
        let ended = host.wait();
        let results = ended.rest.iter().filter(|line| line.contains("error_during_execution")).count();
        assert_eq!((ended.code, results), (code, usize::from(signal == Signal::Interrupt)));
    }
}

#[test]
fn an_answer_is_held_until_the_turn_is_interrupted() {
    let script = "[[turn]]\npace = { chunk_chars = 5 }\nhold_after = 2\ntext = \"This answer is long\"";
    let args: Vec<&str> = STREAMING.iter().copied().chain(["--include-partial-messages"]).collect();
    let mut host = Host::start(&args, script);
    host.user("hi");
    for _ in 0..2 {
        while host.frame()["event"]["type"] != "content_block_delta" {}
    }
    // The answer to a request shows that nothing was sent meanwhile.
    host.control("one", &json!({"subtype": "get_settings"}));
    assert_eq!(host.frame()["type"], "control_response");
    host.control("two", &json!({"subtype": "interrupt"}));
    let frames = host.until("result");
    let partial = frames.iter().find(|frame| frame["aborted"] == true).unwrap();
    assert_eq!(partial["message"]["content"][0]["text"], "This answe");
    let result = frames.last().unwrap();
    assert!(result["total_cost_usd"].as_f64().unwrap() > 0.0, "an interrupted answer costs: {result}");
    assert_eq!(host.end().code, 1);
}

#[test]
fn a_denial_may_end_the_turn() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
input = { command = "rm -rf /" }
ask = true
"#;
    let mut host = Host::start(STREAMING, script);
    host.user("clean up");
    let request = host.until("control_request").pop().unwrap();
    host.answer(&request, &json!({"behavior": "deny", "message": "No.", "interrupt": true}));
    let frames = host.until("result");
    assert_eq!(frames[0]["message"]["content"][0]["content"], "No.");
    assert_eq!(frames[1]["message"]["content"][0]["text"], "[Request interrupted by user for tool use]");
    assert_eq!(frames[2]["terminal_reason"], "aborted_tools");
    assert_eq!(frames[2]["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!(host.end().code, 1);
}

#[test]
fn a_hook_may_answer_a_permission_request_before_the_host() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
input = { command = "ls" }
ask = true
result = "README.md"
[[turn]]
text = "Done."
"#;
    let mut host = Host::start(STREAMING, script);
    let hooks = json!({"PermissionRequest": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]});
    host.control("1", &json!({"subtype": "initialize", "hooks": hooks}));
    host.user("list");
    let asked = host.until("control_request").pop().unwrap();
    let hook = host.frame();
    assert_eq!(
        (&asked["request"]["subtype"], &hook["request"]["subtype"]),
        (&"can_use_tool".into(), &"hook_callback".into())
    );
    let decision = json!({"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}});
    host.answer(&hook, &json!({"hookSpecificOutput": decision}));
    let cancelled = host.frame();
    assert_eq!(
        (&cancelled["type"], &cancelled["request_id"]),
        (&"control_cancel_request".into(), &asked["request_id"])
    );
    assert_eq!(host.until("result").last().unwrap()["result"], "Done.");
}

#[test]
fn scripted_frames_stand_around_the_answer() {
    let script = r#"
[[turn]]
text = "Hello"
[[turn.before]]
frame = { type = "rate_limit_event", rate_limit_info = { status = "allowed" } }
[[turn.after]]
frame = { type = "system", subtype = "from_the_future", uuid = "mine" }
"#;
    let mut host = Host::start(STREAMING, script);
    host.user("hi");
    let frames = host.until("result");
    let names: Vec<String> = frames.iter().map(|frame| frame["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["system", "rate_limit_event", "assistant", "system", "result"]);
    assert_eq!((&frames[1]["session_id"], &frames[3]["uuid"]), (&frames[0]["session_id"], &"mine".into()));
}

/// Each delta once copied the whole text before it: this text would take minutes.
#[test]
fn k13_a_long_text_takes_time_in_proportion_to_its_length() {
    const CHARS: usize = 8 << 20;
    let script = format!("[pace]\nchunk_chars = 512\n[[turn]]\ntext = \"{}\"", "x".repeat(CHARS));
    let mut host = Host::start(STREAMING, &script);
    let began = std::time::Instant::now();
    host.user("hi");
    let frames = host.until("result");
    assert_eq!(frames.last().unwrap()["result"].as_str().unwrap().len(), CHARS);
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "it took {:?}", began.elapsed());
}

#[test]
fn a_script_that_has_run_out_says_so() {
    let mut host = Host::start(STREAMING, "[[turn]]\ntext = \"Only this.\"");
    host.user("one");
    host.until("result");
    host.user("two");
    let result = host.until("result").pop().unwrap();
    assert_eq!(result["result"], "API Error: 400 the script has no turn for this request");
    assert_eq!(host.end().code, 1);
}

/// As with the real CLI, which accepts the schema: the API refuses each request, and no turn is used up.
#[test]
fn d22_an_output_that_is_no_object_fails_as_at_the_api() {
    let args: Vec<&str> = STREAMING.iter().copied().chain(["--json-schema", r#"{"type":"array"}"#]).collect();
    let mut host = Host::start(&args, "[[turn]]\noptional = true\ntext = \"Never sent.\"");
    host.user("hi");
    let result = host.until("result").pop().unwrap();
    let text = result["result"].as_str().unwrap();
    assert!(
        text.starts_with("API Error: 400 tools.") && text.ends_with("Input should be 'object'"),
        "{text}"
    );
    assert_eq!(host.end().code, 1);
}

#[test]
fn servers_of_the_command_line_are_initialized_too() {
    let config = r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#;
    let args: Vec<&str> = STREAMING.iter().copied().chain(["--mcp-config", config]).collect();
    let script = "[[turn]]\n[[turn.block]]\ntool = \"mcp__calc__add\"\ninput = { a = 1 }\nask = false\n[[turn]]\ntext = \"Two.\"";
    let mut host = Host::start(&args, script);
    host.control("1", &json!({"subtype": "initialize", "hooks": null}));
    let tools = json!({"tools": [{"name": "add", "inputSchema": {}}]});
    let results = [
        json!({"serverInfo": {"name": "calc"}}),
        json!({}),
        tools,
        json!({"content": [{"type": "text", "text": "2"}]}),
    ];
    for (number, result) in results.iter().enumerate() {
        let request = host.until("control_request").pop().unwrap();
        let id = &request["request"]["message"]["id"];
        host.answer(&request, &json!({"mcp_response": {"jsonrpc": "2.0", "id": id, "result": result}}));
        if number == 2 {
            host.user("add");
        }
    }
    let frames = host.until("result");
    assert_eq!(frames[0]["message"]["content"][0]["content"][0]["text"], "2");
}

#[test]
fn a_message_that_comes_while_a_tool_runs_joins_the_turn() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
input = { command = "sleep 1" }
takes_ms = 300
[[turn]]
when = { last_contains = "also this" }
text = "Both done."
"#;
    let mut host = Host::start(STREAMING, script);
    let message = |text: &str, uuid: &str| json!({"type": "user", "message": {"role": "user", "content": text}, "uuid": uuid});
    host.send(&message("go", "one"));
    while host.frame()["type"] != "assistant" {}
    host.send(&message("also this", "two"));
    let frames = host.until("result");
    let states: Vec<&Value> =
        frames.iter().filter(|frame| frame["command_uuid"] == "two").map(|frame| &frame["state"]).collect();
    assert_eq!(states, ["queued", "started", "completed"]);
    let result = frames.last().unwrap();
    assert_eq!(
        (&result["result"], &result["user_message_uuids"]),
        (&"Both done.".into(), &json!(["one", "two"]))
    );
    assert_eq!(host.end().code, 0);
}

/// The command runs in the background: neither the call that starts it nor a prompt waits for it.
#[test]
fn a_command_in_the_background_delays_neither_call_nor_prompt() {
    let script = r#"
[[turn]]
[[turn.block]]
tool = "Bash"
input = { command = "make serve", description = "Serve", run_in_background = true }
takes_ms = 600000
[[turn]]
text = "Started."
[[turn]]
text = "It still runs."
"#;
    let mut host = Host::start(STREAMING, script);
    host.user("go");
    let frames = host.until("result");
    assert_eq!(frames.last().unwrap()["result"], "Started.");
    let started = frames.iter().find(|frame| frame["subtype"] == "task_started").unwrap();
    host.user("and?");
    assert_eq!(host.until("result").last().unwrap()["result"], "It still runs.");
    host.control("stop", &json!({"subtype": "stop_task", "task_id": started["task_id"]}));
    let frames = host.until("control_response");
    let ended = frames.iter().find(|frame| frame["subtype"] == "task_notification").unwrap();
    assert_eq!((&ended["task_id"], &ended["status"]), (&started["task_id"], &json!("stopped")));
    assert_eq!(host.end().code, 0);
}
