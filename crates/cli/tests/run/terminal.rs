//! Runs in a real terminal.

use tidings_protocol::TESTED_CLAUDE_CODE;

use crate::run::sandbox::{ASKS, Sandbox};
use crate::run::window::Window;

const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// Script of a long answer.
const SLOW: &str = r#"
[[turn]]
text = "one two three four five six seven eight nine ten eleven twelve"
pace = { chunk_chars = 4, chunk_delay_ms = 1000 }
"#;

#[test]
fn a_permission_is_allowed_with_one_key_and_not_with_enter() {
    let sandbox = Sandbox::playing(ASKS);
    let mut window = Window::run(&sandbox, 80, &["clean up"]);
    window.wait_for("[n] no");
    assert!(window.text().contains("│ rm -rf build"), "{}", window.text());
    assert!(window.text().contains("[a] always: Bash("), "the rule is shown:\n{}", window.text());
    window.press(ENTER);
    window.press(" ");
    window.press("y");
    window.wait_for("✓ allowed once");
    window.wait_for("It is gone.");
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("✓ Bash rm -rf build"), "{text}");
    assert!(text.contains("I will clean up."), "{text}");
    assert!(text.contains(" context"), "the status line is there:\n{text}");
    assert!(!text.contains("Ctrl-C interrupts"), "live lines are removed:\n{text}");
}

#[test]
fn c30_a_conversation_begins_with_another_version_than_the_tested_one() {
    let answer = "[[turn]]\ntext = \"Hello.\"\n";
    for (version, is_shown) in [(TESTED_CLAUDE_CODE, false), ("2.1.9999", true)] {
        let sandbox = Sandbox::playing(&format!("agent.version = \"{version}\"\n{answer}"));
        let mut window = Window::run(&sandbox, 80, &[]);
        window.wait_for("Type a prompt");
        window.press(CTRL_D);
        let (code, text) = window.ended();
        assert_eq!(code, 0, "{text}");
        let shown = format!("Claude Code {version}, tested with {TESTED_CLAUDE_CODE}");
        assert_eq!(text.contains(&shown), is_shown, "{text}");
    }
}

#[test]
fn a_permission_is_refused_with_a_reason() {
    let sandbox = Sandbox::playing(ASKS);
    let mut window = Window::run(&sandbox, 80, &["clean up"]);
    window.wait_for("[e] no, with a reason");
    window.press("e");
    window.wait_for("Reason:");
    window.press("keep it for nuw\x7f\x7fow");
    window.wait_for("Reason: keep it for now");
    window.press(ENTER);
    window.wait_for("It stays, as you say.");
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("✗ denied: keep it for now"), "{text}");
}

#[test]
fn questions_are_answered_with_digits_and_words() {
    let sandbox = Sandbox::playing(
        r#"
[[turn]]

[[turn.block]]
tool = "AskUserQuestion"
ask = true
result = "answered"

[[turn.block.input.questions]]
question = "Which database?"
header = "Database"
multiSelect = false
options = [{ label = "SQLite", description = "One file" }, { label = "Postgres", description = "A server" }]

[[turn.block.input.questions]]
question = "Which extras?"
header = "Extras"
multiSelect = true
options = [{ label = "Cache", description = "Fast" }, { label = "Search", description = "Found" }]

[[turn]]
text = "As you like."
"#,
    );
    let mut window = Window::run(&sandbox, 60, &["set it up"]);
    window.wait_for("[2] Postgres  A server");
    window.press("2");
    window.wait_for("2/2 Which extras?");
    window.press("12");
    window.wait_for("[2] ☑ Search");
    window.press("1o");
    window.wait_for("Answer:");
    window.press("a queue");
    window.press(ENTER);
    window.wait_for("As you like.");
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Which database? → Postgres"), "{text}");
    assert!(text.contains("Which extras? → Search, a queue"), "{text}");
}

#[test]
fn a_plan_is_shown_and_approved() {
    let sandbox = Sandbox::playing(
        r##"
[[turn]]

[[turn.block]]
tool = "ExitPlanMode"
input = { plan = "# Two steps\n\n1. look\n2. leap" }
ask = { requires_user_interaction = true }
result = "approved"

[[turn]]
text = "Carried out."
"##,
    );
    let mut window = Window::run(&sandbox, 80, &["plan it"]);
    window.wait_for("[y] approve");
    assert!(window.text().contains("2. leap"), "{}", window.text());
    window.press("y");
    window.wait_for("Carried out.");
    assert_eq!(window.ended().0, 0);
}

#[test]
fn ctrl_c_interrupts_and_twice_leaves() {
    let sandbox = Sandbox::playing(SLOW);
    let mut window = Window::run(&sandbox, 80, &["count"]);
    window.wait_for("one two");
    window.press(CTRL_C);
    window.wait_for("interrupted");
    let (code, text) = window.ended();
    assert_eq!(code, 130, "{text}");
    assert!(!text.contains("twelve"), "{text}");

    let mut window = Window::run(&sandbox, 80, &["count"]);
    window.wait_for("one two");
    window.press(CTRL_C);
    window.press(CTRL_C);
    assert_eq!(window.ended().0, 130);
}

#[test]
fn a_window_may_be_narrow_and_change_its_size() {
    let sandbox = Sandbox::playing(ASKS);
    let mut window = Window::run(&sandbox, 40, &["clean up"]);
    window.wait_for("[e] no, with a reason");
    assert!(!window.text().contains("[s] this session   [a]"), "{}", window.text());
    window.resize(100);
    window.wait_for("[s] this session   [a] always: Bash(rm -rf build)");
    window.resize(30);
    window.wait_for("\n[a] always: Bash(rm -rf\n");
    window.press("n");
    window.wait_for("It stays.");
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("[y] once"), "nothing is left of the question:\n{text}");
}

#[test]
fn no_color_is_respected() {
    let sandbox = Sandbox::playing(ASKS);
    for (environment, styled) in [(&[("NO_COLOR", "1")][..], false), (&[], true)] {
        let arguments = sandbox.arguments(&["clean up", "--on-ask", "deny"]);
        let mut window = Window::with(&sandbox, 80, env!("CARGO_BIN_EXE_tidings"), &arguments, environment);
        let (code, text) = window.ended();
        assert_eq!(code, 0, "{text}");
        let codes =
            window.bytes().split("\x1b[").skip(1).any(|code| {
                code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
            });
        assert_eq!(codes, styled, "{environment:?}: {:?}", window.bytes());
    }
}

#[test]
fn f122_what_an_agent_writes_does_not_steer_the_terminal() {
    let sandbox = Sandbox::playing(
        r#"
[[turn]]

[[turn.block]]
text = "Title \u001b]0;owned\u0007 clip \u001b]52;c;ZXZpbA==\u0007 \u009b2J \u202egpj and `\u001b[31mred`\n\n```\n\u001b[2J\n```\n"

[[turn.block]]
tool = "Bash"
input = { command = "echo \u001b]8;;https://evil.example\u001b\\ x\u200by" }
ask = true
result = "\u001b[2J\u001bP+q544e\u001b\\"
is_error = true

[[turn]]
text = "Done \u001b[5m."
"#,
    );
    let mut window = Window::run(&sandbox, 80, &["hi"]);
    window.wait_for("[n] no");
    assert!(window.text().contains("x⟨200B⟩y"), "hidden characters are seen:\n{}", window.text());
    window.press("y");
    window.wait_for("Done ␛[5m.");
    assert_eq!(window.ended().0, 0);
    assert_own_sequences(&window.bytes());
}

/// Checks that only our own sequences were written: styles, moving the cursor, clearing the rest of a line or
/// of the screen, and bracketed paste.
#[track_caller]
fn assert_own_sequences(bytes: &str) {
    for part in bytes.split('\x1b').skip(1) {
        let own = part.strip_prefix('[').is_some_and(|rest| {
            let end = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
            end.starts_with(['m', 'A', 'C'])
                || rest.starts_with(['J', 'K'])
                || rest.starts_with("?2004h")
                || rest.starts_with("?2004l")
        });
        assert!(own, "a foreign sequence: {part:?}");
    }
    for steering in ['\u{9b}', '\u{202e}', '\u{7}', '\u{200b}'] {
        assert!(!bytes.contains(steering), "{steering:?} got through");
    }
}

#[test]
fn f122_what_is_pasted_and_answered_in_a_conversation_does_not_steer_the_terminal() {
    let hostile = r"Title \u001b]0;owned\u0007 clip \u001b]52;c;ZXZpbA==\u0007 \u009b2J \u202egpj";
    let sandbox = Sandbox::playing(&format!("[[turn]]\ntext = \"{hostile}\"\n"));
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press(&format!("{}say \u{9b}2J \u{202e}gpj\x07 it{}", PASTE.0, PASTE.1));
    window.wait_for("⟨202E⟩gpj it");
    window.press(ENTER);
    window.wait_for("Title ␛]0;owned␇");
    window.wait_for_times("›", 2);
    window.press(CTRL_D);
    assert_eq!(window.ended().0, 0);
    assert_own_sequences(&window.bytes());
}

#[test]
fn a_conversation_has_several_turns() {
    let sandbox = Sandbox::playing("[[turn]]\ntext = \"First.\"\n\n[[turn]]\ntext = \"Second.\"\n");
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press("hello\r");
    window.wait_for("First.");
    window.wait_for_times("›", 2);
    window.press("more \\\rof it\r");
    window.wait_for("Second.");
    window.wait_for_times("›", 3);
    window.press(CTRL_D);
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("tidings run --resume "), "{text}");
}

#[test]
fn the_terminal_is_as_it_was_afterwards() {
    let sandbox = Sandbox::playing(SLOW);
    let run: Vec<String> =
        sandbox.arguments(&["count"]).iter().map(|argument| format!("'{argument}'")).collect();
    let line = format!("'{}' {}; stty -a", env!("CARGO_BIN_EXE_tidings"), run.join(" "));
    let mut window = Window::with(&sandbox, 80, "/bin/sh", &["-c".to_owned(), line], &[]);
    window.wait_for("one two");
    window.press(CTRL_C);
    window.press(CTRL_C);
    let (_, text) = window.ended();
    assert!(text.contains(" icanon") && !text.contains("-icanon") && !text.contains("-opost"), "{text}");
}

/// Script whose answer depends on the prompt, to see what was typed.
const ECHO: &str = r#"
[[turn]]
when = { last_contains = "alpha\nbeta\ngamma" }
text = "Got three lines."
repeat = true

[[turn]]
when = { last_contains = "hello world" }
text = "Got the edited line."
repeat = true

[[turn]]
text = "Got something else."
"#;

const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

#[test]
fn c1_several_pasted_lines_are_one_prompt() {
    let sandbox = Sandbox::playing(ECHO);
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press(&format!("{}alpha\r\nbeta\rgamma{}", PASTE.0, PASTE.1));
    window.wait_for("gamma");
    assert!(!window.text().contains("Got"), "nothing is sent before Enter:\n{}", window.text());
    window.press(ENTER);
    window.wait_for("Got three lines.");
    window.wait_for_times("›", 2);
    window.press(CTRL_D);
    assert_eq!(window.ended().0, 0);
    assert!(!window.text().contains("something else"), "{}", window.text());
}

#[test]
fn c2_a_prompt_can_be_edited_and_recalled() {
    let sandbox = Sandbox::playing(ECHO);
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    // Five times left, the missing space, and End.
    window.press("helloworld\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D \x1b[F");
    window.wait_for("hello world");
    window.press(ENTER);
    window.wait_for("Got the edited line.");
    window.wait_for_times("›", 2);
    window.press("\x1b[A");
    window.wait_for_times("hello world", 2);
    window.press(ENTER);
    window.wait_for_times("Got the edited line.", 2);
    window.wait_for_times("›", 3);
    window.press(CTRL_D);
    assert_eq!(window.ended().0, 0);
    // The next conversation in the folder has the history.
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press("\x1b[A");
    window.wait_for("hello world");
    window.press(CTRL_C);
    window.press(CTRL_D);
    assert_eq!(window.ended().0, 0);
}

#[test]
fn c2_ctrl_c_clears_what_is_typed_and_then_leaves() {
    let sandbox = Sandbox::playing(ECHO);
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press("half a prompt");
    window.wait_for("half a prompt");
    window.press(CTRL_C);
    window.press("hello world\r");
    window.wait_for("Got the edited line.");
    assert!(!window.text().contains("half a prompt"), "{}", window.text());
    window.wait_for_times("›", 2);
    window.press(CTRL_C);
    window.wait_for("press Ctrl-C again to leave");
    window.press(CTRL_C);
    assert_eq!(window.ended().0, 130);
}

#[test]
fn c29_ctrl_c_leaves_only_twice_in_a_row_and_says_how_to_resume() {
    let sandbox = Sandbox::playing(ECHO);
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press("hello world\r");
    // The figures of the turn are written when it is over.
    window.wait_for("6 out");
    window.press(CTRL_C);
    window.wait_for("press Ctrl-C again to leave");
    // Any other key means that the user stays.
    window.press("x\x7f");
    window.press(CTRL_C);
    window.wait_for_times("press Ctrl-C again to leave", 2);
    window.press(CTRL_C);
    let (code, text) = window.ended();
    assert_eq!(code, 130, "{text}");
    assert!(text.contains("To resume: tidings run --resume "), "{text}");

    let sandbox = Sandbox::playing(SLOW);
    let mut window = Window::run(&sandbox, 80, &["count"]);
    window.wait_for("one two");
    window.press(CTRL_C);
    window.press(CTRL_C);
    let (code, text) = window.ended();
    assert_eq!(code, 130, "{text}");
    assert!(text.contains("To resume: tidings run --resume "), "{text}");
}

#[test]
fn c29_after_an_interrupt_ctrl_c_leaves_as_it_says() {
    let sandbox = Sandbox::playing(SLOW);
    let mut window = Window::run(&sandbox, 80, &[]);
    window.wait_for("›");
    window.press("count\r");
    window.wait_for("one two");
    window.press(CTRL_C);
    // Whether the turn has ended by now does not matter.
    window.wait_for("interrupted; Ctrl-C twice at an empty prompt leaves");
    window.press(CTRL_C);
    window.wait_for("press Ctrl-C again to leave");
    window.press(CTRL_C);
    let (code, text) = window.ended();
    assert_eq!(code, 130, "{text}");
    assert!(text.contains("To resume: tidings run --resume "), "{text}");
}

#[test]
fn c2_a_signal_at_the_prompt_leaves_the_terminal_as_it_was() {
    let sandbox = Sandbox::playing(ECHO);
    let run: Vec<String> = sandbox.arguments(&[]).iter().map(|argument| format!("'{argument}'")).collect();
    let pid = sandbox.path("pid");
    let line = format!(
        "sh -c 'echo $$ > \"{}\"; exec \"$0\" \"$@\"' '{}' {}; stty -a",
        pid.display(),
        env!("CARGO_BIN_EXE_tidings"),
        run.join(" ")
    );
    let mut window = Window::with(&sandbox, 80, "/bin/sh", &["-c".to_owned(), line], &[]);
    window.wait_for("›");
    window.press("half");
    window.wait_for("half");
    let pid = std::fs::read_to_string(pid).unwrap();
    let killed = std::process::Command::new("kill").args(["-TERM", pid.trim()]).status().unwrap();
    assert!(killed.success());
    let (_, text) = window.ended();
    assert!(text.contains(" icanon") && !text.contains("-icanon") && !text.contains("-opost"), "{text}");
}

/// Runs a program of this package in a terminal of 80 columns.
fn in_terminal(sandbox: &Sandbox, arguments: &[&str], environment: &[(&str, &str)]) -> Window {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Window::with(sandbox, 80, env!("CARGO_BIN_EXE_tidings"), &arguments, environment)
}

#[test]
fn c31_a_dumb_terminal_gets_no_escape_sequences() {
    let sandbox = Sandbox::playing(ASKS);
    let arguments = sandbox.arguments(&["clean up", "--on-ask", "deny"]);
    let environment = [("TERM", "dumb"), ("NO_COLOR", "1")];
    let mut window = Window::with(&sandbox, 80, env!("CARGO_BIN_EXE_tidings"), &arguments, &environment);
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("It stays."), "{text}");
    assert!(!window.bytes().contains('\x1b'), "{:?}", window.bytes());
}

/// A session file with a long conversation, in which one answer has a word that no other has.
fn long_session(sandbox: &Sandbox) {
    let folder = sandbox.path("config/projects/-home-dev-demo");
    std::fs::create_dir_all(&folder).unwrap();
    let mut lines = String::new();
    for number in 0..200 {
        let parent = if number == 0 { "null".to_owned() } else { format!("\"u{}\"", number - 1) };
        let text = if number == 150 { "the zebrafinch sings" } else { "nothing of interest" };
        let line = format!(
            r#"{{"type":"user","uuid":"u{number}","parentUuid":{parent},"cwd":"/home/dev/demo","message":{{"role":"user","content":"{number}: {text}"}}}}"#
        );
        lines.push_str(&line);
        lines.push('\n');
    }
    std::fs::write(folder.join("aaaaaaaa-2222-4333-8444-555555555555.jsonl"), lines).unwrap();
}

#[test]
fn long_output_goes_through_a_pager_that_can_be_turned_off() {
    let sandbox = Sandbox::playing(ASKS);
    long_session(&sandbox);
    let show = ["sessions", "show", "aaaaaaaa"];
    let pager = "cat; echo PAGED; echo ENDED; true";
    let mut window = in_terminal(&sandbox, &show, &[("TIDINGS_PAGER", pager), ("PAGER", "false")]);
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("PAGED") && text.contains("199: nothing") && text.contains("ENDED"), "{text}");
    // A user who leaves the pager early makes no error.
    let mut window = in_terminal(&sandbox, &show, &[("PAGER", "head -n 3; true")]);
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains("199: nothing") && !text.contains("error"), "{text}");
    let off =
        [(Some("--no-pager"), ("LESS", "FRX")), (None, ("TERM", "dumb")), (None, ("TIDINGS_PAGER", ""))];
    for (more, setting) in off {
        let arguments: Vec<&str> = show.iter().copied().chain(more).collect();
        let environment = [("PAGER", "echo PAGED; true"), setting];
        let mut window = in_terminal(&sandbox, &arguments, &environment);
        let (code, text) = window.ended();
        assert_eq!(code, 0, "{text}");
        assert!(!text.contains("PAGED") && text.contains("199: nothing"), "{text}");
    }
}

#[test]
fn c25_a_session_that_was_found_opens_at_its_hit() {
    let sandbox = Sandbox::playing(ASKS);
    long_session(&sandbox);
    let search = ["sessions", "search", "zebrafinch", "--open"];
    // `less` gets the place; here it is another program of that name.
    let less = sandbox.path("less");
    std::fs::write(&less, "#!/bin/sh\necho \"ARGS $*\"; grep -A 3 'Found in line 151:'\n").unwrap();
    std::fs::set_permissions(&less, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut window = in_terminal(&sandbox, &search, &[("PAGER", less.to_str().unwrap())]);
    window.wait_for("the zebrafinch sings");
    window.press(ENTER);
    let (code, text) = window.ended();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("ARGS +/Found in line 151:"), "{text}");
    let after = text.split("▶ Found in line 151:").nth(1).unwrap();
    assert!(after.contains("150: the zebrafinch sings"), "{text}");
}
