//! Agents other than Claude Code on a server: a scripted one, in the Agent Client Protocol.

#[cfg(target_os = "linux")]
mod full_disk;
mod kills;
mod modes;
mod options;
mod past;

use std::fs;

use serde_json::{Value, json};

use crate::serve::machine::{Machine, Running, until};

const SCRIPT: &str = r#"
sessions_page = 2
sessions = [
  { sessionId = "own-1", cwd = "{folder}", title = "Fix the \u001b[31mflaky test", updatedAt = "2026-11-01T10:00:00+01:00" },
  { sessionId = "elsewhere", cwd = "/", title = "Another folder" },
  { sessionId = "gone", cwd = "{folder}/gone", title = "A folder that is gone" },
  { sessionId = "own-2", cwd = "{folder}" },
]
history = [
  { sessionUpdate = "user_message_chunk", content = { type = "text", text = "What did we do?" } },
  { sessionUpdate = "agent_message_chunk", content = { type = "text", text = "We fixed it." } },
]

[session.modes]
currentModeId = "build"
availableModes = [{ id = "build", name = "Build" }, { id = "plan", name = "Plan" }]

[[turn]]
when = "greet"
steps = [{ thought = "Greet." }, { text = "Hello, " }, { text = "{prompt}!" }]

[[turn]]
when = "clean"
steps = [
  { text = "I will clean up." },
  { request = { method = "session/request_permission", params = { toolCall = { toolCallId = "c1", title = "Clean", kind = "execute", rawInput = { command = "rm -rf build" } }, options = [
    { optionId = "yes", name = "Yes", kind = "allow_once" },
    { optionId = "no", name = "No", kind = "reject_once" },
  ] } } },
  { update = { sessionUpdate = "tool_call_update", toolCallId = "c1", status = "completed", rawOutput = { output = "gone" } } },
  { text = "Answered: {answer}" },
]

[[turn]]
when = "write"
steps = [
  { request = { method = "fs/write_text_file", params = { path = "{folder}/made.txt", content = "made" } } },
  { request = { method = "fs/read_text_file", params = { path = "{folder}/made.txt" } } },
  { text = "Read: {answer}" },
  { request = { method = "fs/read_text_file", params = { path = "/etc/passwd" } } },
  { text = "Outside: {answer}" },
]

[[turn]]
when = "command"
steps = [
  { request = { method = "terminal/create", params = { command = "echo out; sleep 300" } } },
  { text = "Terminal: {answer}" },
  "wait_for_cancel",
]

[[turn]]
when = "die"
steps = [{ text = "Half an answer" }, { stderr = "out of ideas" }, { exit = 7 }]

[[turn]]
when = "leave"
steps = [{ text = "Good bye." }]
late = [{ stderr = "no more work" }, { exit = 9 }]

[[turn]]
when = "noise"
steps = [{ line = "not json" }, { update = { sessionUpdate = "of_the_future", more = [1] } }, { long_line = 17000000 }, { text = "Still here." }]
late = [{ text = "too late" }]
"#;

const TURN: &str = "[[turn]]\nsteps = [{ text = \"Hello.\" }]\n";

/// Without hosts, and with them.
const LEASES: [&str; 2] = ["0", "60"];

fn stop(server: &Running, key: &str) {
    let stopped = server.ask("POST", &format!("/v1/sessions/{key}/stop"), Some(&json!({})));
    assert!(stopped.status < 300, "{stopped:?}");
}

/// A server with the scripted agent.
fn serve(machine: &Machine, lease: &str) -> Running {
    serve_script(machine, lease, SCRIPT)
}

fn serve_script(machine: &Machine, lease: &str, text: &str) -> Running {
    let script = machine.path("agent.toml");
    fs::write(&script, text.replace("{folder}", machine.path("project").to_str().unwrap())).unwrap();
    let config = machine.path("serve.toml");
    let tidings = assert_cmd::cargo::cargo_bin("tidings");
    let text = format!(
        "[[agent]]\nname = \"sample\"\ncommand = \"{}\"\nargs = [\"rehearse\", \"acp\", \"--script\", \"{}\"]\nenv = {{ SAMPLE = \"1\" }}\n",
        tidings.display(),
        script.display()
    );
    fs::write(&config, text).unwrap();
    let data = machine.path("data");
    let arguments = [
        "--config",
        config.to_str().unwrap(),
        "--data",
        data.to_str().unwrap(),
        "--claude-path",
        "/bin/false",
    ];
    let folder = machine.path("project");
    let more = ["--agent-lease", lease, "--allow-folder", folder.to_str().unwrap()];
    machine.serve(&[&arguments[..], &more].concat())
}

fn start(server: &Running, machine: &Machine, prompt: &str) -> String {
    let body = json!({"cwd": machine.path("project"), "backend": "sample", "prompt": prompt});
    let created = server.ask("POST", "/v1/sessions", Some(&body));
    assert_eq!(created.status, 201, "{created:?}");
    assert_eq!(created.json()["backend"], "sample");
    created.json()["key"].as_str().unwrap().to_owned()
}

fn session(server: &Running, key: &str) -> Value {
    server.ask("GET", &format!("/v1/sessions/{key}"), None).json()
}

fn prompt(server: &Running, key: &str, text: &str) {
    let sent = server.ask("POST", &format!("/v1/sessions/{key}/input"), Some(&json!({"content": text})));
    assert!(sent.status < 300, "{sent:?}");
}

/// Waits until so many turns are over, and returns the session.
fn turns(server: &Running, key: &str, count: u64) -> Value {
    until(&format!("{count} turns"), || {
        let session = session(server, key);
        let is_done = session["totals"]["turns"].as_u64() >= Some(count) && session["state"] != "running";
        is_done.then_some(session)
    })
}

/// All events so far, as text.
fn events(server: &Running, key: &str) -> String {
    server.ask("GET", &format!("/v1/sessions/{key}/history?limit=500"), None).body
}

/// The one pending permission request.
fn pending(server: &Running) -> Value {
    until("a permission request", || {
        let items = server.ask("GET", "/v1/permissions", None).json()["items"].take();
        items.get(0).cloned()
    })
}

fn decide(server: &Running, ask: &Value, decision: &str) {
    let (session, id) = (ask["session"].as_str().unwrap(), ask["tool_use_id"].as_str().unwrap());
    let path = format!("/v1/sessions/{session}/permissions/{id}");
    let decided = server.ask("POST", &path, Some(&json!({"decision": decision})));
    assert_eq!(decided.status, 200, "{decided:?}");
}

#[test]
fn a_session_with_another_agent_is_like_any_other() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    assert_eq!(server.ask("GET", "/v1/meta", None).json()["agents"], json!(["sample"]));
    let key = start(&server, &machine, "greet");
    let session = turns(&server, &key, 1);
    assert_eq!(session["last_line"], "Hello, greet!");
    assert_eq!(session["totals"]["cost_incomplete"], true, "its cost is not known");
    let can: Vec<&str> =
        session["capabilities"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(can.contains(&"prompt") && can.contains(&"set_mode"), "{can:?}");
    assert!(!can.contains(&"rewind") && !can.contains(&"set_model"), "not faked: {can:?}");
    let table = machine.output(&["ps", "--data", server.data.to_str().unwrap()]);
    assert!(table.contains("(sample)") && !table.contains("$0.00"), "{table}");
    // A mode of the agent that fits, and one that does not.
    let mode = |mode: &str| {
        server.ask("POST", &format!("/v1/sessions/{key}/mode"), Some(&json!({"mode": mode}))).status
    };
    assert!(mode("plan") < 300);
    assert_eq!(mode("acceptEdits"), 409);
}

#[test]
fn an_unknown_agent_and_settings_that_it_lacks_are_refused() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let create = |more: Value| {
        let mut body = json!({"cwd": machine.path("project")});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        server.ask("POST", "/v1/sessions", Some(&body))
    };
    let unknown = create(json!({"backend": "other"}));
    assert_eq!(unknown.status, 400, "{unknown:?}");
    assert!(unknown.body.contains("its agents are: sample"), "{unknown:?}");
    assert_eq!(create(json!({"backend": "sample", "allowed_tools": ["Bash"]})).status, 400);
    assert_eq!(create(json!({"backend": "sample", "resume": "a", "fork": true})).status, 400);
}

#[test]
fn permission_requests_of_another_agent_are_answered_like_those_of_claude_code() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let key = start(&server, &machine, "clean");
    let ask = pending(&server);
    assert_eq!(ask["request"]["target"], "rm -rf build");
    decide(&server, &ask, "allow");
    let session = turns(&server, &key, 1);
    assert!(session["last_line"].as_str().unwrap().contains(r#""optionId":"yes""#), "{session}");
    let audit = server.ask("GET", "/v1/audit", None).body;
    assert!(audit.contains("rm -rf build") || audit.contains("c1"), "{audit}");
    prompt(&server, &key, "clean");
    decide(&server, &pending(&server), "deny");
    let session = turns(&server, &key, 2);
    assert!(session["last_line"].as_str().unwrap().contains(r#""optionId":"no""#), "{session}");
}

#[test]
fn files_are_written_after_a_request_and_read_inside_of_the_folder_only() {
    for lease in LEASES {
        files_are_served(lease);
    }
}

fn files_are_served(lease: &str) {
    let machine = Machine::new();
    let server = serve(&machine, lease);
    let key = start(&server, &machine, "write");
    let ask = pending(&server);
    assert_eq!(ask["request"]["level"], "Write");
    assert!(!machine.path("project/made.txt").exists());
    decide(&server, &ask, "allow");
    turns(&server, &key, 1);
    assert_eq!(fs::read_to_string(machine.path("project/made.txt")).unwrap(), "made");
    let events = events(&server, &key);
    assert!(events.contains(r#"Read: {\"content\":\"made\"}"#), "{events}");
    assert!(
        events.contains("is not a file below the folders of the session") && !events.contains("root:x"),
        "{events}"
    );
    stop(&server, &key);
}

#[test]
fn commands_of_another_agent_end_with_the_session() {
    for lease in LEASES {
        commands_end(lease);
    }
}

fn commands_end(lease: &str) {
    let machine = Machine::new();
    let server = serve(&machine, lease);
    let key = start(&server, &machine, "command");
    let ask = pending(&server);
    assert_eq!(ask["request"]["target"], "echo out; sleep 300");
    decide(&server, &ask, "allow");
    let runs = |command: &str| {
        crate::serve::machine::children(server.child.id()).into_iter().find(|pid| {
            fs::read_to_string(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.replace('\0', " ").contains(command))
        })
    };
    let sleeping = until("the command runs", || runs("sleep 300 "));
    assert_eq!(runs("tidings backend ").is_some(), lease == "0", "in a host the adapter is no process");
    stop(&server, &key);
    until("the command is gone", || {
        (!std::path::Path::new(&format!("/proc/{sleeping}")).exists()).then_some(())
    });
}

#[test]
fn an_agent_that_dies_is_started_again_and_continues() {
    for lease in LEASES {
        dies_and_continues(lease);
    }
}

fn dies_and_continues(lease: &str) {
    let machine = Machine::new();
    let server = serve(&machine, lease);
    let key = start(&server, &machine, "die");
    let failed = until("the failure", || {
        let session = session(&server, &key);
        session["error"].is_string().then_some(session)
    });
    assert_eq!(failed["error"], "sample ended with exit code 7: out of ideas");
    let own = failed["cli_session_ids"][0].clone();
    // A prompt before the end of the process would be in doubt.
    let ended = until("the end of the agent", || {
        let session = session(&server, &key);
        (session["state"] == "failed").then_some(session)
    });
    assert_eq!(ended["error"], failed["error"], "its end is reported as it reported it");
    let events = events(&server, &key);
    assert!(!events.contains("Claude"), "{events}");
    prompt(&server, &key, "greet");
    let session = until("the answer", || {
        let session = session(&server, &key);
        (session["last_line"] == "Hello, greet!").then_some(session)
    });
    assert_eq!(session["cli_session_ids"], json!([own]), "the same session of the agent");
    stop(&server, &key);
}

#[test]
fn the_end_of_an_idle_agent_is_reported_with_its_name_and_its_exit_code() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let key = start(&server, &machine, "leave");
    let failed = until("the end of the agent", || {
        let session = session(&server, &key);
        session["error"].is_string().then_some(session)
    });
    assert_eq!(failed["error"], "sample ended with exit code 9: no more work");
    assert_eq!(failed["last_line"], "Good bye.");
}

#[test]
fn an_agent_that_does_not_start_is_reported_with_its_name() {
    let machine = Machine::new();
    let config = machine.path("serve.toml");
    let text = "[[agent]]\nname = \"broken\"\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"echo no licence >&2; exit 3\"]\n";
    fs::write(&config, text).unwrap();
    let data = machine.path("data");
    let arguments = ["--config", config.to_str().unwrap(), "--data", data.to_str().unwrap()];
    let server =
        machine.serve(&[&arguments[..], &["--claude-path", "/bin/false", "--agent-lease", "0"]].concat());
    let body = json!({"cwd": machine.path("project"), "backend": "broken", "prompt": "hi"});
    let key = server.ask("POST", "/v1/sessions", Some(&body)).json()["key"].as_str().unwrap().to_owned();
    let failed = until("the failure", || {
        let session = session(&server, &key);
        session["error"].is_string().then_some(session)
    });
    let error = failed["error"].as_str().unwrap();
    assert!(error.starts_with("broken ended with exit code 3: no licence"), "{error}");
    assert!(!events(&server, &key).contains("Claude"), "{}", events(&server, &key));
}

#[test]
fn what_no_agent_should_send_is_kept_and_the_turn_goes_on() {
    let machine = Machine::new();
    let server = serve(&machine, "0");
    let key = start(&server, &machine, "noise");
    let session = turns(&server, &key, 1);
    assert_eq!(session["last_line"], "Still here.");
    let late = || events(&server, &key).contains("too late").then_some(());
    until("the late text is kept", late);
    let events = events(&server, &key);
    assert!(events.contains("not json") && events.contains("of_the_future"), "{events}");
    assert!(events.contains("is too long"), "{events}");
    assert_eq!(turns(&server, &key, 1)["state"], "idle", "late text begins no turn");
}

#[test]
fn a_session_with_another_agent_survives_its_server() {
    let machine = Machine::new();
    let mut server = serve(&machine, "60");
    let key = start(&server, &machine, "clean");
    let before = pending(&server);
    server.signal("KILL");
    server.ended();
    drop(server);
    let server = serve(&machine, "60");
    let after = pending(&server);
    assert_eq!((&after["session"], &after["tool_use_id"]), (&before["session"], &before["tool_use_id"]));
    decide(&server, &after, "allow");
    let session = turns(&server, &key, 1);
    assert!(session["last_line"].as_str().unwrap().contains(r#""optionId":"yes""#), "{session}");
    stop(&server, &key);
}

#[test]
fn run_takes_another_agent_by_its_name() {
    let machine = Machine::new();
    let script = machine.path("agent.toml");
    fs::write(&script, SCRIPT).unwrap();
    let folder = machine.path("home/.config/tidings");
    fs::create_dir_all(&folder).unwrap();
    let tidings = assert_cmd::cargo::cargo_bin("tidings");
    let text = format!(
        "[[agent]]\nname = \"sample\"\ncommand = \"{}\"\nargs = [\"rehearse\", \"acp\", \"--script\", \"{}\"]\n",
        tidings.display(),
        script.display()
    );
    fs::write(folder.join("serve.toml"), text).unwrap();
    assert_eq!(machine.output(&["run", "--backend", "sample", "greet"]), "Hello, greet!\n");
    let (code, said) = machine.failure(&["run", "--backend", "other", "greet"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("installed are: sample"), "{said}");
    let (code, said) = machine.failure(&["run", "--backend", "sample", "die"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("sample ended with exit code 7") && !said.contains("Claude"), "{said}");
}
