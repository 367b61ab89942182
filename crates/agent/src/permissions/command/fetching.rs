//! Commands that fetch code or data from elsewhere.

use super::{CommandKind, Script, SimpleCommand};

impl Script {
    /// True if one command fetches something and another one does more than read. What was fetched could then
    /// be run, built, merged or stored before a person has seen it.
    pub(crate) fn fetches_and_does_more(&self) -> bool {
        let commands = self.commands();
        let Some(fetches) = commands.iter().position(SimpleCommand::fetches) else {
            return false;
        };
        let does_more = |(at, command): (usize, &SimpleCommand)| {
            let is_harmless = command.words.is_empty()
                || command.is_transparent()
                || matches!(command.kind(), CommandKind::Look | CommandKind::Network);
            command.written_files().next().is_some() || (at != fetches && !is_harmless)
        };
        commands.iter().enumerate().any(does_more)
    }
}

impl SimpleCommand {
    /// True if it fetches code or data, also in a form that no shape covers.
    pub(crate) fn fetches(&self) -> bool {
        if matches!(self.kind(), CommandKind::Network | CommandKind::Install) {
            return true;
        }
        let has = |names: &[&str]| self.arguments().iter().any(|word| names.contains(&word.text.as_str()));
        match self.base_name() {
            "curl" | "wget" | "aria2c" | "ssh" | "scp" | "sftp" | "ftp" | "rsync" | "nc" | "ncat" | "npx"
            | "bunx" | "pnpx" | "uvx" | "pipx" | "gh" | "glab" | "svn" | "hg" => true,
            "git" => has(&["clone", "fetch", "pull", "submodule", "ls-remote", "remote", "archive"]),
            "docker" | "podman" => has(&["pull", "run", "build", "compose"]),
            "apt" | "apt-get" | "dnf" | "yum" | "apk" | "pacman" | "brew" | "gem" | "pip" | "pip3" | "uv"
            | "poetry" | "npm" | "pnpm" | "yarn" | "bun" | "cargo" | "go" | "composer" | "bundle"
            | "python" | "python3" | "conda" => {
                has(&[
                    "install", "i", "ci", "add", "get", "mod", "update", "upgrade", "up", "dlx", "exec", "x",
                    "create", "init", "download", "fetch", "sync", "run", "require", "pip",
                ]) && !matches!(self.kind(), CommandKind::Look | CommandKind::Build | CommandKind::Test)
            }
            _ => false,
        }
    }
}
