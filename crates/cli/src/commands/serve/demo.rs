//! Demo mode of the server: this program stands in for Claude Code.

use std::env;
use std::path::PathBuf;

use tidings_api::CreateSession;
use tidings_sessions::{Caller, Sessions};
use uuid::Uuid;

/// Prompt that the built-in script answers.
const PROMPT: &str = "The total of an invoice is off by a cent. Please find out why and fix it.";

/// A demo. Its folder is deleted when the server ends.
#[derive(Debug)]
pub(super) struct Demo {
    /// Temporary folder for its data.
    pub(super) folder: PathBuf,
    /// Program that stands in for `claude`.
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

    /// Arguments that precede those of `claude`.
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

    /// Starts a session, so that one is running when a user opens the page.
    pub(super) async fn begin(&self, sessions: &Sessions) -> anyhow::Result<()> {
        let project = self.folder.join("shop");
        fs_err::create_dir_all(&project)?;
        let session = CreateSession {
            cwd: project.display().to_string(),
            prompt: Some(PROMPT.to_owned()),
            title: Some("Find the lost cent".to_owned()),
            ..CreateSession::default()
        };
        sessions.create(&Caller::admin("demo"), session).await?;
        Ok(())
    }

    /// Folder in which the stand-in stores its sessions.
    pub(super) fn config_dir(&self) -> PathBuf {
        self.folder.join("claude")
    }
}
