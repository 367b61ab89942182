//! Commands of Claude Code that a prompt can contain, and the scope that each needs.

use std::path::Path;

use tidings_api::Scope;

use super::Way;

/// A built-in command with a scope of its own. Every other one needs `admin`.
pub(super) struct CommandRow {
    pub(super) name: &'static str,
    /// The scope where the command is a message.
    pub(super) message: Scope,
    /// The scope where it is typed: in a terminal, some commands also change the user's settings.
    pub(super) typed: Scope,
}

const fn row(name: &'static str, message: Scope, typed: Scope) -> CommandRow {
    CommandRow { name, message, typed }
}

/// Commands that change nothing beyond the conversation need `prompt`, and those that let the model work by
/// instructions of their own `always`, like skills.
pub(super) const ROWS: [CommandRow; 19] = [
    row("clear", Scope::Prompt, Scope::Always),
    row("compact", Scope::Prompt, Scope::Prompt),
    row("context", Scope::Prompt, Scope::Prompt),
    row("cost", Scope::Prompt, Scope::Prompt),
    row("effort", Scope::Prompt, Scope::Admin),
    row("help", Scope::Prompt, Scope::Prompt),
    row("model", Scope::Prompt, Scope::Admin),
    row("recap", Scope::Prompt, Scope::Prompt),
    row("release-notes", Scope::Prompt, Scope::Prompt),
    row("rename", Scope::Prompt, Scope::Always),
    row("status", Scope::Prompt, Scope::Prompt),
    row("usage", Scope::Prompt, Scope::Prompt),
    row("goal", Scope::Always, Scope::Always),
    row("init", Scope::Always, Scope::Always),
    row("loop", Scope::Always, Scope::Always),
    row("pr-comments", Scope::Always, Scope::Always),
    row("review", Scope::Always, Scope::Always),
    row("security-review", Scope::Always, Scope::Always),
    row("simplify", Scope::Always, Scope::Always),
];

/// Built-in commands that change settings, modes, folders, hooks, MCP servers or the login, or write files. A
/// file of the project with the same name does not lower the scope.
pub(super) const ADMIN_NAMES: [&str; 68] = [
    "add-dir",
    "agents",
    "allowed-tools",
    "approved-tools",
    "background",
    "bashes",
    "batch",
    "bug",
    "cd",
    "chrome",
    "color",
    "config",
    "copy",
    "debug",
    "desktop",
    "diff",
    "doctor",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "fewer-permission-prompts",
    "fork",
    "heapdump",
    "hooks",
    "ide",
    "insights",
    "install",
    "install-github-app",
    "install-slack-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "migrate-installer",
    "mobile",
    "output-style",
    "passes",
    "permissions",
    "plan",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "rate-limit-options",
    "reload-plugins",
    "reload-skills",
    "remote-control",
    "remote-env",
    "resume",
    "rewind",
    "sandbox",
    "session",
    "settings",
    "skills",
    "stats",
    "statusline",
    "stickers",
    "tag",
    "tasks",
    "teleport",
    "terminal-setup",
    "theme",
    "update-config",
    "upgrade",
    "vim",
];

/// A text that is a command of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlashCommand<'a> {
    /// Its name without the slash.
    pub(crate) name: &'a str,
    /// The text behind the name.
    pub(crate) arguments: &'a str,
}

impl<'a> SlashCommand<'a> {
    /// The command that a text is; none if the name cannot be one, as in `/etc/hosts`.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let text = super::forms::visible_start(text).strip_prefix(['/', '／'])?;
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (name, arguments) = text.split_at(end);
        let is_name = !name.is_empty()
            && name.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '-' | '_' | ':'));
        is_name.then_some(SlashCommand { name, arguments })
    }

    /// The scope that it needs on a way. `folders` are those in which the user and the project keep their own
    /// commands and skills.
    pub(crate) fn scope(&self, way: Way, folders: &[&Path]) -> Scope {
        if matches!(way, Way::OtherAgent | Way::PeerMessage) {
            return Scope::Admin;
        }
        if let Some(row) = ROWS.iter().find(|row| row.name == self.name) {
            return if way == Way::Typed { row.typed } else { row.message };
        }
        let is_own = !ADMIN_NAMES.contains(&self.name) && is_published(self.name, folders);
        if is_own { Scope::Always } else { Scope::Admin }
    }
}

/// True if a skill or a command of this name is published: by a plugin or an MCP server, whose names no
/// built-in command has, or by a file of the user or of the project.
fn is_published(name: &str, folders: &[&Path]) -> bool {
    if name.contains(':') || name.starts_with("mcp__") {
        return true;
    }
    folders.iter().any(|folder| {
        folder.join("commands").join(format!("{name}.md")).is_file()
            || folder.join("skills").join(name).join("SKILL.md").is_file()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k22_a_command_needs_the_scope_of_its_effect_and_an_unknown_one_admin() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path();
        std::fs::create_dir_all(own.join("commands")).unwrap();
        std::fs::create_dir_all(own.join("skills/deploy")).unwrap();
        for name in ["deliver", "config", "compact"] {
            std::fs::write(own.join(format!("commands/{name}.md")), "Do it").unwrap();
        }
        std::fs::write(own.join("skills/deploy/SKILL.md"), "Do it").unwrap();
        let scope = |text: &str, way| SlashCommand::of(text).map(|command| command.scope(way, &[own]));
        for (text, message, typed) in [
            ("/compact", Scope::Prompt, Scope::Prompt),
            ("/compact keep the plan", Scope::Prompt, Scope::Prompt),
            (" /context", Scope::Prompt, Scope::Prompt),
            ("/model opus", Scope::Prompt, Scope::Admin),
            ("/init", Scope::Always, Scope::Always),
            ("/deliver now", Scope::Always, Scope::Always),
            ("/deploy", Scope::Always, Scope::Always),
            ("/plugin:command", Scope::Always, Scope::Always),
            ("/mcp__server__prompt", Scope::Always, Scope::Always),
            ("/config permissionMode=acceptEdits", Scope::Admin, Scope::Admin),
            ("/CONFIG a=b", Scope::Admin, Scope::Admin),
            ("/Compact", Scope::Admin, Scope::Admin),
            ("/output-style x", Scope::Admin, Scope::Admin),
            ("/heapdump", Scope::Admin, Scope::Admin),
            ("/mcp", Scope::Admin, Scope::Admin),
            ("/update-config", Scope::Admin, Scope::Admin),
            ("/no-such-command", Scope::Admin, Scope::Admin),
            ("/tmp is full", Scope::Admin, Scope::Admin),
        ] {
            assert_eq!(scope(text, Way::Message), Some(message), "{text}");
            assert_eq!(scope(text, Way::UnmarkedMessage), Some(message), "{text}");
            assert_eq!(scope(text, Way::Typed), Some(typed), "{text}");
            for way in [Way::OtherAgent, Way::PeerMessage] {
                assert_eq!(scope(text, way), Some(Scope::Admin), "{text}");
            }
        }
        for text in ["/etc/hosts has a line", "/", "/ x", "/a.b", "no command", "//"] {
            assert_eq!(SlashCommand::of(text), None, "{text}");
        }
    }
}
