//! A server inside another command: on a socket in a folder of its own, for one client.

use std::env;
use std::path::{Path, PathBuf};

use tidings_bridge::auth::Auth;
use tidings_bridge::server::Bound;
use tidings_bridge::{Server, auth};

use super::settings::{Layer, LogLevel, Observed, Settings};
use super::start::{self, JournalChoice};
use super::{auth_settings, logs};

/// A server that is ready to run.
pub(crate) struct Embedded {
    server: Server,
    bound: Bound,
}

impl Embedded {
    /// Opens a server with its data in a folder. Its agents get the environment of this process, and end with
    /// it.
    pub(crate) async fn open(data: &Path, claude_path: Option<PathBuf>) -> anyhow::Result<Self> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let layer = Layer {
            listen: Some("none".to_owned()),
            data: Some(data.to_owned()),
            claude_path,
            observe: Some(Observed::None),
            pass_env: Some(names.collect()),
            agent_lease: Some(0),
            archive_mib: Some(0),
            log_level: Some(LogLevel::Warn),
            ..Layer::default()
        };
        let settings = Settings { trusts_folders: true, ..Settings::decide(layer, None)? };
        logs::start(settings.log, settings.log_level);
        auth::data_folder(&settings.data)?;
        let auth = Auth::open(auth_settings(&settings)?)?;
        let bound = start::listen(&settings).bind()?;
        let sessions = start::sessions(&settings, &auth, JournalChoice::Existing).await?;
        auth.reached_at("http://localhost");
        start::write_notes(&settings)?;
        let server = Server::new(sessions, auth).transcripts(start::transcripts());
        Ok(Embedded { server, bound })
    }

    /// Serves until `stop` completes.
    pub(crate) async fn run(self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        Ok(self.server.run(self.bound, stop).await?)
    }
}
