//! What a question accesses, piece by piece, and whether a rule matches a piece.

use tidings_protocol::ui::{PermissionLevel, TargetType};

use super::{Category, Rule};
use crate::permissions::{
    Ask, Command, CommandKind, Role, WordKind, command_matches, glob_matches, host_of, path_matches, paths,
};

/// One thing that a question accesses.
pub(super) struct Item<'a> {
    ask: &'a Ask,
    what: What<'a>,
    /// Why no rule may allow it, whatever it matches.
    doubt: Option<&'static str>,
}

enum What<'a> {
    Path(Category, String),
    Host(&'a str),
    Command(&'a Command),
    Tool,
}

/// Everything that a question accesses; nothing if that cannot be said.
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
    vec![Item { ask, what, doubt: None }]
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
    for command in script.commands() {
        let doubt = all.or_else(|| doubt(command));
        // What a transparent wrapper runs follows in the list.
        if !is_transparent(command) && !command.words.is_empty() || doubt.is_some() {
            items.push(Item { ask, what: What::Command(command), doubt });
        }
        let written =
            command.written_files().map(|path| What::Path(Category::FileWrite, paths::normalise(path)));
        let read = command.read_files().map(|path| What::Path(Category::FileRead, paths::normalise(path)));
        items.extend(written.chain(read).map(|what| Item { ask, what, doubt }));
    }
    items
}

fn doubt(command: &Command) -> Option<&'static str> {
    if !command.assignments.is_empty() {
        return Some("sets-variables");
    }
    command.words.iter().any(|word| word.kind == WordKind::Dynamic).then_some("words-come-from-elsewhere")
}

/// Whether a wrapper changes nothing about what its inner command does.
fn is_transparent(command: &Command) -> bool {
    command.role == Role::Wrapper
        && match command.name() {
            "timeout" | "nice" | "nohup" | "time" | "stdbuf" | "command" => true,
            "bash" | "sh" => command.words.len() == 3 && command.words[1].text == "-c",
            _ => false,
        }
}

impl Item<'_> {
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.doubt
    }

    /// Whether all conditions of a rule hold. A condition on something that the item does not have does not hold.
    pub(super) fn matches(&self, rule: &Rule) -> bool {
        let any = |patterns: &[String], is: &dyn Fn(&str) -> bool| {
            patterns.is_empty() || patterns.iter().any(|pattern| is(pattern))
        };
        (rule.categories.is_empty() || rule.categories.contains(&self.category()))
            && any(&rule.tools, &|pattern| glob_matches(pattern, &self.ask.tool_name))
            && any(&rule.paths, &|pattern| self.paths().any(|path| path_matches(pattern, path)))
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

    /// The path, or what could be one among the arguments of a command.
    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.what {
            What::Path(_, path) => Box::new(std::iter::once(path.as_str())),
            What::Command(command) => Box::new(command.arguments().iter().map(|word| word.text.as_str())),
            What::Host(_) | What::Tool => Box::new(std::iter::empty()),
        }
    }

    /// Whether everything that is fetched comes from one of the hosts.
    fn hosts_are(&self, patterns: &[String]) -> bool {
        let known = |host: &str| patterns.iter().any(|pattern| glob_matches(pattern, host));
        match self.what {
            What::Host(host) => known(host),
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
            && (rule.kinds.is_empty() || rule.kinds.contains(&command.kind()))
            && (rule.dangers.is_empty()
                || command.danger().is_some_and(|danger| rule.dangers.contains(&danger)))
    }
}

/// A short option, or the long one that says the same.
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

/// The hosts that `curl` or `wget` fetches from to its output; nothing if it does anything else.
fn fetched(command: &Command) -> Option<Vec<String>> {
    const HARMLESS: &[&str] =
        &["-s", "-S", "-sS", "-f", "-fsS", "-fsSL", "-L", "-sL", "-I", "-i", "-v", "-k", "-q", "-qO-", "-O-"];
    if command.kind() != CommandKind::Network || !matches!(command.name(), "curl" | "wget") {
        return None;
    }
    // Without an option `wget` writes a file.
    if command.name() == "wget" && !["-qO-", "-O-"].iter().any(|option| command.has_argument(option)) {
        return None;
    }
    let operands = command.arguments().iter().filter(|word| !HARMLESS.contains(&word.text.as_str()));
    let hosts: Option<Vec<String>> = operands.map(|word| host_of(&word.text)).collect();
    hosts.filter(|hosts| !hosts.is_empty())
}
