//! The first prompt of a session: the first text that the user typed.

use memchr::memmem;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::details::is_set;

/// Longer prompts are cut.
const PROMPT_CHARS_MAX: usize = 200;

/// A prompt as a session's display name: in one line, and cut to 200 characters. `None` if it has no text, or
/// if a client or a hook wrote it.
pub fn prompt_line(text: &str) -> Option<String> {
    let line = text.replace('\n', " ");
    let line = line.trim_matches(is_space);
    if line.is_empty() || is_automatic(line) {
        return None;
    }
    Some(match line.char_indices().nth(PROMPT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line[..end].trim_end_matches(is_space)),
        None => line.to_owned(),
    })
}

/// The first prompt in whole lines, or else the name of the first slash command.
pub(super) fn first_prompt(head: &[u8]) -> Option<String> {
    let mut search = Search::default();
    head.split(|byte| *byte == b'\n').find_map(|line| search.line(line)).or(search.command)
}

/// Examines lines one by one.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// The first slash command, used if there is no prompt.
    pub(super) command: Option<String>,
}

impl Search {
    /// The prompt on a line, if it has the first one.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<String> {
        let has = |what: &str| memmem::find(line, what.as_bytes()).is_some();
        if !has("\"user\"") || has("\"tool_result\"") || NOT_TYPED.iter().any(|mark| is_set(line, mark)) {
            return None;
        }
        let entry = EntryRef::decode(line).ok().filter(|entry| entry.kind() == EntryKind::User)?;
        self.entry(&entry)
    }

    /// The prompt of a user entry, if it was typed.
    pub(super) fn entry(&mut self, entry: &EntryRef<'_>) -> Option<String> {
        texts(entry).iter().find_map(|text| self.text(text))
    }

    fn text(&mut self, text: &str) -> Option<String> {
        let Some(name) = between(text, "<command-name>", "</command-name>") else { return prompt_line(text) };
        if !name.is_empty() {
            self.command.get_or_insert_with(|| name.replace('\n', " "));
        }
        None
    }
}

/// The texts of an entry, block by block; a string is one block, and so is the whole message in the flat
/// dialect.
fn texts(entry: &EntryRef<'_>) -> Vec<String> {
    let Some(message) = entry.get("message") else { return Vec::new() };
    if let Some(text) = message.text() {
        return vec![text.get().into_owned()];
    }
    let Some(content) = message.get("content") else { return Vec::new() };
    if let Some(text) = content.text() {
        return vec![text.get().into_owned()];
    }
    let text_of = |block: Raw<'_>| {
        block.get("type").and_then(Raw::text).filter(|kind| *kind == "text")?;
        block.get("text").and_then(Raw::text).map(|text: Text<'_>| text.get().into_owned())
    };
    content.items().filter_map(text_of).collect()
}

/// Flags that are never true for a prompt.
const NOT_TYPED: [&str; 2] = ["\"isMeta\"", "\"isCompactSummary\""];

/// Returns true for text that clients and hooks write in place of a prompt.
fn is_automatic(line: &str) -> bool {
    const BEGINNINGS: [&str; 4] = ["<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>"];
    BEGINNINGS.iter().any(|tag| line.starts_with(tag))
        || line.strip_prefix("[Request interrupted by user").is_some_and(|rest| rest.contains(']'))
        || is_only(line, "<ide_opened_file>", "</ide_opened_file>")
        || is_only(line, "<ide_selection>", "</ide_selection>")
}

fn is_only(line: &str, open: &str, close: &str) -> bool {
    line.strip_prefix(open).is_some_and(|rest| rest.ends_with(close))
}

fn between<'a>(line: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = line.find(open)? + open.len();
    line[start..].find(close).map(|len| &line[start..start + len])
}

/// White space as defined by Python, including the four ASCII separators.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(content: &str) -> String {
        format!(r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":{content}}}}}"#)
    }

    fn check(lines: &[String], expected: Option<&str>) {
        let head = lines.join("\n");
        assert_eq!(first_prompt(head.as_bytes()).as_deref(), expected, "{head}");
    }

    #[test]
    fn the_first_thing_that_a_person_typed_is_found() {
        let skipped = [
            user(r#""<local-command-stdout>ok</local-command-stdout>""#),
            user(r#""<session-start-hook>x""#),
            user(r#""<tick>""#),
            user(r#""<goal>x</goal>""#),
            user(r#""[Request interrupted by user]""#),
            user(r#""[Request interrupted by user for tool use] more""#),
            user(r#"" <ide_opened_file>a.rs</ide_opened_file> ""#),
            user(r#""<ide_selection>fn main\n()</ide_selection>""#),
            user(r#""  \n\t ""#),
            user(r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#),
            user(r#"[{"type":"image","source":{}}]"#),
            user(r#""meta""#).replace("\"uuid\"", "\"isMeta\":true,\"uuid\""),
            user(r#""summary""#).replace("\"uuid\"", "\"isCompactSummary\": true,\"uuid\""),
            r#"{"type":"assistant","message":{"role":"assistant","content":"no"}}"#.to_owned(),
            r#"{"type":"queue-operation","content":{"type":"user"}}"#.to_owned(),
            r#"{"type":"user","message":{"role":"user","content":"cut off"#.to_owned(),
            "not json".to_owned(),
        ];
        for line in &skipped {
            check(std::slice::from_ref(line), None);
            check(&[line.clone(), user(r#""Hello""#)], Some("Hello"));
        }
        for (content, expected) in [
            (r#""Fix\nit ""#, "Fix it"),
            (r#"[{"type":"image"},{"type":"text","text":" see this "}]"#, "see this"),
            (r#"[{"type":"text","text":"<tick>"},{"type":"text","text":"second"}]"#, "second"),
            (r#""[Request interrupted by user""#, "[Request interrupted by user"),
            (r#""<ide_selection>x</ide_selection> explain""#, "<ide_selection>x</ide_selection> explain"),
            (r#""<ide_selection>""#, "<ide_selection>"),
            (r#""half \ud83d""#, "half \u{fffd}"),
        ] {
            check(&[user(content)], Some(expected));
        }
    }

    #[test]
    fn a_slash_command_counts_when_nothing_else_does() {
        let command = user(r#""<command-message>x</command-message> <command-name>/init</command-name>""#);
        let other = user(r#""<command-name>/clear</command-name>""#);
        let empty = user(r#""<command-name></command-name>""#);
        check(std::slice::from_ref(&empty), None);
        check(&[empty, command.clone(), other], Some("/init"));
        check(&[command, user(r#""Hello""#)], Some("Hello"));
    }

    #[test]
    fn long_prompts_are_cut_after_200_characters() {
        check(&[user(&format!("\"{}\"", "ü".repeat(200)))], Some(&"ü".repeat(200)));
        check(&[user(&format!("\"{} {}\"", "ü".repeat(199), "x"))], Some(&format!("{}…", "ü".repeat(199))));
    }
}
