//! The versions of Claude Code, the SDKs and other agents that the tests run with.
//!
//! Each is pinned in one file of `e2e`, from which a package manager installs it. The other places that name
//! it are listed here; `cargo run -p xtask -- pins` rewrites them, and a tidy rule compares them. `make pin`
//! changes the pins themselves.

use crate::Outcome;
use crate::repo::{self, TextFile};
use std::collections::BTreeMap;

/// A pinned package: its name in the places, and the file and the text before its version.
const PINS: &[(&str, &str, &str)] = &[
    ("claude", "e2e/cli/package.json", "\"@anthropic-ai/claude-code-linux-x64\": \""),
    ("typescript", "e2e/ts/package.json", "\"@anthropic-ai/claude-agent-sdk\": \""),
    ("python", "e2e/requirements-sdk.txt", "claude-agent-sdk=="),
    ("claude-agent-acp", "e2e/acp/package.json", "\"@agentclientprotocol/claude-agent-acp\": \""),
    ("codex-acp", "e2e/agents/package.json", "\"@agentclientprotocol/codex-acp\": \""),
    ("codex", "e2e/agents/package.json", "\"@openai/codex\": \""),
    ("gemini", "e2e/agents/package.json", "\"@google/gemini-cli\": \""),
    ("opencode", "e2e/agents/package.json", "\"opencode-linux-x64\": \""),
    ("goose", "e2e/goose/package.json", "\"@aaif/goose-binary-linux-x64\": \""),
];

/// The other places: a file, and a part of its text with the names of pins in braces. `{compared}` are the
/// other versions in the titles of `docs/drift`.
const PLACES: &[(&str, &str)] = &[
    ("e2e/cli/package.json", "\"@anthropic-ai/claude-code-linux-arm64\": \"{claude}\""),
    ("crates/protocol/src/lib.rs", "TESTED_CLAUDE_CODE: &str = \"{claude}\";"),
    ("crates/sessions/src/starting/claude.rs", "const COMPARED: &[&str] = &[{compared}];"),
    ("packaging/Dockerfile", "ARG CLAUDE_CODE={claude}\n"),
    ("benches/acp/claude.py", "\"claude_code_version\": \"{claude}\""),
    ("benches/acp/claude.py", "print(\"{claude} (Claude Code)\")"),
    ("benches/bridge/src/agent.rs", "println!(\"{claude} (Claude Code)\")"),
    ("benches/bridge/src/agent.rs", "\"claude_code_version\": \"{claude}\""),
    (
        "docs/parity.md",
        "`@anthropic-ai/claude-agent-sdk` {typescript} for TypeScript, `claude-agent-sdk` {python} for Python, \
         and the behaviour of Claude Code {claude}.\n",
    ),
    (
        "docs/agents.md",
        "| | claude-agent-acp {claude-agent-acp} | opencode {opencode} | codex-acp {codex-acp} with Codex {codex} \
         | gemini-cli {gemini} | goose {goose} |",
    ),
];

/// Folder of the reports of `make drift`.
const REPORTS: &str = "docs/drift/";

/// Rewrites every place.
pub(crate) fn run() -> Outcome {
    let mut files = repo::files()?;
    let values = values(&files)?;
    for (path, template) in PLACES {
        let Some(file) = files.iter_mut().find(|file| file.path == *path) else {
            return Err(format!("{path} is missing").into());
        };
        file.text = written(&file.text, template, &values).ok_or_else(|| absent(path, template))?;
        std::fs::write(repo::root().join(path), &file.text)?;
    }
    println!(
        "pins: {}",
        values.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    );
    Ok(true)
}

/// Problems of the places, each with its file.
pub(crate) fn problems(files: &[TextFile]) -> Vec<(&'static str, String)> {
    let values = match values(files) {
        Ok(values) => values,
        Err(problem) => return vec![(PINS[0].1, problem)],
    };
    let mut found = Vec::new();
    // The last number of the TypeScript SDK is that of the Claude Code that it belongs to.
    let last = |name: &str| values.get(name).and_then(|value| value.rsplit('.').next());
    if last("claude") != last("typescript") {
        found.push((PINS[1].1, "the TypeScript SDK belongs to another version of Claude Code".to_owned()));
    }
    for (path, template) in PLACES {
        let text = text_of(files, path);
        match written(text, template, &values) {
            None => found.push((*path, absent(path, template))),
            Some(written) if without_spaces(&written) != without_spaces(text) => {
                found.push((*path, format!("`{}` names other versions than e2e", template.trim_end())));
            }
            Some(_) => {}
        }
    }
    found
}

/// The pinned versions by name, and `compared`, the list of the others.
fn values(files: &[TextFile]) -> Result<BTreeMap<&'static str, String>, String> {
    let mut values = BTreeMap::new();
    for (name, path, before) in PINS {
        let after = text_of(files, path).split_once(before).ok_or_else(|| absent(path, before))?.1;
        let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(after.len());
        values.insert(*name, after[..end].to_owned());
    }
    let reports = files.iter().filter(|file| file.path.starts_with(REPORTS));
    let titles = reports.filter_map(|file| file.text.lines().next()?.strip_prefix("# Claude Code "));
    let mut compared: Vec<&str> = titles.flat_map(|title| title.split(", compared with ")).collect();
    compared.retain(|version| *version != values["claude"]);
    compared.sort_by_key(|version| {
        version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>()
    });
    compared.dedup();
    let compared: Vec<String> = compared.iter().map(|version| format!("\"{version}\"")).collect();
    values.insert("compared", compared.join(", "));
    Ok(values)
}

/// The text with the versions in the place of this template, or `None` if no part of it fits.
fn written(text: &str, template: &str, values: &BTreeMap<&str, String>) -> Option<String> {
    let mut parts =
        template.split('{').flat_map(|part| part.split_once('}').map_or(vec![part], |(a, b)| vec![a, b]));
    let first = parts.next()?;
    let at = text.find(first)? + first.len();
    let mut written = text[..at].to_owned();
    let mut rest = &text[at..];
    while let (Some(name), Some(after)) = (parts.next(), parts.next()) {
        written += values.get(name)?;
        written += after;
        rest = &rest[rest.find(after)? + after.len()..];
    }
    Some(written + rest)
}

/// For comparison: rustfmt breaks long lists into lines.
fn without_spaces(text: &str) -> String {
    text.replace(|letter: char| letter.is_whitespace(), "").replace(",]", "]")
}

fn text_of<'a>(files: &'a [TextFile], path: &str) -> &'a str {
    files.iter().find(|file| file.path == path).map_or("", |file| &file.text)
}

fn absent(path: &str, text: &str) -> String {
    format!("{path} has no text like `{}`", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [(&str, &str); 2] = [("claude", "2.1.9"), ("python", "0.2.5")];

    fn fill(text: &str, template: &str) -> Option<String> {
        written(text, template, &VALUES.map(|(name, value)| (name, value.to_owned())).into())
    }

    #[test]
    fn versions_are_written_into_their_place_and_nowhere_else() {
        assert_eq!(
            fill("A=1.0\nB=1.0 C=2\n", "B={claude} C={python}\n").unwrap(),
            "A=1.0\nB=2.1.9 C=0.2.5\n"
        );
        assert_eq!(fill("A=1.0\n", "B={claude}\n"), None);
    }

    #[test]
    fn a_place_with_another_version_is_a_problem() {
        let mut files = repo::files().unwrap();
        assert_eq!(problems(&files), []);
        let file = files.iter_mut().find(|file| file.path == "packaging/Dockerfile").unwrap();
        file.text = file.text.replace("ARG CLAUDE_CODE=", "ARG CLAUDE_CODE=1");
        assert_eq!(
            problems(&files).iter().map(|(path, _)| *path).collect::<Vec<_>>(),
            ["packaging/Dockerfile"]
        );
    }
}
