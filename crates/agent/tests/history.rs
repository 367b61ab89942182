//! A session from its files gives the same conversation as live.

use crate::support;

use tidings_agent::history::Conversation;

use support::{fixtures, from_files, live};

#[test]
fn files_tell_the_conversation_that_was_seen_live() {
    let mut wrong = Vec::new();
    for (name, _) in fixtures() {
        let (mut seen, mut read) = (Conversation::of(&live(&name)), Conversation::of(&from_files(&name)));
        normalise(&name, &mut seen, &mut read);
        if seen != read {
            wrong.push(format!("== {name}\nlive  {seen:#?}\nfiles {read:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Removes known differences between files and live sessions.
fn normalise(name: &str, seen: &mut Conversation, read: &mut Conversation) {
    for words in read.agents.values_mut() {
        // The agent does not forward the reasoning of foreground sub-agents, but stores it.
        words.thinking.clear();
    }
    for (id, words) in &mut seen.agents {
        if let Some(read) = read.agents.get_mut(id)
            && read.text.ends_with(&words.text)
        {
            words.text.clone_from(&read.text);
        }
    }
    for turn in &mut seen.turns {
        // A command with two names is stored under the first.
        if turn.prompt == "/cost" {
            "/usage".clone_into(&mut turn.prompt);
        }
        // Limits are reported by result frames, which files do not have.
        turn.errors.retain(|error| !error.starts_with("Reached maximum"));
    }
    for turn in &mut read.turns {
        // The output of a command is escaped between its tags.
        for text in &mut turn.displayed {
            *text = text.replace("&lt;", "<").replace("&gt;", ">");
        }
    }
    if name == "set-model-mode" {
        // A model that the host sets is stored as a command; live, only its output is seen.
        read.turns.retain(|turn| !turn.prompt.starts_with("/model"));
        for turn in &mut seen.turns {
            turn.displayed.clear();
        }
    }
}
