//! The accesses of a permission request, and the match of rules with them.

use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::{Category, Rule};
use crate::permissions::reach::{self, Depth, Links, Reach};
use crate::permissions::{
    Ask, CommandKind, SimpleCommand, WordKind, command_matches, git_address, glob_matches, host_of,
    path_matches, paths,
};

/// One access of a permission request.
pub(super) struct Access<'a> {
    ask: &'a Ask,
    target: AccessTarget<'a>,
    /// The reach of the access.
    reach: Reach,
    /// The kind of the command, if the access is one.
    kind: Option<CommandKind>,
    /// The reason why no rule may allow it, whatever it matches.
    objection: Option<&'static str>,
}

enum AccessTarget<'a> {
    Path(Category, String),
    Host(&'a str),
    Command(&'a SimpleCommand),
    Tool,
}

/// All accesses of a request; empty if they cannot be determined.
pub(super) fn accesses(ask: &Ask) -> Vec<Access<'_>> {
    let target = ask.request.target.as_str();
    let target = match ask.request.target_type {
        TargetType::Path if ask.request.level == PermissionLevel::Read => {
            AccessTarget::Path(Category::FileRead, target.to_owned())
        }
        TargetType::Path => AccessTarget::Path(Category::FileWrite, target.to_owned()),
        TargetType::Domain => AccessTarget::Host(target),
        TargetType::Command => return commands(ask),
        _ => AccessTarget::Tool,
    };
    vec![Access { ask, target, reach: real_reach(ask), kind: None, objection: None }]
}

/// The reach of a request, with symbolic links followed.
pub(super) fn real_reach(ask: &Ask) -> Reach {
    let folder = ask.folder.as_deref();
    let real = match (&ask.script, ask.request.target_type) {
        (Some(script), _) => reach::of_script(script, folder, Links::Followed),
        (None, TargetType::Path) => reach::of_real_path(&ask.request.target, Depth::Itself, folder, folder),
        _ => Reach::Folder,
    };
    ask.reach.max(real)
}

fn commands(ask: &Ask) -> Vec<Access<'_>> {
    let Some(script) = &ask.script else {
        return Vec::new();
    };
    let mut accesses = Vec::new();
    let mut all = None;
    if script.is_opaque() {
        all = Some("not-known-before-it-runs");
    } else if ask.request.level == PermissionLevel::Admin && script.danger().is_none() {
        all = Some("outside-of-the-sandbox");
    }
    let folder = ask.folder.as_deref();
    let starts = reach::folders(script, folder).unwrap_or_else(|| {
        all = Some("too-many-folders");
        vec![folder.map(str::to_owned)]
    });
    let file = |category, path: &str, start: Option<&str>, objection| {
        let reach = reach::of_file(path, &[start.map(str::to_owned)], folder, Links::Followed);
        Access {
            ask,
            target: AccessTarget::Path(category, paths::resolve(path, start)),
            reach,
            kind: None,
            objection,
        }
    };
    for command in script.commands() {
        let reach = reach::of_command(command, script, folder, Links::Followed);
        let kind = command.kind();
        let objection = all.or_else(|| objection(command, kind, reach));
        // The command that a transparent wrapper runs follows in the list.
        if !command.is_transparent() && !command.words.is_empty() || objection.is_some() {
            accesses.push(Access {
                ask,
                target: AccessTarget::Command(command),
                reach,
                kind: Some(kind),
                objection,
            });
        }
        // After a `cd` that may have failed, a relative path stands for several files.
        for start in &starts {
            let start = start.as_deref();
            accesses.extend(
                command.written_files().map(|path| file(Category::FileWrite, path, start, objection)),
            );
            accesses
                .extend(command.read_files().map(|path| file(Category::FileRead, path, start, objection)));
        }
    }
    // The CLI names the path that made it ask, which may not be among the words.
    accesses.extend(ask.blocked_path.as_deref().map(|path| file(Category::FileRead, path, folder, None)));
    accesses
}

fn objection(command: &SimpleCommand, kind: CommandKind, reach: Reach) -> Option<&'static str> {
    if !command.assignments.is_empty() {
        return Some("sets-variables");
    }
    // Code and settings outside the project are not trusted like those of the project.
    let stays = matches!(kind, CommandKind::Look | CommandKind::Network | CommandKind::Other);
    if !stays && reach > Reach::Folder {
        return Some("outside-of-the-project");
    }
    command.words.iter().any(|word| word.kind == WordKind::Dynamic).then_some("words-come-from-elsewhere")
}

impl Access<'_> {
    pub(super) fn objection(&self) -> Option<&'static str> {
        self.objection
    }

    /// True if all conditions of a rule hold. A condition on a property that the access does not have does
    /// not hold.
    pub(super) fn matches(&self, rule: &Rule) -> bool {
        let any = |patterns: &[String], is: &dyn Fn(&str) -> bool| {
            patterns.is_empty() || patterns.iter().any(|pattern| is(pattern))
        };
        (rule.categories.is_empty() || rule.categories.contains(&self.category()))
            && any(&rule.tools, &|pattern| glob_matches(pattern, &self.ask.tool_name))
            && any(&rule.paths, &|pattern| self.paths().any(|path| path_matches(pattern, path)))
            && (rule.reaches.is_empty() || rule.reaches.contains(&self.reach))
            && (rule.hosts.is_empty() || self.hosts_are(&rule.hosts))
            && self.command_matches(rule)
    }

    fn category(&self) -> Category {
        match &self.target {
            AccessTarget::Path(category, _) => *category,
            AccessTarget::Host(_) => Category::Network,
            AccessTarget::Command(_) => Category::Shell,
            AccessTarget::Tool if self.ask.tool_name == "WebSearch" => Category::Network,
            AccessTarget::Tool => Category::Tool,
        }
    }

    /// The path, or the arguments of a command, which may be paths.
    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.target {
            AccessTarget::Path(_, path) => Box::new(std::iter::once(path.as_str())),
            AccessTarget::Command(command) => {
                Box::new(command.arguments().iter().map(|word| word.text.as_str()))
            }
            AccessTarget::Host(_) | AccessTarget::Tool => Box::new(std::iter::empty()),
        }
    }

    /// True if everything that is fetched comes from one of the hosts.
    fn hosts_are(&self, patterns: &[String]) -> bool {
        let known = |host: &str| patterns.iter().any(|pattern| glob_matches(pattern, host));
        match self.target {
            // A query sends text to the host, whatever the response is.
            AccessTarget::Host(host) => known(host) && !has_query(self.ask),
            AccessTarget::Command(command) => {
                fetched(command).is_some_and(|hosts| hosts.iter().all(|host| known(host)))
            }
            AccessTarget::Path(..) | AccessTarget::Tool => false,
        }
    }

    fn command_matches(&self, rule: &Rule) -> bool {
        let asks_nothing = rule.commands.is_empty()
            && rule.flags.is_empty()
            && rule.words.is_empty()
            && rule.kinds.is_empty()
            && rule.dangers.is_empty();
        let AccessTarget::Command(command) = self.target else {
            return asks_nothing;
        };
        (rule.commands.is_empty() || rule.commands.iter().any(|pattern| command_matches(pattern, command)))
            && rule.flags.chars().all(|flag| has_flag(command, flag))
            && (rule.words.is_empty() || rule.words.iter().any(|word| command.has_argument(word)))
            && (rule.kinds.is_empty() || self.kind.is_some_and(|kind| rule.kinds.contains(&kind)))
            && (rule.dangers.is_empty()
                || command.danger().is_some_and(|danger| rule.dangers.contains(&danger)))
    }
}

/// True if the URL that a tool fetches has a query or a fragment.
fn has_query(ask: &Ask) -> bool {
    let url = ask.input.raw().get("url").and_then(tidings_protocol::json::Raw::text);
    url.is_none_or(|url| url.get().contains(['?', '#']))
}

/// True if a command has a short option, or the equivalent long one.
fn has_flag(command: &SimpleCommand, flag: char) -> bool {
    let long = match flag {
        'r' | 'R' => "--recursive",
        'f' => "--force",
        _ => "",
    };
    command.has_flag(flag)
        || (flag == 'r' && command.has_flag('R'))
        || (!long.is_empty()
            && command
                .arguments()
                .iter()
                .any(|word| word.text.len() > 2 && long.starts_with(word.text.as_str())))
}

/// The hosts that a command fetches from; `None` if it does anything else.
fn fetched(command: &SimpleCommand) -> Option<Vec<String>> {
    const HARMLESS: &[&str] =
        &["-s", "-S", "-sS", "-f", "-fsS", "-fsSL", "-L", "-sL", "-I", "-i", "-v", "-k", "-q", "-qO-", "-O-"];
    if command.kind() != CommandKind::Network {
        return None;
    }
    let hosts: Option<Vec<String>> = match command.name() {
        "git" => return git_hosts(command),
        // Without this option `wget` writes a file.
        "wget" if !["-qO-", "-O-"].iter().any(|option| command.has_argument(option)) => None,
        "curl" | "wget" => {
            let operands = command.arguments().iter().filter(|word| !HARMLESS.contains(&word.text.as_str()));
            operands.map(|word| host_of(&word.text).filter(|_| !word.text.contains(['?', '#']))).collect()
        }
        _ => None,
    };
    hosts.filter(|hosts| !hosts.is_empty())
}

/// The hosts that git fetches from; `None` if it also sends data or stores an address for later.
fn git_hosts(command: &SimpleCommand) -> Option<Vec<String>> {
    let (subcommand, rest) = command.git_parts()?;
    if !matches!(subcommand, "clone" | "fetch" | "pull") {
        return None;
    }
    let addresses = rest.iter().filter_map(|word| git_address(subcommand, &word.text));
    addresses
        .map(|address| match address.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
            Some((host, _)) => Some(host.to_ascii_lowercase()),
            None => host_of(address),
        })
        .collect()
}
