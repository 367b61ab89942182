//! `tidings sessions list`, `stats`, `info`, `messages`, `rename`, `tag`, `fork` and `delete`, as a user runs them.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use assert_cmd::Command;
use insta::assert_snapshot;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::{Value, json};

/// A configuration folder with a few sessions, and a cache of its own.
struct Place {
    temp: tempfile::TempDir,
}

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";
const THIRD: &str = "33333333-3333-4333-8333-333333333333";

impl Place {
    fn new() -> Self {
        let place = Place { temp: tempfile::tempdir().unwrap() };
        place.session(
            "-home-dev-demo",
            FIRST,
            1,
            &[&prompt(FIRST, "/home/dev/demo", "Fix the build"), ANSWER],
        );
        // Two folders whose names become the same.
        place.session("-home-dev---", SECOND, 2, &[&prompt(SECOND, "/home/dev/項目", "First of two")]);
        place.session("-home-dev---", THIRD, 3, &[&prompt(THIRD, "/home/dev/测试", "Second of two")]);
        place
    }

    fn path(&self, folder: &str, id: &str) -> PathBuf {
        self.temp.path().join("claude/projects").join(folder).join(format!("{id}.jsonl"))
    }

    fn session(&self, folder: &str, id: &str, day: u64, lines: &[&str]) {
        let path = self.path(folder, id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        // Nothing depends on the present moment but the column with the age.
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + day * 86_400);
        fs::File::options().append(true).open(&path).unwrap().set_modified(modified).unwrap();
    }

    fn tidings(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("tidings").unwrap();
        command.env_clear().env("TIDINGS_CACHE_DIR", self.temp.path().join("cache"));
        command.args(["sessions", "--root"]).arg(self.temp.path().join("claude")).args(args);
        command
    }

    /// The exit code and the screen of a command in a terminal, to which keys are typed.
    fn on_terminal(&self, columns: u16, args: &[&str], keys: &str) -> (u32, String) {
        let size = PtySize { cols: columns, ..PtySize::default() };
        let terminal = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tidings"));
        command.env_clear();
        command.args(["sessions", "--root"]);
        command.arg(self.temp.path().join("claude"));
        command.args(args);
        let mut child = terminal.slave.spawn_command(command).unwrap();
        drop(terminal.slave);
        let mut output = terminal.master.try_clone_reader().unwrap();
        let mut typed = terminal.master.take_writer().unwrap();
        typed.write_all(keys.as_bytes()).unwrap();
        let mut text = Vec::new();
        // A terminal whose program is gone ends with an error on some systems.
        drop(output.read_to_end(&mut text));
        (child.wait().unwrap().exit_code(), String::from_utf8_lossy(&text).into_owned())
    }

    /// The lines of JSON that a command prints.
    fn json(&self, args: &[&str]) -> Vec<Value> {
        let output = self.tidings(args).arg("--json").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Exit code, stdout and stderr, without what is new in every run.
    fn run(&self, args: &[&str]) -> String {
        let output = self.tidings(args).write_stdin("").output().unwrap();
        let text = format!(
            "exit: {}\n--- stdout\n{}--- stderr\n{}",
            output.status.code().unwrap(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        text.replace(&self.temp.path().display().to_string(), "TEMP")
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
    let place = Place::new();
    let rows = place.json(&["list"]);
    assert_eq!(
        rows[2],
        json!({
            "id": FIRST, "path": place.path("-home-dev-demo", FIRST), "project": "demo", "cwd": "/home/dev/demo", "title": "Fix the build",
            "created": "2023-11-14T10:00:00.000Z", "modified": "2023-11-15T22:13:20.000Z",
            "turns": 1, "messages": 2, "subagents": 0, "branches": 0, "bytes": rows[2]["bytes"],
            "cost_usd": rows[2]["cost_usd"], "model": "claude-x",
        })
    );
    let output = place.tidings(&["list", "--json", "--limit", "1"]).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let keys = ["id", "project", "cwd", "title", "created", "modified", "turns", "messages", "subagents"];
    let places: Vec<usize> = keys.iter().map(|key| line.find(&format!("\"{key}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{line}");
}

#[test]
fn c12_list_filters_by_tag_and_names_the_file() {
    let place = Place::new();
    place.tidings(&["tag", FIRST, "release"]).assert().success();
    let rows = place.json(&["list", "--tag", "release"]);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["path"], json!(place.path("-home-dev-demo", FIRST)));
    assert!(place.json(&["list", "--tag", "other"]).is_empty());
}

#[test]
fn c11_every_command_counts_the_same_sessions() {
    let place = Place::new();
    // A copy in another folder, an empty file, and a sub-agent whose session is gone.
    place.session("-home-dev-copy", FIRST, 4, &[&prompt(FIRST, "/home/dev/demo", "Fix the build")]);
    let empty = place.path("-home-dev-demo", "44444444-4444-4444-8444-444444444444");
    fs::write(empty, "").unwrap();
    let listed = place.json(&["list"]).len();
    assert_eq!(listed, 3);
    assert_eq!(place.json(&["stats"])[0]["sessions"], json!(listed));
    assert_eq!(place.json(&["du"])[0]["sessions"], json!(listed));
    let config = place.temp.path().join("claude");
    for (args, says) in [(&[][..], "3 sessions in"), (&["doctor"], "3 sessions,")] {
        let mut command = Command::cargo_bin("tidings").unwrap();
        command.env_clear().env("HOME", place.temp.path()).env("CLAUDE_CONFIG_DIR", &config).args(args);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(says), "{args:?}: {text}");
    }
}

#[test]
fn c11_a_session_has_one_title_and_every_listed_one_has_messages() {
    let place = Place::new();
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
        // The name of the file need not be an id.
        let lines: Vec<&str> =
            std::iter::once(first.as_str()).chain(more.iter().map(String::as_str)).collect();
        place.session("-home-dev-demo", "transcript", 9, &lines);
        let rows = place.json(&["list"]);
        let row = rows.iter().find(|row| row["id"] == "transcript").unwrap();
        let title = row["title"].as_str().unwrap();
        let head = |args: &[&str]| place.run(args).lines().nth(2).unwrap().to_owned();
        assert_eq!(head(&["show", "transcript"]), title);
        assert!(head(&["tree", "transcript"]).ends_with(title), "{}", head(&["tree", "transcript"]));
        assert_eq!(place.json(&["messages", "transcript"]).len(), 1);
    }
}

#[test]
fn list_tells_what_a_session_cost_and_nothing_where_no_price_is_known() {
    let place = Place::new();
    let answer = |model: &str| {
        let usage = r#""usage":{"input_tokens":1000000,"output_tokens":0}"#;
        ANSWER.replace(r#""model":"claude-x""#, &format!(r#""model":"{model}",{usage}"#))
    };
    for (model, expected) in [("claude-sonnet-4-6", json!(3.0)), ("claude-x", json!(null))] {
        place.session("-home-dev-demo", FIRST, 1, &[&prompt(FIRST, "/home/dev/demo", "Fix"), &answer(model)]);
        let rows = place.json(&["list", "--project", "demo"]);
        assert_eq!(rows[0]["cost_usd"], expected, "{model}");
    }
    assert_eq!(place.json(&["list", "--project", "項"])[0]["cost_usd"], json!(0.0));
}

/// Every character outside ASCII becomes a dash in the name of the folder, so that two projects share one.
#[test]
fn f84_two_paths_with_one_folder_are_two_projects() {
    let place = Place::new();
    let rows = place.json(&["list"]);
    let named = |row: &Value| (row["project"].clone(), row["cwd"].clone());
    assert_eq!(named(&rows[0]), (json!("测试"), json!("/home/dev/测试")));
    assert_eq!(named(&rows[1]), (json!("項目"), json!("/home/dev/項目")));
    assert_eq!(place.json(&["list", "--project", "項"]).len(), 1);
    assert_eq!(place.json(&["list", "--project", "DEV/demo"])[0]["id"], FIRST);
}

#[test]
fn list_takes_a_limit_an_order_and_a_time() {
    let place = Place::new();
    let ids = |args: &[&str]| -> Vec<String> {
        place.json(args).iter().map(|row| row["id"].as_str().unwrap()[..1].to_owned()).collect()
    };
    assert_eq!(ids(&["list"]), ["3", "2", "1"]);
    assert_eq!(ids(&["list", "-n", "2"]), ["3", "2"]);
    assert_eq!(ids(&["list", "--sort", "oldest", "-n", "1"]), ["1"]);
    assert_eq!(ids(&["list", "--sort", "largest", "-n", "1"]), ["1"]);
    assert_eq!(ids(&["list", "--since", "2023-11-16T23:00:00Z"]), ["3"]);
    assert!(ids(&["list", "--since", "7d"]).is_empty());
    assert!(place.run(&["list", "--since", "sometime"]).starts_with("exit: 2"));
}

#[test]
fn list_text_fits_into_the_terminal() {
    let place = Place::new();
    let long = prompt(FIRST, "/home/dev/demo", &"word ".repeat(100));
    place.session("-home-dev-demo", FIRST, 1, &[&long]);
    for columns in ["40", "50", "60", "70", "80", "200"] {
        let output = place.tidings(&["list"]).env("COLUMNS", columns).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let width = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(width <= columns.parse::<usize>().unwrap(), "{text}");
        assert!(text.contains("11111111") && text.contains("3 sessions"), "{text}");
    }
}

#[test]
fn stats_json_has_the_keys_that_scripts_rely_on() {
    let place = Place::new();
    let expected = json!({
        "sessions": 3, "messages": 4, "turns": 3, "tool_calls": 1, "tools": {"Bash": 1}, "errors": 0,
        "subagents": 0, "branches": 0, "compactions": 0, "damaged": 0,
        "first": "2023-11-14T10:00:00.000Z", "last": "2023-11-14T10:00:01.000Z",
    });
    assert_eq!(place.json(&["stats"])[0], expected);
    // The second run is answered from the cache, and a change is seen all the same.
    assert_eq!(place.json(&["stats"])[0], expected);
    place.session("-home-dev-demo", FIRST, 9, &[&prompt(FIRST, "/home/dev/demo", "Fix"), "not json"]);
    let changed = &place.json(&["stats"])[0];
    assert_eq!((&changed["tool_calls"], &changed["damaged"]), (&json!(0), &json!(1)));
    assert_eq!(place.json(&["stats", "--project", "demo"])[0]["sessions"], 1);
}

#[test]
fn stats_text_shows_numbers_and_charts() {
    let place = Place::new();
    let text = place.run(&["stats"]);
    for part in ["3  sessions", "1  tool calls", "sessions per day", "███", "Bash"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn rename_and_tag_say_what_they_did() {
    let place = Place::new();
    assert_snapshot!(place.run(&["rename", "1111", " New\u{1b}[2J title "]), @r"
    exit: 0
    --- stdout
    11111111-1111-4111-8111-111111111111 is now New�[2J title
    --- stderr
    ");
    assert_snapshot!(place.run(&["tag", "1111", "ke\u{200b}ep"]), @r"
    exit: 0
    --- stdout
    11111111-1111-4111-8111-111111111111 is tagged keep
    --- stderr
    ");
    let row = &place.json(&["list", "--project", "demo"])[0];
    assert_eq!((&row["title"], &row["tag"]), (&json!("New\u{1b}[2J title"), &json!("keep")));
    assert_eq!(place.json(&["tag", "1111", "--clear"]), [json!({"id": FIRST, "tag": null})]);
    assert!(place.json(&["list", "--project", "demo"])[0].get("tag").is_none());
    assert_eq!(place.json(&["rename", FIRST, "x"]), [json!({"id": FIRST, "title": "x"})]);
}

#[test]
fn wrong_names_and_values_have_their_exit_codes() {
    let place = Place::new();
    place.session("-home-dev-demo", "11111111-1111-4111-8111-999999999999", 1, &[ANSWER]);
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
        let text = place.run(args);
        assert!(text.starts_with(&format!("exit: {exit}\n")), "{args:?}: {text}");
    }
}

#[test]
fn fork_makes_a_session_that_can_be_listed() {
    let place = Place::new();
    let made = &place.json(&["fork", "1111", "--title", "Another way"])[0];
    assert_eq!(
        (&made["from"], &made["entries"], &made["title"]),
        (&json!(FIRST), &json!(2), &json!("Another way"))
    );
    let id = made["id"].as_str().unwrap();
    let row = &place.json(&["list", "--limit", "1"])[0];
    assert_eq!(
        (&row["id"], &row["title"], &row["cwd"]),
        (&json!(id), &json!("Another way"), &json!("/home/dev/demo"))
    );
    let messages = place.json(&["messages", id]);
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0]["session_id"], id);
    let early = &place.json(&["fork", "1111", "--up-to", "a1111111-1111-4111-8111-111111111111"])[0];
    assert_eq!((&early["entries"], &early["title"]), (&json!(1), &json!("Fix the build (fork)")));
}

#[test]
fn a_fork_can_end_at_every_entry_that_the_tree_names() {
    let place = Place::new();
    let unknown = place.run(&["fork", FIRST, "--up-to", SECOND]);
    assert!(unknown.contains("hint: `tidings sessions tree --full` lists the ids"), "{unknown}");
    let tree = place.run(&["tree", FIRST, "--full"]);
    let ids: Vec<&str> = tree.split_whitespace().filter(|word| word.starts_with("a1111111-")).collect();
    assert_eq!(ids.len(), 2, "{tree}");
    for (id, entries) in ids.iter().zip(1..) {
        assert_eq!(place.json(&["fork", FIRST, "--up-to", id])[0]["entries"], entries);
    }
}

#[test]
fn a_no_is_an_answer_and_no_error() {
    let place = Place::new();
    let path = place.path("-home-dev-demo", FIRST);
    for (args, said) in
        [(&["delete", "1111"][..], "Nothing was deleted"), (&["prune", "1111"], "Nothing was removed")]
    {
        let (code, text) = place.on_terminal(80, args, "n\n");
        assert!(text.contains(said) && !text.contains("error"), "{text}");
        assert_eq!(code, 1, "{text}");
        assert!(path.exists());
    }
}

#[test]
fn a_tree_is_cut_for_a_terminal_and_for_nobody_else() {
    let place = Place::new();
    let long = "word ".repeat(12);
    place.session("-home-dev-demo", FIRST, 1, &[&prompt(FIRST, "/home/dev/demo", &long), ANSWER]);
    let width = |text: &str| text.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
    let (code, text) = place.on_terminal(40, &["tree", "1111", "--color", "never"], "");
    assert!(code == 0 && width(&text) <= 40, "{text}");
    assert!(text.contains("word word…"), "{text}");
    let whole = place.run(&["tree", "1111"]);
    assert!(whole.contains(long.trim_end()), "{whole}");
    // What somebody may want to copy is never cut.
    let (_, full) = place.on_terminal(40, &["tree", "1111", "--full", "--color", "never"], "");
    assert!(full.contains("a1111111-1111-4111-8111-111111111112"), "{full}");
}

#[test]
fn delete_needs_a_person_or_a_yes() {
    let place = Place::new();
    let path = place.path("-home-dev-demo", FIRST);
    assert_snapshot!(place.run(&["delete", "1111"]), @r"
    exit: 4
    --- stdout
    --- stderr
    error: Somebody has to confirm this, and nobody is there

    hint: run it in a terminal, or add --yes
    ");
    assert!(path.exists());
    let bytes = fs::metadata(&path).unwrap().len();
    fs::create_dir_all(path.with_extension("").join("subagents")).unwrap();
    let text = place.run(&["delete", "1111", "--yes"]);
    assert!(
        text.starts_with("exit: 0\n--- stdout\nDeleted 11111111-1111-4111-8111-111111111111, "),
        "{text}"
    );
    assert!(!path.exists() && !path.with_extension("").exists());
    let deleted = &place.json(&["delete", SECOND, "--yes"])[0];
    assert_eq!(deleted["id"], SECOND);
    assert!(deleted["bytes"].as_u64().unwrap() > 0 && bytes > 0);
    assert_eq!(deleted["removed"].as_array().unwrap().len(), 1);
}

#[test]
fn delete_takes_what_bears_the_id_and_nothing_else() {
    let place = Place::new();
    let root = place.temp.path().join("claude");
    let write = |path: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
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
    let deleted = &place.json(&["delete", "1111", "--yes"])[0];
    assert_eq!(deleted["removed"].as_array().unwrap().len(), 6, "{deleted}");
    assert!(going.iter().all(|path| !path.exists()), "{deleted}");
    assert!(staying.iter().chain(&shared).all(|path| path.exists()), "{deleted}");
    assert!(place.run(&["delete", "1111", "--yes"]).starts_with("exit: 3\n"));
}

/// Somebody who deletes a restored copy by its path wants to keep the original.
#[test]
fn delete_and_prune_leave_the_original_of_a_file_elsewhere() {
    let place = Place::new();
    let path = place.path("-home-dev-demo", FIRST);
    let copy = place.temp.path().join(format!("{FIRST}.jsonl"));
    fs::copy(&path, &copy).unwrap();
    for command in ["delete", "prune"] {
        let text = place.run(&[command, copy.to_str().unwrap(), "--yes"]);
        assert!(text.starts_with("exit: 3\n") && text.contains("Not among the sessions"), "{text}");
        assert!(path.exists() && copy.exists(), "{command}");
    }
}

#[test]
fn info_and_messages_are_what_the_sdks_give() {
    let place = Place::new();
    let infos = place.json(&["info"]);
    assert_eq!(infos.len(), 3);
    assert_eq!(
        place.json(&["info", "1111"])[0],
        json!({
            "session_id": FIRST, "summary": "Fix the build", "last_modified": 1_700_086_400_000_i64,
            "file_size": infos[2]["file_size"], "custom_title": null, "first_prompt": "Fix the build",
            "git_branch": null, "cwd": "/home/dev/demo", "tag": null, "created_at": 1_699_956_000_000_i64,
        })
    );
    assert_eq!(place.json(&["info", "--limit", "1", "--offset", "1"])[0]["session_id"], SECOND);
    assert_eq!(
        place.json(&["messages", "1111", "--limit", "1"]),
        [json!({
            "type": "user", "uuid": "a1111111-1111-4111-8111-111111111111", "session_id": FIRST,
            "message": {"role": "user", "content": "Fix the build"},
            "parent_tool_use_id": null, "parent_agent_id": null,
        })]
    );
    assert!(place.json(&["subagents", "1111"]).is_empty());
}

/// A process that is gone left its file behind; only one that lives has its session open.
#[test]
fn a_running_session_is_marked() {
    let place = Place::new();
    let folder = place.temp.path().join("claude/sessions");
    fs::create_dir_all(&folder).unwrap();
    let state = |id: &str| json!({"sessionId": id}).to_string();
    fs::write(folder.join(format!("{}.json", std::process::id())), state(FIRST)).unwrap();
    fs::write(folder.join("4294967294.json"), state(SECOND)).unwrap();
    let text = place.run(&["list"]);
    let marked: Vec<&str> = text.lines().filter(|line| line.contains('●')).collect();
    assert_eq!(marked.len(), usize::from(cfg!(target_os = "linux")), "{text}");
    assert!(marked.iter().all(|line| line.starts_with("11111111")), "{text}");
}
