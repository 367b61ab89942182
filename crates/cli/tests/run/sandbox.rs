//! A folder with a `claude` in it that plays a script.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use tempfile::TempDir;

/// Temporary folder of a test with a stand-in for `claude`. It is removed on drop.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn playing(script: &str) -> Self {
        let sandbox = Sandbox { folder: TempDir::new().unwrap() };
        std::fs::write(sandbox.path("script.toml"), script).unwrap();
        let program = env!("CARGO_BIN_EXE_tidings");
        let script = sandbox.path("script.toml");
        let line =
            format!("#!/bin/sh\nexec '{program}' rehearse agent --script '{}' \"$@\"\n", script.display());
        std::fs::write(sandbox.claude(), line).unwrap();
        std::fs::set_permissions(sandbox.claude(), std::fs::Permissions::from_mode(0o755)).unwrap();
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn claude(&self) -> PathBuf {
        self.path("claude")
    }

    /// Complete environment of a run.
    pub(crate) fn environment(&self) -> [(&'static str, String); 5] {
        let folder = self.folder.path().to_str().unwrap().to_owned();
        [
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("HOME", folder.clone()),
            ("CLAUDE_CONFIG_DIR", format!("{folder}/config")),
            ("TIDINGS_CACHE_DIR", format!("{folder}/cache")),
            ("TERM", "xterm-256color".to_owned()),
        ]
    }

    /// Arguments of a run with the stand-in.
    pub(crate) fn arguments(&self, more: &[&str]) -> Vec<String> {
        let claude = self.claude().to_str().unwrap().to_owned();
        let own = ["run".to_owned(), "--claude-path".to_owned(), claude];
        own.into_iter().chain(more.iter().map(|argument| (*argument).to_owned())).collect()
    }
}

/// Script of a command with a permission request, and an answer for each decision.
pub(crate) const ASKS: &str = r#"
[[turn]]

[[turn.block]]
text = "I will **clean up**."

[[turn.block]]
tool = "Bash"
input = { command = "rm -rf build", description = "Remove it" }
ask = true
result = "removed"

[[turn]]
when = { last_contains = "removed" }
text = "It is gone."

[[turn]]
when = { last_contains = "keep it for now" }
text = "It stays, as you say."

[[turn]]
text = "It stays."
"#;
