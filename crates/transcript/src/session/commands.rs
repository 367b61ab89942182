//! Slash commands in the text of user entries.

/// A slash command or its output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CommandTags {
    /// `command-name`: `/compact`, …
    pub name: Option<String>,
    /// `command-message`: text shown on the command line.
    pub message: Option<String>,
    /// `command-args`.
    pub args: Option<String>,
    /// `local-command-stdout`: output of the command.
    pub stdout: Option<String>,
    /// `local-command-stderr`.
    pub stderr: Option<String>,
}

impl CommandTags {
    /// Parses the tags in a text; `None` if it does not begin with one of them.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start();
        if !text.starts_with("<command-") && !text.starts_with("<local-command-std") {
            return None;
        }
        let tag = |name: &str| {
            let open = format!("<{name}>");
            let (_, rest) = text.split_once(&open)?;
            let inside = rest.split_once(&format!("</{name}>")).map_or(rest, |(inside, _)| inside);
            Some(inside.trim().to_owned())
        };
        Some(CommandTags {
            name: tag("command-name"),
            message: tag("command-message"),
            args: tag("command-args").filter(|args| !args.is_empty()),
            stdout: tag("local-command-stdout"),
            stderr: tag("local-command-stderr"),
        })
    }
}
