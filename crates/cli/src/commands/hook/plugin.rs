//! Content of the plugin folder.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Name of the plugin and of its folder.
pub(super) const NAME: &str = "tidings";

/// Author in the manifest. Together with the name it marks a folder as ours.
const AUTHOR: &str = "The Tidings authors";

/// Time limits that Claude Code enforces.
const TIMEOUT_S: u32 = 5;
const PERMISSION_TIMEOUT_S: u32 = 24 * 60 * 60;

/// Events that the plugin subscribes to.
const EVENTS: [(&str, u32); 13] = [
    ("SessionStart", TIMEOUT_S),
    ("SessionEnd", TIMEOUT_S),
    ("UserPromptSubmit", TIMEOUT_S),
    ("PreToolUse", TIMEOUT_S),
    ("PermissionRequest", PERMISSION_TIMEOUT_S),
    ("PostToolUse", TIMEOUT_S),
    ("PostToolUseFailure", TIMEOUT_S),
    ("PermissionDenied", TIMEOUT_S),
    ("Notification", TIMEOUT_S),
    ("Stop", TIMEOUT_S),
    ("StopFailure", TIMEOUT_S),
    ("SubagentStart", TIMEOUT_S),
    ("SubagentStop", TIMEOUT_S),
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

    /// Reads the program of the first event back.
    pub(super) fn parse(hooks: &str) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_str(hooks).ok()?;
        let (event, _) = EVENTS.first()?;
        let hook = value.get("hooks")?.get(event)?.get(0)?.get("hooks")?.get(0)?;
        let string = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let data = hook.get("args").and_then(|args| args.get(4)).and_then(string);
        Some(HookProgram { program: string(hook.get("command")?)?, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_plugin_subscribes_to_events_that_exist() {
        for (event, _) in EVENTS {
            assert!(tidings_protocol::hooks::HookEvent::KNOWN.contains(&event), "{event}");
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
    fn the_plugin_in_the_repository_is_the_installed_one() {
        let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin");
        let read = |path: &str| std::fs::read_to_string(format!("{plugin}/{path}")).unwrap();
        assert_eq!(read(".claude-plugin/plugin.json"), Manifest::text());
        let on_path = HookProgram { program: NAME.to_owned(), data: None };
        assert_eq!(read("hooks/hooks.json"), on_path.hooks());
    }
}
