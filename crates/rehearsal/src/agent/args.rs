//! The flags of `claude`. // tidy: flat table

use std::collections::BTreeMap;

/// Number of values of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Optional,
    Many,
}

use Takes::{Many, Nothing, One, Optional};

/// Every flag that known hosts pass, with the key under which it is stored.
const FLAGS: &[(&str, &[&str], Takes)] = &[
    ("add-dir", &["--add-dir"], Many),
    ("agent", &["--agent"], One),
    ("agents", &["--agents"], One),
    ("allow-skip", &["--allow-dangerously-skip-permissions"], Nothing),
    ("allowed-tools", &["--allowedTools", "--allowed-tools"], Many),
    ("append-subagent-system-prompt", &["--append-subagent-system-prompt"], One),
    ("append-system-prompt", &["--append-system-prompt"], One),
    ("append-system-prompt-file", &["--append-system-prompt-file"], One),
    ("autocompact", &["--autocompact"], One),
    ("await-initialize", &["--await-initialize"], Nothing),
    ("bare", &["--bare"], Nothing),
    ("betas", &["--betas"], Many),
    ("continue", &["--continue", "-c"], Nothing),
    ("debug", &["--debug", "-d"], Optional),
    ("debug-file", &["--debug-file"], One),
    ("disallowed-tools", &["--disallowedTools", "--disallowed-tools"], Many),
    ("effort", &["--effort"], One),
    ("enable-auth-status", &["--enable-auth-status"], Nothing),
    ("exclude-dynamic", &["--exclude-dynamic-system-prompt-sections"], Nothing),
    ("fallback-model", &["--fallback-model"], One),
    ("fork-session", &["--fork-session"], Nothing),
    ("forward-subagent-text", &["--forward-subagent-text"], Nothing),
    ("include-hook-events", &["--include-hook-events"], Nothing),
    ("include-partial-messages", &["--include-partial-messages"], Nothing),
    ("input-format", &["--input-format"], One),
    ("json-schema", &["--json-schema"], One),
    ("managed-settings", &["--managed-settings"], One),
    ("max-budget-usd", &["--max-budget-usd"], One),
    ("max-thinking-tokens", &["--max-thinking-tokens"], One),
    ("max-turns", &["--max-turns"], One),
    ("mcp-config", &["--mcp-config"], Many),
    ("model", &["--model"], One),
    ("name", &["--name", "-n"], One),
    ("no-session-persistence", &["--no-session-persistence"], Nothing),
    ("output-format", &["--output-format"], One),
    ("permission-mode", &["--permission-mode"], One),
    ("permission-prompt-tool", &["--permission-prompt-tool"], One),
    ("permission-prompts", &["--permission-prompts"], One),
    ("plan-mode-instructions", &["--plan-mode-instructions"], One),
    ("plugin-dir", &["--plugin-dir", "--plugin-dir-no-mcp"], One),
    ("print", &["--print", "-p"], Nothing),
    ("project-config-root", &["--project-config-root"], One),
    ("prompt-suggestions", &["--prompt-suggestions"], Nothing),
    ("replay-user-messages", &["--replay-user-messages"], Nothing),
    ("resume", &["--resume", "-r"], Optional),
    ("resume-drops-turn", &["--resume-drops-turn"], One),
    ("resume-session-at", &["--resume-session-at"], One),
    ("session-id", &["--session-id"], One),
    ("session-mirror", &["--session-mirror"], Nothing),
    ("setting-sources", &["--setting-sources"], One),
    ("settings", &["--settings"], One),
    ("skip", &["--dangerously-skip-permissions"], Nothing),
    ("strict-mcp-config", &["--strict-mcp-config"], Nothing),
    ("system-prompt", &["--system-prompt"], One),
    ("system-prompt-file", &["--system-prompt-file"], One),
    ("system-prompt-snapshot", &["--system-prompt-snapshot"], One),
    ("task-budget", &["--task-budget"], One),
    ("thinking", &["--thinking"], One),
    ("thinking-display", &["--thinking-display"], One),
    ("title", &["--title"], One),
    ("tools", &["--tools"], Many),
    ("verbose", &["--verbose"], Nothing),
    ("version", &["--version", "-v"], Nothing),
    ("workload", &["--workload"], One),
];

/// Modes that `--permission-mode` accepts; `manual` is `default` on the wire.
const MODES: &[&str] = &["acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan", "default"];

/// Parsed command line of `claude`.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    flags: BTreeMap<&'static str, Vec<String>>,
    /// Prompt on the command line, if any.
    pub(super) prompt: Option<String>,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Json,
    StreamJson,
}

impl Args {
    /// Parses the command line; the error is the CLI's message on stderr before it exits with 1.
    pub(super) fn parse(words: &[String]) -> Result<Self, String> {
        let mut args = Args::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                continue;
            }
            if !word.starts_with('-') || word == "-" {
                args.prompt = Some(word.clone());
                continue;
            }
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let Some((key, _, takes)) = FLAGS.iter().find(|(_, names, _)| names.contains(&name)) else {
                return Err(format!("error: unknown option '{name}'"));
            };
            let plain = |words: &mut std::iter::Peekable<std::slice::Iter<'_, String>>| {
                words.next_if(|next| !next.starts_with('-')).cloned()
            };
            let values = args.flags.entry(key).or_default();
            match (takes, attached) {
                (Nothing, _) => {}
                (One | Optional | Many, Some(value)) => values.push(value),
                // A value that begins with a dash still belongs to the flag.
                (One, None) => match words.next() {
                    Some(value) => values.push(value.clone()),
                    None => return Err(format!("error: option '{name} <value>' argument missing")),
                },
                (Optional, None) => values.extend(plain(&mut words)),
                (Many, None) => {
                    while let Some(value) = plain(&mut words) {
                        values.push(value);
                    }
                }
            }
        }
        args.check()?;
        Ok(args)
    }

    /// True if the flag was given.
    pub(super) fn has(&self, key: &str) -> bool {
        self.flags.contains_key(key)
    }

    /// The last value of a flag.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.flags.get(key)?.last().map(String::as_str)
    }

    /// All values of a flag; lists may be written with commas or spaces.
    pub(super) fn list(&self, key: &str) -> Vec<String> {
        let values = self.flags.get(key).into_iter().flatten();
        values.flat_map(|value| split_rules(value)).filter(|rule| !rule.is_empty()).collect()
    }

    /// All values of a flag, as written.
    pub(super) fn values(&self, key: &str) -> &[String] {
        self.flags.get(key).map_or(&[], Vec::as_slice)
    }

    /// The output format.
    pub(super) fn output(&self) -> Format {
        match self.get("output-format") {
            Some("json") => Format::Json,
            Some("stream-json") => Format::StreamJson,
            _ => Format::Text,
        }
    }

    /// True if stdin carries frames; otherwise it is a prompt.
    pub(super) fn reads_frames(&self) -> bool {
        self.get("input-format") == Some("stream-json")
    }

    /// The permission mode, by its name on the wire.
    pub(super) fn mode(&self) -> String {
        match self.get("permission-mode") {
            _ if self.has("skip") => "bypassPermissions".to_owned(),
            None | Some("manual") => "default".to_owned(),
            Some(mode) => mode.to_owned(),
        }
    }

    fn check(&self) -> Result<(), String> {
        if let Some(mode) = self.get("permission-mode")
            && !MODES.contains(&mode)
        {
            return Err(format!(
                "error: option '--permission-mode <mode>' argument '{mode}' is invalid. \
                 Allowed choices are acceptEdits, auto, bypassPermissions, manual, dontAsk, plan."
            ));
        }
        for (key, choices) in
            [("output-format", "text, json, stream-json"), ("input-format", "text, stream-json")]
        {
            if let Some(value) = self.get(key)
                && !choices.split(", ").any(|choice| choice == value)
            {
                return Err(format!(
                    "error: option '--{key} <format>' argument '{value}' is invalid. Allowed choices are {choices}."
                ));
            }
        }
        if self.reads_frames() && self.output() != Format::StreamJson {
            return Err("Error: --input-format=stream-json requires output-format=stream-json.".to_owned());
        }
        if self.output() == Format::StreamJson && !self.has("verbose") && !self.has("version") {
            return Err(
                "Error: When using --print, --output-format=stream-json requires --verbose".to_owned()
            );
        }
        if let Some(schema) = self.get("json-schema")
            && serde_json::from_str::<serde_json::Value>(schema).is_err()
        {
            return Err("Error: --json-schema is not valid JSON".to_owned());
        }
        Ok(())
    }
}

/// Splits `Bash(git log:*),Read` at commas and spaces outside brackets.
fn split_rules(list: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = list.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c == ' ')
    });
    parts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        Args::parse(&line.split('|').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_take_their_values_in_either_form() {
        let args =
            parse("-p|hi|--model=opus|--max-turns|3|--allowedTools|Bash(git log:*),Read|Edit|--resume|-c")
                .unwrap();
        assert_eq!(
            (args.prompt.as_deref(), args.get("model"), args.get("max-turns")),
            (Some("hi"), Some("opus"), Some("3"))
        );
        assert_eq!(args.list("allowed-tools"), ["Bash(git log:*)", "Read", "Edit"]);
        assert!(args.has("resume") && args.get("resume").is_none() && args.has("continue"));
        assert_eq!(parse("--system-prompt|").unwrap().get("system-prompt"), Some(""));
    }

    #[test]
    fn mistakes_are_told_as_the_cli_tells_them() {
        assert_eq!(parse("--no-such-flag").unwrap_err(), "error: unknown option '--no-such-flag'");
        assert!(parse("--output-format|stream-json").unwrap_err().ends_with("requires --verbose"));
        assert!(
            parse("--permission-mode|nonsense")
                .unwrap_err()
                .contains("Allowed choices are acceptEdits, auto")
        );
    }
}
