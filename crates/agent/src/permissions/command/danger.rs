//! Destructive commands, and commands that need administrator rights.

use serde::{Deserialize, Serialize};

use super::SimpleCommand;

/// Reasons why a command needs more than the permission to execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Danger {
    /// It deletes or overwrites files.
    Deletes,
    /// It discards work or history of a repository.
    Discards,
    /// It runs as another user.
    Privileged,
    /// It changes file permissions.
    Permissions,
    /// It writes to a disk or to a system folder.
    System,
    /// It ends processes, services or the machine.
    Stops,
    /// It runs the output of another command.
    Foreign,
    /// It publishes something irrevocably.
    Publishes,
}

impl Danger {
    /// A description that continues "Run `…`; ".
    pub fn description(self) -> &'static str {
        match self {
            Danger::Deletes => "it deletes or overwrites files",
            Danger::Discards => "it discards work or history",
            Danger::Privileged => "it runs as another user",
            Danger::Permissions => "it changes file permissions",
            Danger::System => "it changes the system",
            Danger::Stops => "it ends processes or services",
            Danger::Foreign => "it runs the output of another command",
            Danger::Publishes => "it publishes something",
        }
    }
}

/// The danger of a command, if there is one.
pub(super) fn of(command: &SimpleCommand) -> Option<Danger> {
    if command.written_files().any(is_system_path) {
        return Some(Danger::System);
    }
    let name = command.base_name();
    match name {
        "sudo" | "doas" | "su" | "pkexec" | "runuser" | "run0" => Some(Danger::Privileged),
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "truncate" | "wipe" => Some(Danger::Deletes),
        "find" | "gfind"
            if ["-delete", "-fprint", "-fprintf", "-fls"].iter().any(|flag| command.has_argument(flag)) =>
        {
            Some(Danger::Deletes)
        }
        "rsync" if command.arguments().iter().any(|word| is_long(&word.text, "delete")) => {
            Some(Danger::Deletes)
        }
        "mv" | "cp" | "install" | "ln" | "tee"
            if command.arguments().iter().any(|word| is_system_path(&word.text)) =>
        {
            Some(Danger::System)
        }
        "dd" | "fdisk" | "parted" | "wipefs" | "blkdiscard" | "mount" | "umount" | "sysctl" | "insmod"
        | "modprobe" | "iptables" | "nft" | "ufw" | "visudo" | "useradd" | "userdel" | "usermod"
        | "passwd" | "chpasswd" | "crontab" => Some(Danger::System),
        _ if name.starts_with("mkfs") => Some(Danger::System),
        "chown" | "chgrp" | "setfacl" | "chattr" => Some(Danger::Permissions),
        "chmod" if opens_to_all(command) => Some(Danger::Permissions),
        "kill" | "killall" | "pkill" | "shutdown" | "reboot" | "halt" | "poweroff" | "init" => {
            Some(Danger::Stops)
        }
        "systemctl" | "service" | "launchctl" if !is_query(command) => Some(Danger::Stops),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" if command.arguments().is_empty() => {
            Some(Danger::Foreign)
        }
        "eval" => Some(Danger::Foreign),
        "git" => git(command),
        "docker" | "podman" if has_any(command, &["rm", "rmi", "prune", "kill", "down"]) => {
            Some(Danger::Deletes)
        }
        "kubectl" | "helm" | "terraform"
            if has_any(command, &["delete", "uninstall", "destroy", "apply"]) =>
        {
            Some(Danger::Deletes)
        }
        "npm" | "pnpm" | "yarn" | "cargo" | "twine" | "gem"
            if has_any(command, &["publish", "upload", "yank", "push"]) =>
        {
            Some(Danger::Publishes)
        }
        _ => None,
    }
}

/// Finds git commands that discard commits or changes, locally or in the remote repository.
fn git(command: &SimpleCommand) -> Option<Danger> {
    let arguments = command.arguments();
    let at = git_subcommand(arguments)?;
    let rest = arguments.get(at + 1..).unwrap_or_default();
    let long = |name: &str| rest.iter().any(|word| is_long(&word.text, name));
    let short = |letter: char| {
        rest.iter().any(|word| {
            word.text.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(letter))
        })
    };
    let discards = match arguments.get(at).map_or("", |word| word.text.as_str()) {
        "push" => {
            short('f')
                || short('d')
                || rest.iter().any(|word| word.text.starts_with(['+', ':']))
                || ["force", "mirror", "delete", "prune"].iter().any(|name| long(name))
        }
        "reset" => long("hard") || long("merge") || long("keep"),
        "clean" => !(short('n') || long("dry-run")),
        "checkout" | "switch" => {
            short('f')
                || short('B')
                || short('C')
                || ["force", "force-create", "discard-changes", "ours", "theirs", "merge"]
                    .iter()
                    .any(|name| long(name))
                || rest.iter().any(|word| word.text == "--")
                || (arguments[at].text == "checkout" && names_files(rest))
        }
        "restore" => !long("staged") || long("worktree"),
        "branch" | "tag" => short('D') || short('d') || short('f') || long("delete") || long("force"),
        "stash" => rest.first().is_some_and(|word| matches!(word.text.as_str(), "drop" | "clear")),
        "reflog" => rest.first().is_some_and(|word| matches!(word.text.as_str(), "expire" | "delete")),
        "worktree" => rest.first().is_some_and(|word| word.text == "remove"),
        "filter-branch" | "filter-repo" | "update-ref" | "prune" | "gc" | "rm" => true,
        _ => false,
    };
    discards.then_some(Danger::Discards)
}

/// True if the words of `git checkout` seem to name files, whose changes it overwrites: several words, a path
/// that begins with a dot, a pattern, or a name with an extension.
fn names_files(rest: &[super::Word]) -> bool {
    let creates = rest.iter().any(|word| matches!(word.text.as_str(), "-b" | "--orphan" | "-t" | "--track"));
    let mut operands = rest.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    let is_file = |text: &str| {
        text.starts_with(['.', ':', '/', '~'])
            || text.contains(['*', '?', '['])
            || text.ends_with('/')
            || text.rsplit('/').next().is_some_and(|name| {
                name.rsplit_once('.')
                    .is_some_and(|(_, ending)| ending.chars().all(|c| c.is_ascii_alphabetic()))
            })
    };
    !creates && (operands.clone().count() > 1 || operands.any(is_file))
}

/// The index of git's subcommand among its arguments.
pub(in crate::permissions) fn git_subcommand(arguments: &[super::Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" => {
                at += 2;
            }
            text if text.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// True if a word is the long option `name`, which programs also accept abbreviated: `--forc`.
pub(super) fn is_long(text: &str, name: &str) -> bool {
    let Some(option) = text.strip_prefix("--") else {
        return false;
    };
    let option = option.split('=').next().unwrap_or(option);
    !option.is_empty() && (name.starts_with(option) || option.starts_with(name))
}

fn has_any(command: &SimpleCommand, words: &[&str]) -> bool {
    words.iter().any(|word| command.has_argument(word))
}

fn is_query(command: &SimpleCommand) -> bool {
    has_any(command, &["status", "list", "list-units", "is-active", "is-enabled", "show", "print", "cat"])
}

/// `chmod 777`, `a+w`, `o+w`, `+s`, and every recursive change.
fn opens_to_all(command: &SimpleCommand) -> bool {
    command.has_flag('R')
        || command.has_argument("--recursive")
        || command.arguments().iter().any(|word| {
            let text = word.text.as_str();
            let digits = text.trim_start_matches('0');
            let octal = (3..=4).contains(&text.len()) && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
            // Writable for all users, or setuid.
            (octal && (digits.len() > 3 || matches!(text.as_bytes().last(), Some(b'2' | b'3' | b'6' | b'7'))))
                || (text.contains('+')
                    && text.contains('w')
                    && text.starts_with(['a', 'o', '+', 'u', 'g'])
                    && !text.starts_with("u+")
                    && !text.starts_with("g+"))
                || (text.contains("+s") || text.contains("+t"))
        })
}

/// True if a path belongs to the system.
fn is_system_path(path: &str) -> bool {
    const FOLDERS: &[&str] =
        &["/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/sys", "/proc", "/System"];
    if let Some(device) = path.strip_prefix("/dev/") {
        return !matches!(device, "null" | "stdout" | "stderr" | "tty") && !device.starts_with("fd/");
    }
    let path = crate::permissions::paths::normalise(path);
    FOLDERS
        .iter()
        .any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}
