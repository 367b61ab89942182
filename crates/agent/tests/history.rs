//! A session from its files is the session that was seen live.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod support;

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

/// Takes away what files are known to tell in another way.
fn normalise(name: &str, seen: &mut Conversation, read: &mut Conversation) {
    for words in read.agents.values_mut() {
        // The agent keeps the words of sub-agents in the foreground to itself, and writes them down.
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
        // A command with two names is written down under the first.
        if turn.prompt == "/cost" {
            "/usage".clone_into(&mut turn.prompt);
        }
        // Limits are told by results, which files have not.
        turn.errors.retain(|error| !error.starts_with("Reached maximum"));
    }
    for turn in &mut read.turns {
        // What a command printed is escaped between its tags.
        for text in &mut turn.displayed {
            *text = text.replace("&lt;", "<").replace("&gt;", ">");
        }
    }
    if name == "set-model-mode" {
        // A model that the host sets is written down as a command, and live only its output is seen.
        read.turns.retain(|turn| !turn.prompt.starts_with("/model"));
        for turn in &mut seen.turns {
            turn.displayed.clear();
        }
    }
}
