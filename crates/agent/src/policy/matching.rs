//! The accesses of a permission request, and the match of rules with them.

use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::objections::{self, Objection};
use super::source::{self, FetchSource};
use super::{Category, Rule, Verdict};
use crate::permissions::reach::{self, Links, Reach};
use crate::permissions::{
    Ask, CommandKind, PathPatterns, SimpleCommand, command_matches, disk, git_address, glob_matches, host_of,
    paths, writes,
};

/// One access of a permission request.
pub(super) struct Access<'a> {
    ask: &'a Ask,
    target: AccessTarget<'a>,
    /// The reach of the access.
    reach: Reach,
    /// The kind of the command, if the access is one.
    kind: Option<CommandKind>,
    /// The place that a command fetches from.
    source: Option<FetchSource>,
    /// The reason why no rule may allow it, whatever it matches.
    objection: Option<Objection>,
}

enum AccessTarget<'a> {
    /// A path as written, and the one to which symbolic links lead now.
    Path(Category, String, Option<String>),
    Host(&'a str),
    Command(&'a SimpleCommand),
    Tool,
}

/// All accesses of a request; empty if they cannot be determined.
pub(super) fn accesses(ask: &Ask) -> Vec<Access<'_>> {
    let target = ask.request.target.as_str();
    let target = match ask.request.target_type {
        TargetType::Path if ask.request.level == PermissionLevel::Read => {
            path_target(Category::FileRead, target.to_owned(), ask)
        }
        TargetType::Path => path_target(Category::FileWrite, target.to_owned(), ask),
        TargetType::Domain => AccessTarget::Host(target),
        TargetType::Command => return commands(ask),
        _ => AccessTarget::Tool,
    };
    let objection = objections::of_request(ask).or_else(|| objection_to_path(&target, ask));
    vec![Access { ask, target, reach: ask.real_reach(), kind: None, source: None, objection }]
}

fn path_target<'a>(category: Category, path: String, ask: &Ask) -> AccessTarget<'a> {
    let real = ask.facts.folder.path().and_then(|folder| disk::real_path(&path, folder));
    AccessTarget::Path(category, path, real)
}

/// The objection to writing a file that runs later, whatever rule would allow it.
fn objection_to_path(target: &AccessTarget<'_>, ask: &Ask) -> Option<Objection> {
    match target {
        AccessTarget::Path(Category::FileWrite, path, _) => {
            writes::is_what_runs(path, &ask.facts).then_some(Objection::RunsLater)
        }
        _ => None,
    }
}

fn commands(ask: &Ask) -> Vec<Access<'_>> {
    let Some(script) = &ask.script else {
        return Vec::new();
    };
    let mut accesses = Vec::new();
    let mut all = objections::of_request(ask).or_else(|| objections::of_script(ask, script));
    let starts = reach::folders(script, &ask.facts).unwrap_or_else(|| {
        all = Some(Objection::TooManyFolders);
        vec![ask.facts.folder.path().map(str::to_owned)]
    });
    let file = |category, path: &str, start: Option<&str>, objection: Option<Objection>| {
        let reach = reach::of_file(path, &[start.map(str::to_owned)], &ask.facts, Links::Followed);
        let target = path_target(category, paths::resolve(path, start), ask);
        let objection = objection.or_else(|| objection_to_path(&target, ask));
        Access { ask, target, reach, kind: None, source: None, objection }
    };
    for command in script.commands() {
        let reach = reach::of_command(command, script, &ask.facts, Links::Followed);
        let kind = command.kind();
        let objection = all.or_else(|| objections::of_command(command, reach, ask, &starts));
        // The command that a transparent wrapper runs follows in the list.
        if !command.is_transparent() && !command.words.is_empty() || objection.is_some() {
            accesses.push(Access {
                ask,
                target: AccessTarget::Command(command),
                reach,
                kind: Some(kind),
                source: source::of(command, &ask.facts),
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
    let folder = ask.facts.folder.path();
    accesses.extend(ask.blocked_path.as_deref().map(|path| file(Category::FileRead, path, folder, None)));
    accesses
}

impl Access<'_> {
    pub(super) fn objection(&self) -> Option<Objection> {
        self.objection
    }

    /// True if all conditions of a rule hold. A condition on a property that the access does not have does
    /// not hold.
    pub(super) fn matches(&self, rule: &Rule) -> bool {
        (rule.categories.is_empty() || rule.categories.contains(&self.category()))
            && (rule.tools.is_empty()
                || rule.tools.iter().any(|pattern| glob_matches(pattern, &self.ask.tool_name)))
            && (rule.paths.is_empty() || self.paths_match(rule))
            && (rule.reaches.is_empty() || rule.reaches.contains(&self.reach))
            && (rule.hosts.is_empty() || self.hosts_are(&rule.hosts))
            && (rule.sources.is_empty() || self.source.is_some_and(|source| rule.sources.contains(&source)))
            && self.command_matches(rule)
    }

    /// True if the paths of a rule match. A rule that allows must match every path, after symbolic links are
    /// followed; any other must match one.
    fn paths_match(&self, rule: &Rule) -> bool {
        let patterns = PathPatterns::new(rule.paths.iter().map(String::as_str));
        let matches = |path: &str| patterns.match_path(path);
        let allows = rule.verdict == Verdict::Allow;
        match &self.target {
            AccessTarget::Path(_, path, real) => {
                let real = real.as_deref().unwrap_or(path);
                if allows { matches(real) } else { matches(path) || matches(real) }
            }
            AccessTarget::Command(command) => {
                let mut words = command.arguments().iter().map(|word| word.text.as_str());
                if allows {
                    let mut operands = words.filter(|text| !text.starts_with('-')).peekable();
                    operands.peek().is_some() && operands.all(matches)
                } else {
                    words.any(matches)
                }
            }
            AccessTarget::Host(_) | AccessTarget::Tool => false,
        }
    }

    fn category(&self) -> Category {
        match &self.target {
            AccessTarget::Path(category, ..) => *category,
            AccessTarget::Host(_) => Category::Network,
            AccessTarget::Command(_) => Category::Shell,
            AccessTarget::Tool if self.ask.tool_name == "WebSearch" => Category::Network,
            AccessTarget::Tool => Category::Tool,
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
pub(super) fn fetched(command: &SimpleCommand) -> Option<Vec<String>> {
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
