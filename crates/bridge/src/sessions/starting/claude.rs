//! Version and models of Claude Code.

use std::sync::Arc;

use parking_lot::Mutex;
use tidings_protocol::api::{MetaClaude, ModelChoice};

use crate::sessions::Sessions;

/// Cached facts, for requests while no agent runs.
#[derive(Debug, Default)]
pub(in crate::sessions) struct ClaudeFacts {
    version: Arc<Mutex<Version>>,
    models: Mutex<Vec<ModelChoice>>,
}

#[derive(Debug, Default)]
enum Version {
    #[default]
    Unknown,
    Requested,
    Known(String),
}

impl Sessions {
    /// The Claude Code for real sessions. Its version is determined once, in the background, and is missing
    /// until then.
    pub(crate) fn claude(&self) -> Option<MetaClaude> {
        let program = self.config().real_claude()?.to_owned();
        let mut version = self.0.claude.version.lock();
        match &*version {
            Version::Known(version) => return Some(MetaClaude { version: Some(version.clone()) }),
            Version::Requested => {}
            Version::Unknown => {
                *version = Version::Requested;
                let shared = Arc::clone(&self.0.claude.version);
                drop(tokio::spawn(async move {
                    match tidings::find::version(&program).await {
                        Ok(version) => *shared.lock() = Version::Known(version.to_string()),
                        Err(error) => {
                            tracing::warn!(%error, "failed to determine the version of Claude Code");
                        }
                    }
                }));
            }
        }
        Some(MetaClaude::default())
    }

    /// The available models, as listed by a running agent, or by the last one that ran.
    pub(crate) fn models(&self) -> Vec<ModelChoice> {
        let agents: Vec<_> = self.active().values().filter_map(|used| used.entry.agent()).collect();
        let newest = agents.iter().map(|agent| agent.models()).find(|models| !models.is_empty());
        let mut cached = self.0.claude.models.lock();
        if let Some(models) = newest {
            *cached = models;
        }
        cached.clone()
    }
}
