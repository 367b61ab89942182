//! What the description of an agent, a command or a skill would have an agent run.

/// Keys of a front matter that run nothing and allow nothing. One that is not here counts, as `claude` may know it, and
/// so does one in a spelling of YAML that is not looked into.
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

/// Lines that run or allow something.
pub(super) fn description(text: &str) -> Vec<(String, String)> {
    // Editors put one in front, and `claude` reads over it.
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

/// Whether commands stand here that are run when the description is used: `` !`command` ``, or a block of them, which
/// opens with a fence and an exclamation mark.
fn runs(line: &str) -> bool {
    let opens = |fence: &str| {
        // A fence may be longer than three.
        let mut rests = line.split(fence).skip(1).map(|rest| rest.trim_start_matches(['`', '~', ' ', '\t']));
        rests.any(|rest| rest.starts_with('!'))
    };
    line.contains("!`") || opens("```") || opens("~~~")
}

/// Where a line stands to the front matter.
enum Front {
    Before,
    /// In it; keys stand this far from the edge once one was seen, and what follows the last one belongs to it.
    Within {
        edge: Option<usize>,
    },
    Behind,
}

impl Front {
    /// Goes on by a line, and says whether it is a key that counts.
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
                // Deeper lines, and lists, are the value of a key above them.
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
