//! `tidings sessions list`, `stats`, `info`, `messages`, `rename`, `tag`, `fork` and `delete`, as a user runs
//! them.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use assert_cmd::Command;
use insta::assert_snapshot;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

use crate::test_root::{self, TestRoot};

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";
const THIRD: &str = "33333333-3333-4333-8333-333333333333";

/// A configuration folder with a few sessions.
fn three_sessions() -> TestRoot {
    let root = TestRoot::new();
    root.session("-home-dev-demo", FIRST, 1, &[&prompt(FIRST, "/home/dev/demo", "Fix the build"), ANSWER]);
    // Two projects that share a folder name.
    root.session("-home-dev---", SECOND, 2, &[&prompt(SECOND, "/home/dev/項目", "First of two")]);
    root.session("-home-dev---", THIRD, 3, &[&prompt(THIRD, "/home/dev/测试", "Second of two")]);
    root
}

impl TestRoot {
    fn session_file(&self, folder: &str, id: &str) -> PathBuf {
        self.file(&format!("{folder}/{id}.jsonl"))
    }

    fn session(&self, folder: &str, id: &str, day: u64, lines: &[&str]) {
        // Only the column with the age depends on the current time.
        let modified = 1_700_000_000 + day * 86_400;
        self.write_at(&format!("{folder}/{id}.jsonl"), &(lines.join("\n") + "\n"), modified);
    }

    /// Runs a command in a terminal with typed keys, and returns its exit code and output.
    fn on_terminal(&self, columns: u16, args: &[&str], keys: &str) -> (u32, String) {
        let size = PtySize { cols: columns, ..PtySize::default() };
        let terminal = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tidings"));
        command.env_clear();
        command.args(["sessions", "--root"]);
        command.arg(self.config());
        command.args(args);
        let mut child = terminal.slave.spawn_command(command).unwrap();
        drop(terminal.slave);
        let mut output = terminal.master.try_clone_reader().unwrap();
        let mut typed = terminal.master.take_writer().unwrap();
        typed.write_all(keys.as_bytes()).unwrap();
        let mut text = Vec::new();
        // On some systems the read fails once the program has ended.
        drop(output.read_to_end(&mut text));
        (child.wait().unwrap().exit_code(), String::from_utf8_lossy(&text).into_owned())
    }
}

fn prompt(id: &str, cwd: &str, text: &str) -> String {
    let uuid = format!("a{}", &id[1..]);
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{uuid}","timestamp":"2023-11-14T10:00:00.000Z","cwd":"{cwd}","sessionId":"{id}"}}"#
    )
}

const ANSWER: &str = r#"{"parentUuid":"a1111111-1111-4111-8111-111111111111","isSidechain":false,"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},"uuid":"a1111111-1111-4111-8111-111111111112","timestamp":"2023-11-14T10:00:01.000Z","sessionId":"11111111-1111-4111-8111-111111111111"}"#;

#[test]
fn list_json_has_the_keys_that_scripts_rely_on() {
    let root = three_sessions();
    let rows = root.json(&["list"]);
    assert_eq!(
        rows[2],
        json!({
            "id": FIRST, "path": root.session_file("-home-dev-demo", FIRST), "project": "demo", "cwd": "/home/dev/demo", "title": "Fix the build",
            "created": "2023-11-14T10:00:00.000Z", "modified": "2023-11-15T22:13:20.000Z",
            "turns": 1, "messages": 2, "subagents": 0, "branches": 0, "bytes": rows[2]["bytes"],
            "cost_usd": rows[2]["cost_usd"], "model": "claude-x",
        })
    );
    let output = root.command(&["list", "--json", "--limit", "1"]).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let keys = ["id", "project", "cwd", "title", "created", "modified", "turns", "messages", "subagents"];
    let places: Vec<usize> = keys.iter().map(|key| line.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{line}");
}

#[test]
fn c12_list_filters_by_tag_and_names_the_file() {
    let root = three_sessions();
    root.command(&["tag", FIRST, "release"]).assert().success();
    let rows = root.json(&["list", "--tag", "release"]);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["path"], json!(root.session_file("-home-dev-demo", FIRST)));
    assert!(root.json(&["list", "--tag", "other"]).is_empty());
}

/// A folder whose name begins like another's is not below it.
#[test]
fn list_filters_by_branch_and_by_folder() {
    let root = three_sessions();
    let fourth = "44444444-4444-4444-8444-444444444444";
    let in_src = prompt(fourth, "/home/dev/demo/src", "On a branch");
    let line = in_src.replace("\"isSidechain\"", "\"gitBranch\":\"fix/build\",\"isSidechain\"");
    assert!(line.contains("gitBranch"), "{line}");
    root.session("-home-dev-demo-src", fourth, 4, &[&line]);
    let ids = |args: &[&str]| {
        let rows = root.json(&[&["list"], args].concat());
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--branch", "fix/build"]), [fourth]);
    assert_eq!(ids(&["--branch", "fix"]), [""; 0]);
    assert_eq!(ids(&["--path", "/home/dev/demo"]), [fourth, FIRST]);
    assert_eq!(ids(&["--path", "/home/dev/dem"]), [""; 0]);
    assert_eq!(ids(&["--path", "/home/dev/demo", "--branch", "main"]), [""; 0]);
}

#[test]
fn c11_every_command_counts_the_same_sessions() {
    let root = three_sessions();
    // A copy in another folder, and an empty file.
    root.session("-home-dev-copy", FIRST, 4, &[&prompt(FIRST, "/home/dev/demo", "Fix the build")]);
    let empty = root.session_file("-home-dev-demo", "44444444-4444-4444-8444-444444444444");
    fs::write(empty, "").unwrap();
    let listed = root.json(&["list"]).len();
    assert_eq!(listed, 3);
    assert_eq!(root.json(&["stats"])[0]["sessions"], json!(listed));
    assert_eq!(root.json(&["du"])[0]["sessions"], json!(listed));
    let config = root.config();
    for (args, says) in [(&[][..], "3 sessions in"), (&["doctor"], "3 sessions,")] {
        let mut command = Command::cargo_bin("tidings").unwrap();
        command.env_clear().env("HOME", root.path("home")).env("CLAUDE_CONFIG_DIR", &config).args(args);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(says), "{args:?}: {text}");
    }
}

#[test]
fn c11_a_session_has_one_title_and_every_listed_one_has_messages() {
    let root = three_sessions();
    let record = |kind: &str, key: &str, text: &str| format!(r#"{{"type":"{kind}","{key}":"{text}"}}"#);
    let first = prompt(FIRST, "/home/dev/demo", "Fix the build");
    let titled: [&[String]; 4] = [
        &[],
        &[record("summary", "summary", "About the build")],
        &[
            record("summary", "summary", "About the build"),
            record("last-prompt", "lastPrompt", "And now the tests"),
        ],
        &[
            record("custom-title", "customTitle", "My title"),
            record("last-prompt", "lastPrompt", "And now the tests"),
        ],
    ];
    for more in titled {
        // The name of the file does not have to be an id.
        let lines: Vec<&str> =
            std::iter::once(first.as_str()).chain(more.iter().map(String::as_str)).collect();
        root.session("-home-dev-demo", "transcript", 9, &lines);
        let rows = root.json(&["list"]);
        let row = rows.iter().find(|row| row["id"] == "transcript").unwrap();
        let title = row["title"].as_str().unwrap();
        let head = |args: &[&str]| root.run(args).lines().nth(2).unwrap().to_owned();
        assert_eq!(head(&["show", "transcript"]), title);
        assert!(head(&["tree", "transcript"]).ends_with(title), "{}", head(&["tree", "transcript"]));
        assert_eq!(root.json(&["messages", "transcript"]).len(), 1);
    }
}

#[test]
fn list_tells_what_a_session_cost_and_nothing_where_no_price_is_known() {
    let root = three_sessions();
    let answer = |model: &str| {
        let usage = r#""usage":{"input_tokens":1000000,"output_tokens":0}"#;
        ANSWER.replace(r#""model":"claude-x""#, &format!(r#""model":"{model}",{usage}"#))
    };
    for (model, expected) in [("claude-sonnet-4-6", json!(3.0)), ("claude-x", json!(null))] {
        root.session("-home-dev-demo", FIRST, 1, &[&prompt(FIRST, "/home/dev/demo", "Fix"), &answer(model)]);
        let rows = root.json(&["list", "--project", "demo"]);
        assert_eq!(rows[0]["cost_usd"], expected, "{model}");
    }
    assert_eq!(root.json(&["list", "--project", "項"])[0]["cost_usd"], json!(0.0));
}

/// Every character outside of ASCII becomes a dash in the name of the folder, so that two projects share one.
#[test]
fn f84_two_paths_with_one_folder_are_two_projects() {
    let root = three_sessions();
    let rows = root.json(&["list"]);
    let named = |row: &Value| (row["project"].clone(), row["cwd"].clone());
    assert_eq!(named(&rows[0]), (json!("测试"), json!("/home/dev/测试")));
    assert_eq!(named(&rows[1]), (json!("項目"), json!("/home/dev/項目")));
    assert_eq!(root.json(&["list", "--project", "項"]).len(), 1);
    assert_eq!(root.json(&["list", "--project", "DEV/demo"])[0]["id"], FIRST);
}

#[test]
fn list_takes_a_limit_an_order_and_a_time() {
    let root = three_sessions();
    let ids = |args: &[&str]| -> Vec<String> {
        root.json(args).iter().map(|row| row["id"].as_str().unwrap()[..1].to_owned()).collect()
    };
    assert_eq!(ids(&["list"]), ["3", "2", "1"]);
    assert_eq!(ids(&["list", "-n", "2"]), ["3", "2"]);
    assert_eq!(ids(&["list", "--sort", "oldest", "-n", "1"]), ["1"]);
    assert_eq!(ids(&["list", "--sort", "largest", "-n", "1"]), ["1"]);
    assert_eq!(ids(&["list", "--since", "2023-11-16T23:00:00Z"]), ["3"]);
    assert!(ids(&["list", "--since", "7d"]).is_empty());
    assert!(root.run(&["list", "--since", "sometime"]).starts_with("exit: 2"));
}

#[test]
fn list_text_fits_into_the_terminal() {
    let root = three_sessions();
    let long = prompt(FIRST, "/home/dev/demo", &"word ".repeat(100));
    root.session("-home-dev-demo", FIRST, 1, &[&long]);
    for columns in ["40", "50", "60", "70", "80", "200"] {
        let output = root.command(&["list"]).env("COLUMNS", columns).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let width = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(width <= columns.parse::<usize>().unwrap(), "{text}");
        assert!(text.contains("11111111") && text.contains("3 sessions"), "{text}");
    }
}

#[test]
fn stats_json_has_the_keys_that_scripts_rely_on() {
    let root = three_sessions();
    let expected = json!({
        "sessions": 3, "messages": 4, "turns": 3, "tool_calls": 1, "tools": {"Bash": 1}, "errors": 0,
        "subagents": 0, "branches": 0, "compactions": 0, "damaged": 0,
        "first": "2023-11-14T10:00:00.000Z", "last": "2023-11-14T10:00:01.000Z",
    });
    assert_eq!(root.json(&["stats"])[0], expected);
    // The second run uses the cache, and still detects a change.
    assert_eq!(root.json(&["stats"])[0], expected);
    root.session("-home-dev-demo", FIRST, 9, &[&prompt(FIRST, "/home/dev/demo", "Fix"), "not json"]);
    let changed = &root.json(&["stats"])[0];
    assert_eq!((&changed["tool_calls"], &changed["damaged"]), (&json!(0), &json!(1)));
    assert_eq!(root.json(&["stats", "--project", "demo"])[0]["sessions"], 1);
}

#[test]
fn stats_text_shows_numbers_and_charts() {
    let root = three_sessions();
    let answer = |id: &str, day: u64| {
        let usage = r#"{"input_tokens":1000,"output_tokens":500}"#;
        format!(
            r#"{{"type":"assistant","uuid":"{id}","timestamp":"2023-11-{day}T10:00:00.000Z","message":{{"id":"{id}","model":"claude-opus-4-5","content":[],"usage":{usage}}}}}"#
        )
    };
    root.session("-home-dev-demo", THIRD, 4, &[&answer("a", 14), &answer("b", 16), &answer("c", 16)]);
    let svg = root.path("activity.svg");
    let text = root.run(&["stats", "--svg", svg.to_str().unwrap()]);
    for part in ["3  sessions", "1  tool calls", "███", "Bash"] {
        assert!(text.contains(part), "{text}");
    }
    for part in ["responses per day  2023-11-14 to 2023-11-16, at most 2", "cost per day", "$0.04", "Nov"] {
        assert!(text.contains(part), "{text}");
    }
    let svg = fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("2023-11-16: 2"), "{svg}");
}

#[test]
fn without_an_id_a_session_is_chosen_from_a_list() {
    let root = three_sessions();
    for columns in [60, 80, 200] {
        let (code, text) = root.on_terminal(columns, &["show"], "first two\r");
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("22222222") && text.contains("1 of 3"), "{text}");
        // The list is gone, and the session follows.
        assert!(text.rsplit("\x1b[J").next().unwrap().contains("First of two"), "{text}");
    }
    let (code, text) = root.on_terminal(80, &["fork", "--color", "never"], "\x1b[B\r");
    assert_eq!((code, text.contains("22222222")), (0, true), "{text}");
    assert!(!text.contains("\x1b[1m"), "{text}");
    let (code, _) = root.on_terminal(80, &["delete"], "\x1b");
    assert_eq!(code, 130);
    // A script gets an error instead.
    for command in ["tree", "messages", "subagents", "fork", "delete"] {
        let text = root.run(&[command]);
        assert!(text.starts_with("exit: 2") && text.contains("No session was named"), "{command}: {text}");
    }
}

#[test]
fn rename_and_tag_say_what_they_did() {
    let root = three_sessions();
    assert_snapshot!(root.run(&["rename", "1111", " New\u{1b}[2J title "]), @r"
    exit: 0
    --- stdout
    11111111 is now titled New�[2J title
    --- stderr
    ");
    assert_snapshot!(root.run(&["tag", "1111", "ke\u{200b}ep"]), @r"
    exit: 0
    --- stdout
    11111111 is tagged keep
    --- stderr
    ");
    let row = &root.json(&["list", "--project", "demo"])[0];
    assert_eq!((&row["title"], &row["tag"]), (&json!("New\u{1b}[2J title"), &json!("keep")));
    assert_eq!(root.json(&["tag", "1111", "--clear"]), [json!({"id": FIRST, "tag": null})]);
    assert!(root.json(&["list", "--project", "demo"])[0].get("tag").is_none());
    assert_eq!(root.json(&["rename", FIRST, "x"]), [json!({"id": FIRST, "title": "x"})]);
}

#[test]
fn wrong_names_and_values_have_their_exit_codes() {
    let root = three_sessions();
    root.session("-home-dev-demo", "11111111-1111-4111-8111-999999999999", 1, &[ANSWER]);
    for (args, exit) in [
        (&["rename", "9999", "x"][..], 3),
        (&["rename", "1111", "x"], 3),
        (&["rename", FIRST, " "], 2),
        (&["tag", FIRST, "\u{200b}"], 2),
        (&["tag", FIRST], 2),
        (&["tag", FIRST, "x", "--clear"], 2),
        (&["fork", FIRST, "--up-to", "nonsense"], 2),
        (&["fork", FIRST, "--up-to", SECOND], 3),
        (&["messages", FIRST, "--agent", "none"], 3),
        (&["info", "9999"], 3),
    ] {
        let text = root.run(args);
        assert!(text.starts_with(&format!("exit: {exit}\n")), "{args:?}: {text}");
    }
}

#[test]
fn fork_makes_a_session_that_can_be_listed() {
    let root = three_sessions();
    let made = &root.json(&["fork", "1111", "--title", "Another way"])[0];
    assert_eq!(
        (&made["from"], &made["entries"], &made["title"]),
        (&json!(FIRST), &json!(2), &json!("Another way"))
    );
    let id = made["id"].as_str().unwrap();
    let row = &root.json(&["list", "--limit", "1"])[0];
    assert_eq!(
        (&row["id"], &row["title"], &row["cwd"]),
        (&json!(id), &json!("Another way"), &json!("/home/dev/demo"))
    );
    let messages = root.json(&["messages", id]);
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["session_id"], id);
    let early = &root.json(&["fork", "1111", "--up-to", "a1111111-1111-4111-8111-111111111111"])[0];
    assert_eq!((&early["entries"], &early["title"]), (&json!(1), &json!("Fix the build (fork)")));
}

#[test]
fn a_fork_can_end_at_every_entry_that_the_tree_names() {
    let root = three_sessions();
    let unknown = root.run(&["fork", FIRST, "--up-to", SECOND]);
    assert!(unknown.contains("hint: `tidings sessions tree --full` lists the ids"), "{unknown}");
    let tree = root.run(&["tree", FIRST, "--full"]);
    let ids: Vec<&str> = tree.split_whitespace().filter(|word| word.starts_with("a1111111-")).collect();
    assert_eq!(ids.len(), 2, "{tree}");
    for (id, entries) in ids.iter().zip(1..) {
        assert_eq!(root.json(&["fork", FIRST, "--up-to", id])[0]["entries"], entries);
    }
}

#[test]
fn a_declined_confirmation_is_not_an_error() {
    let root = three_sessions();
    let path = root.session_file("-home-dev-demo", FIRST);
    for (args, said) in
        [(&["delete", "1111"][..], "Nothing was deleted"), (&["prune", "1111"], "Nothing was removed")]
    {
        let (code, text) = root.on_terminal(80, args, "n\n");
        assert!(text.contains(said) && !text.contains("error"), "{text}");
        assert_eq!(code, 1, "{text}");
        assert!(path.exists());
    }
}

#[test]
fn a_tree_is_cut_on_a_terminal_only() {
    let root = three_sessions();
    let long = "word ".repeat(12);
    root.session("-home-dev-demo", FIRST, 1, &[&prompt(FIRST, "/home/dev/demo", &long), ANSWER]);
    let width = |text: &str| text.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
    let (code, text) = root.on_terminal(40, &["tree", "1111", "--color", "never"], "");
    assert!(code == 0 && width(&text) <= 40, "{text}");
    assert!(text.contains("word word…"), "{text}");
    let whole = root.run(&["tree", "1111"]);
    assert!(whole.contains(long.trim_end()), "{whole}");
    // Uuids, which users copy, are never cut.
    let (_, full) = root.on_terminal(40, &["tree", "1111", "--full", "--color", "never"], "");
    assert!(full.contains("a1111111-1111-4111-8111-111111111112"), "{full}");
}

#[test]
fn delete_needs_a_terminal_or_yes() {
    let root = three_sessions();
    let path = root.session_file("-home-dev-demo", FIRST);
    assert_snapshot!(root.run(&["delete", "1111"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: This needs confirmation, and there is no terminal to ask on

    hint: run it in a terminal, or pass --yes
    ");
    assert!(path.exists());
    let bytes = fs::metadata(&path).unwrap().len();
    fs::create_dir_all(path.with_extension("").join("subagents")).unwrap();
    let text = root.run(&["delete", "1111", "--yes"]);
    assert!(
        text.starts_with("exit: 0\n--- stdout\nDeleted 11111111-1111-4111-8111-111111111111, "),
        "{text}"
    );
    assert!(!path.exists() && !path.with_extension("").exists());
    let deleted = &root.json(&["delete", SECOND, "--yes"])[0];
    assert_eq!(deleted["id"], SECOND);
    assert!(deleted["bytes"].as_u64().unwrap() > 0 && bytes > 0);
    assert_eq!(deleted["removed"].as_array().unwrap().len(), 1);
}

#[test]
fn delete_removes_exactly_the_files_with_the_id() {
    let root = three_sessions();
    let config = root.config();
    let write = |path: &str| {
        let path = config.join(path);
        test_root::write(&path, "x");
        path
    };
    let of = |id: &str| {
        [
            write(&format!("file-history/{id}/abc@v1")),
            write(&format!("tasks/{id}/1.json")),
            write(&format!("todos/{id}-agent-{id}.json")),
            write(&format!("session-env/{id}/hook.sh")),
            write(&format!("debug/{id}.txt")),
        ]
    };
    let (going, staying) = (of(FIRST), of(SECOND));
    let shared = [write("history.jsonl"), write("plans/a-plan.md"), write("todos/notes.json")];
    let deleted = &root.json(&["delete", "1111", "--yes"])[0];
    assert_eq!(deleted["removed"].as_array().unwrap().len(), 6, "{deleted}");
    assert!(going.iter().all(|path| !path.exists()), "{deleted}");
    assert!(staying.iter().chain(&shared).all(|path| path.exists()), "{deleted}");
    assert!(root.run(&["delete", "1111", "--yes"]).starts_with("exit: 3\n"));
}

/// Deleting a restored copy by its path must not delete the original.
#[test]
fn delete_and_prune_leave_the_original_of_a_file_elsewhere() {
    let root = three_sessions();
    let path = root.session_file("-home-dev-demo", FIRST);
    let copy = root.path(&format!("{FIRST}.jsonl"));
    fs::copy(&path, &copy).unwrap();
    for command in ["delete", "prune"] {
        let text = root.run(&[command, copy.to_str().unwrap(), "--yes"]);
        assert!(text.starts_with("exit: 3\n") && text.contains("Not among the sessions"), "{text}");
        assert!(path.exists() && copy.exists(), "{command}");
    }
}

#[test]
fn info_and_messages_are_what_the_sdks_give() {
    let root = three_sessions();
    let infos = root.json(&["info"]);
    assert_eq!(infos.len(), 3);
    assert_eq!(
        root.json(&["info", "1111"])[0],
        json!({
            "session_id": FIRST, "summary": "Fix the build", "last_modified": 1_700_086_400_000_i64,
            "file_size": infos[2]["file_size"], "custom_title": null, "first_prompt": "Fix the build",
            "git_branch": null, "cwd": "/home/dev/demo", "tag": null, "created_at": 1_699_956_000_000_i64,
        })
    );
    assert_eq!(root.json(&["info", "--limit", "1", "--offset", "1"])[0]["session_id"], SECOND);
    assert_eq!(
        root.json(&["messages", "1111", "--limit", "1"]),
        [json!({
            "type": "user", "uuid": "a1111111-1111-4111-8111-111111111111", "session_id": FIRST,
            "message": {"role": "user", "content": "Fix the build"},
            "parent_tool_use_id": null, "parent_agent_id": null,
        })]
    );
    assert!(root.json(&["subagents", "1111"]).is_empty());
}

/// A process that has ended may leave its file behind; only a live process marks its session.
#[test]
fn a_running_session_is_marked() {
    let root = three_sessions();
    let folder = root.config().join("sessions");
    fs::create_dir_all(&folder).unwrap();
    let state = |id: &str| json!({"sessionId": id}).to_string();
    fs::write(folder.join(format!("{}.json", std::process::id())), state(FIRST)).unwrap();
    fs::write(folder.join("4294967294.json"), state(SECOND)).unwrap();
    let text = root.run(&["list"]);
    let marked: Vec<&str> = text.lines().filter(|line| line.contains('●')).collect();
    assert_eq!(marked.len(), usize::from(cfg!(target_os = "linux")), "{text}");
    assert!(marked.iter().all(|line| line.starts_with("11111111")), "{text}");
}
