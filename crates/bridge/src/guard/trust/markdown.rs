//! What the description of an agent, a command or a skill would have an agent run.

/// Keys of a front matter that run something or allow something.
const KEYS: [&str; 6] = ["hooks", "mcpServers", "permissionMode", "allowed-tools", "allowedTools", "shell"];

/// Commands that are run when the description is used stand between these.
const RUNS: &str = "!`";

/// Lines that run or allow something.
pub(super) fn description(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut front = false;
    for (line, number) in text.lines().zip(1_usize..) {
        if line.trim_end() == "---" && (number == 1 || front) {
            front = number == 1;
        }
        let key = line.split_once(':').map(|(key, _)| key.trim().trim_matches(['"', '\'']));
        let counts = front && key.is_some_and(|key| KEYS.contains(&key)) || line.contains(RUNS);
        if counts {
            found.push((format!("line {number}"), line.trim().to_owned()));
        }
    }
    found
}
