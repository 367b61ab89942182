//! Rules of Claude Code that keep an agent from reading credentials, whatever a prompt, a mode or a setting
//! says.
//!
//! They bind the tools for files, sub-agents and mentions in prompts, and not Bash: there the policy decides.
//! The configuration folder of the CLI is not in the list, because Claude Code reads its plans and stored
//! outputs there.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Files and folders of credentials in the home folder of the user.
const CREDENTIALS: [&str; 34] = [
    ".ssh/**",
    ".aws/**",
    ".azure/**",
    ".config/gcloud/**",
    ".kube/**",
    ".docker/config.json",
    ".gnupg/**",
    ".password-store/**",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh/**",
    ".config/glab-cli/**",
    ".config/hub",
    ".cargo/credentials*",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".vault-token",
    ".terraform.d/**",
    ".config/op/**",
    ".config/doctl/**",
    ".config/heroku/**",
    ".local/share/keyrings/**",
    ".mozilla/**",
    ".config/google-chrome/**",
    ".config/chromium/**",
];

/// The settings with these rules, for `--settings`, which no other settings override.
///
/// The shell returns to the folder of the session after each command: a policy could not know where a
/// relative path leads after a `cd` in an earlier one.
pub(super) fn settings(protected: &[PathBuf], folder: &Path) -> Value {
    json!({
        "permissions": { "deny": rules(protected, folder) },
        "env": { "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1" },
    })
}

/// The rules for a session in `folder`, with the folders that no agent may open.
fn rules(protected: &[PathBuf], folder: &Path) -> Vec<String> {
    let mut patterns: Vec<String> = CREDENTIALS.iter().map(|path| format!("~/{path}")).collect();
    // A project inside of the data folder, as in a demo, would not be readable.
    let protected =
        protected.iter().map(|data| resolved(data)).filter(|data| !resolved(folder).starts_with(data));
    patterns.extend(protected.filter_map(|data| Some(format!("/{}/**", as_pattern(data.to_str()?)))));
    patterns.iter().flat_map(|pattern| ["Read", "Edit"].map(|tool| format!("{tool}({pattern})"))).collect()
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A path as a pattern that matches it. Signs that patterns and rules use stand for themselves as `?`.
fn as_pattern(path: &str) -> String {
    path.chars().map(|sign| if "*?[]{}()!\\,".contains(sign) { '?' } else { sign }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k21_every_agent_is_kept_from_credentials_and_from_the_data_folder() {
        let rules = |data: &str, folder: &str| rules(&[PathBuf::from(data)], Path::new(folder));
        let usual = rules("/home/ada/.local/share/tidings", "/home/ada/project");
        for rule in [
            "Read(~/.ssh/**)",
            "Edit(~/.ssh/**)",
            "Read(~/.aws/**)",
            "Read(~/.netrc)",
            "Read(//home/ada/.local/share/tidings/**)",
            "Edit(//home/ada/.local/share/tidings/**)",
        ] {
            assert!(usual.iter().any(|known| known == rule), "{rule}");
        }
        assert!(!usual.iter().any(|rule| rule.contains(".claude")));
        assert!(rules("/srv/a (1)/*", "/home/ada").contains(&"Read(//srv/a ?1?/?/**)".to_owned()));
        assert!(!rules("/tmp/demo", "/tmp/demo/project").iter().any(|rule| rule.contains("/tmp/demo")));
    }
}
