//! A session from its files gives the same conversation as live.

use crate::support;

use tidings_agent::history::Conversation;
use tidings_protocol::ui::{SubAgentOutcome, UiMessage};

use support::{fixtures, from_files, live};

/// The notification about it is in the file.
#[test]
fn p43_a_background_agent_that_has_finished_is_finished_in_its_file_too() {
    let ends = |events: Vec<UiMessage>| -> Vec<(String, SubAgentOutcome, Option<u64>)> {
        let end = |event| match event {
            UiMessage::SubAgentEnded(ended) => Some((ended.agent_id, ended.outcome, ended.tokens)),
            _ => None,
        };
        events.into_iter().filter_map(end).collect()
    };
    let read = ends(from_files("agent-background"));
    assert_eq!(read, ends(live("agent-background")));
    assert!(matches!(&read[..], [(_, SubAgentOutcome::Completed, Some(_))]), "{read:?}");
}

/// The CLI tells the model where it keeps a copy; the prompt has the picture itself.
#[test]
fn p43_a_picture_in_a_file_stays_a_picture_and_names_no_internal_path() {
    let prompts = from_files("image-input").into_iter().filter_map(|event| match event {
        UiMessage::UserPrompt(prompt) => Some(prompt),
        _ => None,
    });
    let prompts: Vec<_> = prompts.collect();
    assert!(prompts.iter().any(|prompt| prompt.attachments == ["image"]), "{prompts:?}");
    assert!(prompts.iter().all(|prompt| prompt.origin.is_none()), "{prompts:?}");
}

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
