//! The accesses of a permission request, and the match of rules with them.

use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::{Category, Rule};
use crate::permissions::reach::{self, Depth, Links, Reach};
use crate::permissions::{
    Ask, Command, CommandKind, WordKind, command_matches, git_address, glob_matches, host_of, path_matches,
    paths,
};

/// One access of a permission request.
pub(super) struct Item<'a> {
    ask: &'a Ask,
    what: What<'a>,
    /// The reach of the access.
    reach: Reach,
    /// The kind of the command, if the access is one.
    kind: Option<CommandKind>,
    /// The reason why no rule may allow it, whatever it matches.
    doubt: Option<&'static str>,
}

enum What<'a> {
    Path(Category, String),
    Host(&'a str),
    Command(&'a Command),
    Tool,
}

/// All accesses of a request; empty if they cannot be determined.
pub(super) fn items(ask: &Ask) -> Vec<Item<'_>> {
    let target = ask.request.target.as_str();
    let what = match ask.request.target_type {
        TargetType::Path if ask.request.level == PermissionLevel::Read => {
            What::Path(Category::FileRead, target.to_owned())
        }
        TargetType::Path => What::Path(Category::FileWrite, target.to_owned()),
        TargetType::Domain => What::Host(target),
        TargetType::Command => return commands(ask),
        _ => What::Tool,
    };
    vec![Item { ask, what, reach: real_reach(ask), kind: None, doubt: None }]
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

fn commands(ask: &Ask) -> Vec<Item<'_>> {
    let Some(script) = &ask.script else {
        return Vec::new();
    };
    let mut items = Vec::new();
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
    let file = |category, path: &str, start: Option<&str>, doubt| {
        let reach = reach::of_file(path, &[start.map(str::to_owned)], folder, Links::Followed);
        Item { ask, what: What::Path(category, paths::resolve(path, start)), reach, kind: None, doubt }
    };
    for command in script.commands() {
        let reach = reach::of_command(command, script, folder, Links::Followed);
        let kind = command.kind();
        let doubt = all.or_else(|| doubt(command, kind, reach));
        // The command that a transparent wrapper runs follows in the list.
        if !command.is_transparent() && !command.words.is_empty() || doubt.is_some() {
            items.push(Item { ask, what: What::Command(command), reach, kind: Some(kind), doubt });
        }
        // After a `cd` that may have failed, a relative path stands for several files.
        for start in &starts {
            let start = start.as_deref();
            items.extend(command.written_files().map(|path| file(Category::FileWrite, path, start, doubt)));
            items.extend(command.read_files().map(|path| file(Category::FileRead, path, start, doubt)));
        }
    }
    // The CLI names the path that made it ask, which may not be among the words.
    items.extend(ask.blocked_path.as_deref().map(|path| file(Category::FileRead, path, folder, None)));
    items
}

fn doubt(command: &Command, kind: CommandKind, reach: Reach) -> Option<&'static str> {
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

impl Item<'_> {
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.doubt
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
        match &self.what {
            What::Path(category, _) => *category,
            What::Host(_) => Category::Network,
            What::Command(_) => Category::Shell,
            What::Tool if self.ask.tool_name == "WebSearch" => Category::Network,
            What::Tool => Category::Tool,
        }
    }

    /// The path, or the arguments of a command, which may be paths.
    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.what {
            What::Path(_, path) => Box::new(std::iter::once(path.as_str())),
            What::Command(command) => Box::new(command.arguments().iter().map(|word| word.text.as_str())),
            What::Host(_) | What::Tool => Box::new(std::iter::empty()),
        }
    }

    /// True if everything that is fetched comes from one of the hosts.
    fn hosts_are(&self, patterns: &[String]) -> bool {
        let known = |host: &str| patterns.iter().any(|pattern| glob_matches(pattern, host));
        match self.what {
            // A query sends text to the host, whatever the response is.
            What::Host(host) => known(host) && !has_query(self.ask),
            What::Command(command) => {
                fetched(command).is_some_and(|hosts| hosts.iter().all(|host| known(host)))
            }
            What::Path(..) | What::Tool => false,
        }
    }

    fn command_matches(&self, rule: &Rule) -> bool {
        let asks_nothing = rule.commands.is_empty()
            && rule.flags.is_empty()
            && rule.words.is_empty()
            && rule.kinds.is_empty()
            && rule.dangers.is_empty();
        let What::Command(command) = self.what else {
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
fn has_flag(command: &Command, flag: char) -> bool {
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
fn fetched(command: &Command) -> Option<Vec<String>> {
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
fn git_hosts(command: &Command) -> Option<Vec<String>> {
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
