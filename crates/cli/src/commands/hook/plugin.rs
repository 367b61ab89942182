//! Content of the plugin folder.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tidings_protocol::hooks::HookEvent;

/// Name of the plugin and of its folder.
pub(super) const NAME: &str = "tidings";

/// Author in the manifest. Together with the name it marks a folder as ours.
const AUTHOR: &str = "The Tidings authors";

/// Time limits that Claude Code enforces.
const TIMEOUT_S: u32 = 5;
const PERMISSION_TIMEOUT_S: u32 = 24 * 60 * 60;

/// Events that the plugin subscribes to. `make generate` writes them into `plugin/hooks/hooks.json`.
static EVENTS: &[(HookEvent, u32)] = &[
    (HookEvent::SESSION_START, TIMEOUT_S),
    (HookEvent::SESSION_END, TIMEOUT_S),
    (HookEvent::USER_PROMPT_SUBMIT, TIMEOUT_S),
    (HookEvent::PRE_TOOL_USE, TIMEOUT_S),
    (HookEvent::PERMISSION_REQUEST, PERMISSION_TIMEOUT_S),
    (HookEvent::POST_TOOL_USE, TIMEOUT_S),
    (HookEvent::POST_TOOL_USE_FAILURE, TIMEOUT_S),
    (HookEvent::PERMISSION_DENIED, TIMEOUT_S),
    (HookEvent::NOTIFICATION, TIMEOUT_S),
    (HookEvent::STOP, TIMEOUT_S),
    (HookEvent::STOP_FAILURE, TIMEOUT_S),
    (HookEvent::SUBAGENT_START, TIMEOUT_S),
    (HookEvent::SUBAGENT_STOP, TIMEOUT_S),
];

/// The manifest, `plugin.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    name: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    description: String,
    author: Author,
}

#[derive(Debug, Serialize, Deserialize)]
struct Author {
    name: String,
}

/// The command of a hook, as stored in `hooks.json`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HookProgram {
    pub(super) program: String,
    pub(super) data: Option<String>,
}

impl Manifest {
    pub(super) fn text() -> String {
        let manifest = Manifest {
            name: NAME.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: "Shows this machine's Claude Code sessions in a Tidings server".to_owned(),
            author: Author { name: AUTHOR.to_owned() },
        };
        // Strings always encode.
        let mut text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Parses a manifest; none if it is not one of ours.
    pub(super) fn parse_own(text: &str) -> Option<Self> {
        let manifest: Manifest = serde_json::from_str(text).ok()?;
        (manifest.name == NAME && manifest.author.name == AUTHOR).then_some(manifest)
    }
}

impl HookProgram {
    /// Text of `hooks.json`. The hooks are in exec form, which needs no shell and no quoting.
    pub(super) fn hooks(&self) -> String {
        let string = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let command = string(&self.program);
        let data = self.data.as_ref().map(|data| format!(", \"--data\", {}", string(data)));
        let data = data.unwrap_or_default();
        let mut text = String::from("{\n  \"hooks\": {\n");
        for (at, (event, timeout_s)) in EVENTS.iter().enumerate() {
            let comma = if at + 1 < EVENTS.len() { "," } else { "" };
            // Writing into a String cannot fail.
            let _ = write!(
                text,
                "    \"{event}\": [\n      {{\n        \"hooks\": [\n          {{\n            \
                 \"type\": \"command\",\n            \"command\": {command},\n            \
                 \"args\": [\"hook\", \"run\", \"{event}\"{data}],\n            \
                 \"timeout\": {timeout_s}\n          }}\n        ]\n      }}\n    ]{comma}\n"
            );
        }
        text.push_str("  }\n}\n");
        text
    }

    /// The hooks as entries of settings: for each event, a group with one command. Earlier versions of Claude
    /// Code run commands in a shell only. The program takes the place of the shell, so that its parent is
    /// Claude Code.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'static str, Box<RawValue>)> {
        let data = self.data.as_ref().map(|data| format!(" --data {}", shell_word(data)));
        let (program, data) = (shell_word(&self.program), data.unwrap_or_default());
        EVENTS.iter().filter_map(move |(event, timeout_s)| {
            let command = format!("exec {program} hook run {event}{data}");
            let hook = json!({"type": "command", "command": command, "timeout": timeout_s});
            Some((event.as_str(), to_raw_value(&json!({"hooks": [hook]})).ok()?))
        })
    }

    /// Reads the program of the first event back.
    pub(super) fn parse(hooks: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(hooks).ok()?;
        let (event, _) = EVENTS.first()?;
        let hook = value.get("hooks")?.get(event.as_str())?.get(0)?.get("hooks")?.get(0)?;
        let string = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let data = hook.get("args").and_then(|args| args.get(4)).and_then(string);
        Some(HookProgram { program: string(hook.get("command")?)?, data })
    }
}

/// A text as one word of a shell.
fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::is_current;

    #[test]
    fn a_shell_runs_the_entries_as_they_are_meant() {
        let odd = "/srv/a b\n'c' $(d) \"e\"";
        let program = HookProgram { program: "printf".to_owned(), data: Some(odd.to_owned()) };
        let (event, group) = program.entries().next().unwrap();
        let group: serde_json::Value = serde_json::from_str(group.get()).unwrap();
        let command = group["hooks"][0]["command"].as_str().unwrap().replace(" hook ", " '<%s>' hook ");
        let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed, format!("<hook><run><{event}><--data><{odd}>"));
    }

    #[test]
    fn programs_with_odd_names_are_read_back() {
        for data in [None, Some("/srv/a b\n\"c\"".to_owned())] {
            let program = HookProgram { program: "/opt/\"a\" \\ b$(c)/tidings".to_owned(), data };
            let hooks = program.hooks();
            assert_eq!(HookProgram::parse(&hooks).unwrap(), program);
            let value: serde_json::Value = serde_json::from_str(&hooks).unwrap();
            assert_eq!(value["hooks"].as_object().unwrap().len(), EVENTS.len());
        }
    }

    #[test]
    fn manifests_of_others_are_not_ours() {
        assert!(Manifest::parse_own(&Manifest::text()).is_some());
        for text in ["", "{}", r#"{"name":"tidings"}"#, r#"{"name":"tidings","author":{"name":"Ada"}}"#] {
            assert!(Manifest::parse_own(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_files_of_the_plugin_are_current() {
        is_current("plugin/.claude-plugin/plugin.json", &Manifest::text());
        let on_path = HookProgram { program: NAME.to_owned(), data: None };
        is_current("plugin/hooks/hooks.json", &on_path.hooks());
    }
}
