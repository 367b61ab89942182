//! A server without Claude Code: this program plays its part.

use std::env;
use std::path::PathBuf;

use uuid::Uuid;

/// A demonstration. Its folder is gone when it ends.
#[derive(Debug)]
pub(super) struct Demo {
    /// Where it keeps what it must keep somewhere.
    pub(super) folder: PathBuf,
    /// The program that plays.
    pub(super) program: PathBuf,
    script: Option<PathBuf>,
}

impl Demo {
    pub(super) fn new(script: Option<PathBuf>) -> anyhow::Result<Self> {
        let folder = env::temp_dir().join(format!("tidings-demo-{}", Uuid::new_v4().simple()));
        let script = script.map(std::path::absolute).transpose()?;
        if let Some(script) = &script {
            fs_err::metadata(script)?;
        }
        Ok(Demo { folder, program: env::current_exe()?, script })
    }

    /// What comes before the arguments of `claude`.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["rehearse".to_owned(), "agent".to_owned()];
        if let Some(script) = &self.script {
            arguments.extend(["--script".to_owned(), script.display().to_string()]);
        }
        arguments.extend([
            "--config-dir".to_owned(),
            self.config_dir().display().to_string(),
            "--".to_owned(),
        ]);
        arguments
    }

    /// Where the stand-in keeps its sessions.
    pub(super) fn config_dir(&self) -> PathBuf {
        self.folder.join("claude")
    }
}
