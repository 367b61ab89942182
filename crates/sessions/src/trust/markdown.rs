//! Commands in the Markdown description of an agent, a command or a skill.

/// Front matter keys that run nothing and allow nothing. All other keys count, since `claude` may know them;
/// so do keys in YAML syntax that is not parsed here.
const HARMLESS: &[&str] = &[
    "agent",
    "argument-hint",
    "arguments",
    "author",
    "background",
    "category",
    "color",
    "compatibility",
    "context",
    "description",
    "disable-model-invocation",
    "disallowed-tools",
    "disallowedTools",
    "effort",
    "license",
    "maxTurns",
    "memory",
    "metadata",
    "model",
    "name",
    "skills",
    "tags",
    "tools",
    "user-invocable",
    "version",
    "when_to_use",
];

/// The lines that run or allow something, with their numbers.
pub(super) fn description(text: &str) -> Vec<(String, String)> {
    // Some editors write a byte order mark, which `claude` ignores.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = Vec::new();
    let mut front = Front::Before;
    for (line, number) in text.lines().zip(1_usize..) {
        if front.counts(line) || runs(line) {
            found.push((format!("line {number}"), line.trim().to_owned()));
        }
    }
    found
}

/// True if the line contains commands that run when the description is used: `` !`command` ``, or the start
/// of a block of commands, which is a fence with an exclamation mark.
fn runs(line: &str) -> bool {
    let opens = |fence: &str| {
        // A fence may have more than three characters.
        let mut rests = line.split(fence).skip(1).map(|rest| rest.trim_start_matches(['`', '~', ' ', '\t']));
        rests.any(|rest| rest.starts_with('!'))
    };
    line.contains("!`") || opens("```") || opens("~~~")
}

/// The position of a line relative to the front matter.
enum Front {
    Before,
    /// Inside; `edge` is the indentation of keys, once one was seen.
    Within {
        edge: Option<usize>,
    },
    Behind,
}

impl Front {
    /// Advances by a line. Returns true if the line is a key that counts.
    fn counts(&mut self, line: &str) -> bool {
        let is_rule = line.trim_end() == "---";
        match self {
            Front::Before if is_rule => *self = Front::Within { edge: None },
            Front::Before if !line.trim().is_empty() => *self = Front::Behind,
            Front::Within { .. } if is_rule => *self = Front::Behind,
            Front::Within { edge } => {
                let text = line.trim_start();
                if text.is_empty() || text.starts_with('#') {
                    return false;
                }
                let indent = line.len() - text.len();
                // Lines with more indentation, and lists, belong to the value of the key above.
                if edge.is_some_and(|edge| indent > edge || text.starts_with("- ")) {
                    return false;
                }
                *edge = Some(indent);
                let key = text.split_once(':').map(|(key, _)| key.trim().trim_matches(['"', '\'']));
                return key.is_none_or(|key| !HARMLESS.contains(&key));
            }
            Front::Before | Front::Behind => {}
        }
        false
    }
}
