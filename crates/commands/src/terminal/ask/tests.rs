//! Tests of requests in the terminal: keys, several requests at once, and their lines.

use serde_json::json;

use super::*;

fn bash() -> PermissionAsk {
    PermissionAsk {
        tool: "Bash".to_owned(),
        input: json!({"command": "rm -rf build\u{202e}\necho\u{a0}done", "note": "one\ntwo", "timeout": 5}),
        description: "Run the command `rm -rf build`".to_owned(),
        path: Some("/home/ada/build".to_owned()),
        reason: Some("it is not on the list".to_owned()),
        rules: vec!["Bash(rm:*)".to_owned()],
        ..PermissionAsk::default()
    }
}

fn questions() -> QuestionsAsk {
    let choice =
        |label: &str| Choice { label: label.to_owned(), description: Some("so".to_owned()), preview: None };
    QuestionsAsk {
        questions: vec![
            QuestionAsk {
                text: "Which colour?".to_owned(),
                options: vec![choice("red"), choice("blue")],
                ..QuestionAsk::default()
            },
            QuestionAsk {
                text: "Which sizes?".to_owned(),
                options: vec![choice("S"), choice("M"), choice("L")],
                selection: Selection::Any,
                required: true,
            },
            QuestionAsk { text: "Anything else?".to_owned(), required: true, ..QuestionAsk::default() },
        ],
        ..QuestionsAsk::default()
    }
}

/// Types keys: letters are themselves, `⏎` is Enter, `⌫` Backspace, `⎋` Escape, `⇥` Tab.
fn typed(asks: &mut PendingRequests, keys: &str) -> Vec<(String, Reply)> {
    let mut replies = Vec::new();
    for c in keys.chars() {
        let key = match c {
            '⏎' => Key::Enter,
            '⌫' => Key::Backspace,
            '⎋' => Key::Escape,
            '⇥' => Key::Tab,
            c => Key::Char(c),
        };
        replies.extend(asks.key(&key).map(|(id, _, reply)| (id, reply)));
    }
    replies
}

#[test]
fn a_permission_is_given_by_letters_and_never_by_enter() {
    for (keys, reply) in [
        ("y", Reply::Allow(PermissionScope::Once)),
        ("s", Reply::Allow(PermissionScope::Session)),
        ("a", Reply::Allow(PermissionScope::Always)),
        ("n", Reply::Deny(None)),
        ("⏎ ⏎⇥⎋Yqn", Reply::Deny(None)),
        ("e⏎not x⌫yet⏎", Reply::Deny(Some("not yet".to_owned()))),
        ("ey⎋y", Reply::Allow(PermissionScope::Once)),
    ] {
        let mut asks = PendingRequests::default();
        assert!(asks.open("1", PendingRequest::Permission(bash())));
        assert!(!asks.open("1", PendingRequest::Permission(bash())), "asked once");
        assert_eq!(typed(&mut asks, keys), [("1".to_owned(), reply)], "{keys}");
        assert!(asks.is_empty());
    }
    let mut asks = PendingRequests::default();
    let without_rules = PermissionAsk { rules: Vec::new(), ..bash() };
    asks.open("1", PendingRequest::Permission(without_rules));
    assert_eq!(typed(&mut asks, "a⏎"), [], "a key that is not offered has no effect");
}

#[test]
fn pending_requests_are_numbered_and_one_is_in_front() {
    let mut asks = PendingRequests::default();
    for id in ["1", "2", "3"] {
        asks.open(id, PendingRequest::Permission(bash()));
    }
    assert_eq!(asks.lines(80)[0].text(), "Request 1 of 3  [Tab] next");
    assert_eq!(typed(&mut asks, "⇥y"), [("2".to_owned(), Reply::Allow(PermissionScope::Once))]);
    asks.close("1");
    assert_eq!(typed(&mut asks, "n"), [("3".to_owned(), Reply::Deny(None))]);
    assert_eq!(asks.lines(80), []);
}

#[test]
fn questions_take_digits_several_choices_and_words() {
    for (keys, expected) in [
        ("213⏎end⏎", Some(vec![vec!["blue"], vec!["S", "L"], vec!["end"]])),
        ("⏎9o⏎green⏎122⏎ok⏎", Some(vec![vec!["green"], vec!["S"], vec!["ok"]])),
        ("12oXL⏎⏎no⏎", Some(vec![vec!["red"], vec!["M", "XL"], vec!["no"]])),
        ("1⏎2⏎⎋", None),
        ("x", None),
    ] {
        let mut asks = PendingRequests::default();
        asks.open("q", PendingRequest::Questions(questions()));
        let reply = match expected {
            Some(answers) => Reply::Answers(
                answers.into_iter().map(|answer| answer.into_iter().map(str::to_owned).collect()).collect(),
            ),
            None => Reply::Declined,
        };
        assert_eq!(typed(&mut asks, keys), [("q".to_owned(), reply)], "{keys}");
    }
}

#[test]
fn questions_look_calm() {
    let mut shown = String::new();
    let mut show = |lines: Vec<Line>| {
        for line in lines {
            shown += &(line.text() + "\n");
        }
        shown += "----\n";
    };
    for columns in [80, 40] {
        let mut asks = PendingRequests::default();
        show(bash().introduction(columns));
        asks.open("1", PendingRequest::Permission(bash()));
        show(asks.lines(columns));
        typed(&mut asks, "eno");
        show(asks.lines(columns));
        show(vec![
            bash().settled(&Reply::Allow(PermissionScope::Always)),
            bash().settled(&Reply::Deny(Some("no".to_owned()))),
        ]);
        let mut asks = PendingRequests::default();
        asks.open("q", PendingRequest::Questions(questions()));
        show(asks.lines(columns));
        typed(&mut asks, "12");
        show(asks.lines(columns));
        typed(&mut asks, "⏎");
        show(asks.lines(columns));
    }
    let edit = PermissionAsk {
        tool: "Edit".to_owned(),
        input: json!({"file_path": "/home/ada/a.py", "old_string": "a\nb", "new_string": "a\nc", "replace_all": true}),
        description: "Change the file `a.py`".to_owned(),
        agent: Some("Explore".to_owned()),
        ..PermissionAsk::default()
    };
    show(edit.introduction(60));
    let plan = PermissionAsk { tool: "ExitPlanMode".to_owned(), ..PermissionAsk::default() };
    show(plan.introduction(60));
    show(plan.lines(60, false));
    insta::assert_snapshot!(shown);
}
