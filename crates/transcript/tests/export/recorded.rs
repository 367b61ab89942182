//! Exports of recordings of the real CLI.

use tidings_transcript::export::{Branches, Format, Options};
use tidings_transcript::session::View;

use super::{balance, body, fixture, full, only_session, text, without_agents, write};

const RECORDED: &[&str] = &["agent", "branch", "compact", "edit", "picture"];

#[test]
fn text_shows_who_said_what_and_tools_in_one_line_each() {
    for name in RECORDED {
        let files = only_session(&fixture(name));
        insta::assert_snapshot!(format!("{name}_text"), write(&files, text(), &without_agents(), None));
    }
    let files = only_session(&fixture("agent"));
    insta::assert_snapshot!("agent_text_full", write(&files, text(), &full(), None));
}

#[test]
fn markdown_has_a_heading_per_turn_and_folds_tools() {
    for name in RECORDED {
        let files = only_session(&fixture(name));
        let options = Options { branches: Branches::All, ..Options::default() };
        insta::assert_snapshot!(format!("{name}_markdown"), write(&files, Format::Markdown, &options, None));
    }
}

#[test]
fn html_nests_sub_agents_and_branches() {
    for name in ["agent", "branch"] {
        let files = only_session(&fixture(name));
        let options = Options { branches: Branches::All, ..Options::default() };
        insta::assert_snapshot!(format!("{name}_html"), body(&write(&files, Format::Html, &options, None)));
    }
}

#[test]
fn html_is_balanced_and_holds_nothing_foreign() {
    for name in RECORDED {
        let files = only_session(&fixture(name));
        for options in [Options::default(), full()] {
            let page = write(&files, Format::Html, &options, None);
            assert_eq!(balance::complaints(&page), Vec::<String>::new(), "{name}");
            assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:;"));
        }
    }
}

#[test]
fn s1_19_json_names_actor_and_flow_of_each_entry() {
    let files = only_session(&fixture("agent"));
    let lines = write(&files, Format::JsonLines, &Options::default(), None);
    let mut shown = String::new();
    for line in lines.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        if entry["part"] != "attachment" {
            let word = |key: &str| entry[key].as_str().unwrap().to_owned();
            let words = [word("lane"), word("actor"), word("flow"), word("text")];
            shown += &words.join(" | ");
            shown += "\n";
        }
    }
    insta::assert_snapshot!("agent_actors", shown);
    insta::assert_snapshot!("agent_json_first", lines.lines().next().unwrap());
}

#[test]
fn s1_50_the_json_document_says_what_the_session_holds() {
    for name in ["agent", "branch", "compact"] {
        let files = only_session(&fixture(name));
        let document = write(&files, Format::Json, &full(), None);
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        insta::assert_snapshot!(
            format!("{name}_json_head"),
            ["session", "branches", "agents", "compactions"]
                .map(|key| format!("{key}: {}\n", sorted(&document[key])))
                .concat()
        );
        assert!(document["entries"].as_array().unwrap().len() > 3);
    }
}

/// Keys in alphabetical order, whatever features the build has.
fn sorted(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(members) => {
            let mut members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key}={}", sorted(value))).collect();
            members.sort();
            format!("{{{}}}", members.join(" "))
        }
        serde_json::Value::Array(items) => {
            format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[test]
fn the_lines_are_written_byte_for_byte() {
    let files = only_session(&fixture("agent"));
    let main = std::fs::read_to_string(&files.main.as_ref().unwrap().path).unwrap();
    assert_eq!(write(&files, Format::Lines, &Options::default(), None), main);
    let agent = std::fs::read_to_string(&files.agents[0].file.path).unwrap();
    assert_eq!(write(&files, Format::Lines, &full(), None), main + &agent);
}

// A viewer that continued from the wrong side of a compaction showed a conversation that the model had never
// seen.
#[test]
fn f91_a_compaction_is_a_rule_and_both_of_its_sides_can_be_shown() {
    let files = only_session(&fixture("compact"));
    let people = write(&files, text(), &Options::default(), None);
    assert!(people.contains("Compacted (manual): 9,682 → 2,664 tokens"));
    assert!(people.find("read util").unwrap() < people.find("Compacted").unwrap());
    let model = write(&files, text(), &Options { view: View::Model, ..Options::default() }, None);
    assert!(model.contains("After compaction."));
    assert!(!model[model.find("Compacted").unwrap_or(0)..].contains("\nread util\n"));
}

#[test]
fn s1_47_slash_commands_are_shown_as_commands() {
    let files = only_session(&fixture("compact"));
    for format in [text(), Format::Markdown, Format::Html] {
        let shown = write(&files, format, &Options::default(), None);
        assert!(shown.contains("/compact focus on util"), "{shown}");
        assert!(!shown.contains("command-name") && !shown.contains("local-command"), "{shown}");
    }
}

// The CLI stores a tool's output twice in one line: as the model received it, and for itself.
#[test]
fn f89_an_output_is_shown_once() {
    let files = only_session(&fixture("compact"));
    for format in [Format::Markdown, Format::Html] {
        let shown = write(&files, format, &Options::default(), None);
        assert_eq!(shown.matches("def greet").count(), 1, "{shown}");
    }
}
