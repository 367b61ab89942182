//! An independent parser splits commands in the same way, for all commands that ours understands.

use tidings_agent::permissions::{Role, Script};
use tree_sitter::{Node, Parser};

use crate::shapes::tables::{EVERYDAY, HOSTILE};

/// The commands in a text with their words, by tree-sitter's grammar of bash; `None` if it finds an error.
fn split_by_tree_sitter(text: &str) -> Option<Vec<Vec<String>>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("the grammar fits the library");
    let tree = parser.parse(text, None).expect("a language is set and no limit");
    if tree.root_node().has_error() {
        return None;
    }
    let mut commands = Vec::new();
    collect(tree.root_node(), text, &mut commands);
    Some(commands)
}

fn collect(node: Node<'_>, text: &str, commands: &mut Vec<Vec<String>>) {
    if node.kind() == "command" {
        let mut cursor = node.walk();
        let words = node.named_children(&mut cursor).filter(|child| {
            !matches!(
                child.kind(),
                "variable_assignment" | "file_redirect" | "heredoc_redirect" | "herestring_redirect"
            )
        });
        commands.push(words.map(|word| unquoted(word, text)).collect());
    }
    // They have their own nodes, whose words need no unquoting here.
    if matches!(node.kind(), "test_command" | "declaration_command") {
        let source = &text[node.byte_range()];
        commands.push(source.split_whitespace().map(str::to_owned).collect());
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        collect(child, text, commands);
    }
}

/// The text of a word after the shell has removed its quotes.
fn unquoted(node: Node<'_>, text: &str) -> String {
    let source = &text[node.byte_range()];
    match node.kind() {
        "raw_string" => source[1..source.len() - 1].to_owned(),
        "string" => without_backslashes(&source[1..source.len() - 1], Some("$`\"\\\n")),
        "concatenation" | "command_name" => {
            let mut joined = String::new();
            let mut at = node.start_byte();
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                joined.push_str(&without_backslashes(&text[at..child.start_byte()], None));
                joined.push_str(&unquoted(child, text));
                at = child.end_byte();
            }
            joined.push_str(&without_backslashes(&text[at..node.end_byte()], None));
            joined
        }
        _ => without_backslashes(source, None),
    }
}

/// The text without backslashes that quote a character; only those before characters in `only`, if given.
fn without_backslashes(source: &str, only: Option<&str>) -> String {
    let mut plain = String::new();
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('\n') | None => {}
            Some(next) if only.is_none_or(|only| only.contains(next)) => plain.push(next),
            Some(next) => plain.extend(['\\', next]),
        }
    }
    plain
}

#[test]
fn k3_a_second_parser_splits_commands_in_the_same_way() {
    let mut compared = 0;
    let mut different = Vec::new();
    let spellings = |command: &&str| {
        [
            (*command).to_owned(),
            format!("ls -l; {command}"),
            format!("{command} && echo 'a; rm b' \"c\"|cat"),
            format!("( {command} )\ntrue"),
        ]
    };
    for text in HOSTILE.iter().chain(EVERYDAY).flat_map(spellings) {
        let script = Script::parse(&text);
        // A command that is not known before it runs is never allowed, however it is split.
        if script.is_opaque() {
            continue;
        }
        let Some(theirs) = split_by_tree_sitter(&text) else {
            continue;
        };
        let ours: Vec<Vec<String>> = script
            .commands()
            .iter()
            .filter(|command| command.role != Role::Inner && !command.words.is_empty())
            .map(|command| command.words.iter().map(|word| word.text.clone()).collect())
            .collect();
        compared += 1;
        if ours != theirs {
            different.push(format!("{text:?}: ours {ours:?}, theirs {theirs:?}"));
        }
    }
    assert!(different.is_empty(), "{} of {compared}: {different:#?}", different.len());
    assert!(compared > 2_000, "{compared}");
}
