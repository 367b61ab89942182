//! Rules about shell commands.

use super::programs::{has_plain_wildcard, runs_any_script};
use crate::permissions::{CommandKind, Danger, RedirectKind, Role, Script, SimpleCommand, WordKind};

/// A rule whose text was understood.
struct CommandRule {
    words: Vec<String>,
    ending: Ending,
}

/// The calls that a rule matches after its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// None: the rule is one command.
    Exact,
    /// Any further words.
    Wildcard,
}

/// True if each rule may be offered, every command of a script is covered by one, and every rule covers one.
pub(super) fn are_covered(script: Option<&Script>, contents: &[&str]) -> bool {
    let rules: Option<Vec<CommandRule>> =
        contents.iter().map(|content| CommandRule::parse(content)).collect();
    let (Some(script), Some(rules)) = (script, rules) else { return false };
    let commands = script.commands();
    !script.is_opaque()
        && !commands.is_empty()
        && commands.iter().all(|command| rules.iter().any(|rule| rule.covers(command)))
        && rules.iter().all(|rule| commands.iter().any(|command| rule.covers(command)))
}

/// True if every command of a script could be offered as it is.
pub(super) fn are_plain(script: Option<&Script>) -> bool {
    script.is_some_and(|script| {
        !script.is_opaque() && !script.commands().is_empty() && script.commands().iter().all(is_plain)
    })
}

impl CommandRule {
    /// Reads the text of a rule; `None` if it may not be offered.
    fn parse(content: &str) -> Option<Self> {
        let prefix = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
        let (text, ending) = prefix.map_or((content, Ending::Exact), |prefix| (prefix, Ending::Wildcard));
        if text.contains('*') {
            return None;
        }
        let script = Script::parse(text);
        let [command] = script.commands() else { return None };
        if script.is_opaque() || !is_plain(command) {
            return None;
        }
        let words: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
        let is_offered = match ending {
            Ending::Exact => true,
            Ending::Wildcard => has_plain_wildcard(&words),
        };
        is_offered.then_some(CommandRule { words, ending })
    }

    fn covers(&self, command: &SimpleCommand) -> bool {
        let is_same_length = self.words.len() == command.words.len();
        is_plain(command)
            && (is_same_length || (self.ending == Ending::Wildcard && self.words.len() < command.words.len()))
            && self.words.iter().zip(&command.words).all(|(mine, word)| *mine == word.text)
    }
}

/// True if a command does the same each time, as far as its words tell: it runs neither other commands nor a
/// script, and its input does not come from elsewhere.
fn is_plain(command: &SimpleCommand) -> bool {
    let takes_input = |text: &str| {
        matches!(text, "-" | "@-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
            || text.ends_with("=-")
            || text.ends_with("@-")
            || (command.kind() == CommandKind::Network && (text.starts_with('@') || text.contains("=@")))
    };
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    command.role == Role::Direct
        && !words.is_empty()
        && command.is_bare()
        && command.redirects.iter().all(|redirect| redirect.kind != RedirectKind::Text)
        && command.words.iter().all(|word| word.kind == WordKind::Static)
        && !matches!(command.danger(), Some(Danger::Privileged | Danger::Foreign))
        && !command.arguments().iter().any(|word| takes_input(&word.text))
        && !runs_any_script(&words)
}
