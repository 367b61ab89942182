//! The sessions of a server inside another command, for one editor.

use std::env;
use std::path::{Path, PathBuf};

use tidings_bridge::api::{Api, LocalEditor};
use tidings_bridge::auth::Auth;
use tidings_bridge::server::Retention;
use tidings_sessions::{Caller, Sessions};

use super::declared::{DeclaredSettings, LogLevel, Observed};
use super::settings::Settings;
use super::start::{self, JournalChoice};
use super::{auth_settings, logs};

/// Bytes of newest events that each session keeps in memory. The editor has shown older ones, and Claude Code
/// keeps its own transcript.
const EVENT_BYTES_MAX: u64 = 64 << 20;

/// Sessions that live as long as this process.
pub(crate) struct Embedded {
    sessions: Sessions,
    pub(crate) editor: LocalEditor,
}

impl Embedded {
    /// Opens sessions whose files are in a folder. Their agents get the environment of this process, and end
    /// with it.
    pub(crate) async fn open(data: &Path, claude_path: Option<PathBuf>) -> anyhow::Result<Self> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let given = DeclaredSettings {
            listen: "none".to_owned(),
            data: Some(data.to_owned().into()),
            claude_path: claude_path.map(Into::into),
            observe: Observed::None,
            pass_env: names.collect(),
            agent_lease: 0,
            archive_mib: 0,
            log_level: LogLevel::Warn,
            ..DeclaredSettings::default()
        };
        let settings = Settings { trusts_folders: true, ..Settings::decide(given, None)? };
        logs::start(settings.given.log, settings.given.log_level);
        tidings_sessions::private::data_folder(&settings.data)?;
        let auth = Auth::open(auth_settings(&settings)?)?;
        let sessions = start::sessions(&settings, &auth, JournalChoice::InMemory).await?;
        let retention = Retention { bytes: Some(EVENT_BYTES_MAX), ..Retention::default() };
        tokio::spawn(retention.run(sessions.clone()));
        let mut api = Api::new(sessions.clone());
        api.transcripts = start::transcripts();
        let editor = LocalEditor::new(api, Caller::admin("editor"));
        Ok(Embedded { sessions, editor })
    }

    /// Ends the agents.
    pub(crate) async fn close(self) {
        self.sessions.drain().await;
    }
}
