//! A server without Claude Code: this program plays its part.

use std::env;
use std::path::PathBuf;

use tidings_bridge::{Caller, Sessions};
use tidings_protocol::api::CreateSession;
use uuid::Uuid;

/// What the built-in script answers.
const PROMPT: &str = "The total of an invoice is off by a cent. Please find out why and fix it.";

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

    /// A session that is under way when somebody opens the page.
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

    /// Where the stand-in keeps its sessions.
    pub(super) fn config_dir(&self) -> PathBuf {
        self.folder.join("claude")
    }
}
