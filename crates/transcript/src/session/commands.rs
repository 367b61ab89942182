//! Slash commands, as they stand in the text of user entries.

/// A slash command, or what one printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CommandTags {
    /// `command-name`: `/compact`, …
    pub name: Option<String>,
    /// `command-message`: what the command line showed.
    pub message: Option<String>,
    /// `command-args`.
    pub args: Option<String>,
    /// `local-command-stdout`: what a command printed.
    pub stdout: Option<String>,
    /// `local-command-stderr`.
    pub stderr: Option<String>,
}

impl CommandTags {
    /// The tags in a text; `None` where it begins with none of them.
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
