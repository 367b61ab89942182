//! Sub-agents that a text mentions.

use std::sync::LazyLock;

use regex::Regex;
use tidings_protocol::mobile::SubAgentType;

use super::pattern;
use super::task::shortened;

/// A sub-agent that a text mentions as working.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AgentMention {
    /// Its name in the text.
    pub name: String,
    /// Its purpose, derived from its name and task.
    pub agent_type: SubAgentType,
    /// Its task.
    pub task: String,
}

static MENTIONS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?ix)
        \bstarting\s+(?:(?:the|a|an)\s+)?(?P<started>[a-z][\w-]*(?:\s+[a-z][\w-]*){0,2}?)\s+(?:sub-?)?agent\s+(?:for|to)\s+(?P<started_task>[^\n]+)
        | \bdelegating\s+to\s+(?:(?:the|a|an)\s+)?(?P<delegated>[a-z][\w-]*(?:\s+[a-z][\w-]*){0,2}?)\s+(?:sub-?)?agent\s*:\s*(?P<delegated_task>[^\n]+)
        | \[agent:\s*(?P<tagged>[^\]\n]{1,64}?)\s*\]\s*starting\s*:\s*(?P<tagged_task>[^\n]+)",
    )
});

/// The sub-agents that a segment of text mentions.
pub(super) fn mentions(segment: &str) -> Vec<AgentMention> {
    MENTIONS
        .captures_iter(segment)
        .filter_map(|found| {
            let word = |name| found.name(name).map(|text| text.as_str());
            let name = word("started").or(word("delegated")).or(word("tagged"))?;
            let task = word("started_task").or(word("delegated_task")).or(word("tagged_task"))?;
            let task = shortened(task);
            Some(AgentMention { name: name.to_owned(), agent_type: sub_agent_type(name, &task), task })
        })
        .collect()
}

/// The purpose of a sub-agent: derived from its name, or from its task if the name is not specific.
pub fn sub_agent_type(name: &str, task: &str) -> SubAgentType {
    named_type(name).or_else(|| named_type(task)).unwrap_or_default()
}

fn named_type(text: &str) -> Option<SubAgentType> {
    const WORDS: [(&[&str], SubAgentType); 8] = [
        (&["secur", "vulnerab", "pentest"], SubAgentType::Security),
        (&["perform", "optimi", "benchmark", "profil"], SubAgentType::Performance),
        (&["test", "qa"], SubAgentType::Testing),
        (&["deploy", "release", "ship"], SubAgentType::Deployment),
        (&["refactor", "restructur", "cleanup"], SubAgentType::Refactoring),
        (&["doc", "readme"], SubAgentType::Documentation),
        (&["build", "compil", "packag"], SubAgentType::Build),
        (&["analy", "review", "explor", "research", "investigat", "audit"], SubAgentType::Analysis),
    ];
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    WORDS.into_iter().find_map(|(stems, agent_type)| {
        let named = words.iter().any(|word| stems.iter().any(|stem| word.starts_with(stem)));
        named.then_some(agent_type)
    })
}
