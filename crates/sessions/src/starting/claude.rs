//! Version, models and commands of Claude Code.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tidings_api::{MetaClaude, ModelChoice};
use tidings_journal::Key;
use tidings_protocol::TESTED_CLAUDE_CODE;

use crate::live_session::LiveSession;
use crate::{Error, Sessions};

/// Other versions that were compared with the tested one, oldest first: those in the titles of `docs/drift`,
/// as `cargo run -p xtask -- pins` writes them.
const COMPARED: &[&str] = &["2.1.197", "2.1.310", "2.1.325", "2.1.326"];

/// Cached facts, for requests while no agent runs.
#[derive(Debug, Default)]
pub(crate) struct ClaudeFacts {
    version: Arc<Mutex<Version>>,
    models: Mutex<Vec<ModelChoice>>,
    /// Descriptions of built-in slash commands, by name.
    commands: Mutex<BTreeMap<String, String>>,
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
    pub fn claude(&self) -> Option<MetaClaude> {
        let program = self.config().real_claude()?.to_owned();
        let mut version = self.0.claude.version.lock();
        match &*version {
            Version::Known(version) => return Some(about(Some(version.clone()))),
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
        Some(about(None))
    }

    /// The version of Claude Code for real sessions, if it was determined before.
    pub(crate) fn known_version(&self) -> Option<tidings::find::Version> {
        match &*self.0.claude.version.lock() {
            Version::Known(version) => version.parse().ok(),
            Version::Unknown | Version::Requested => None,
        }
    }

    /// The available models, as listed by a running agent, or by the last one that ran.
    pub(crate) fn models(&self) -> Vec<ModelChoice> {
        let of_claude = |entry: &LiveSession| entry.memory().settings.launch.backend.is_none();
        let active = self.active();
        let agents: Vec<_> = active
            .values()
            .filter(|used| of_claude(&used.entry))
            .filter_map(|used| used.entry.agent())
            .collect();
        drop(active);
        let newest = agents.iter().map(|agent| agent.models()).find(|models| !models.is_empty());
        let mut cached = self.0.claude.models.lock();
        if let Some(models) = newest {
            *cached = models;
        }
        cached.clone()
    }

    /// Descriptions of these slash commands of a session, as its agent lists them. Without an agent those of
    /// built-in commands are known from the last one; commands of other projects are not shown.
    pub fn command_descriptions(
        &self,
        key: &str,
        names: &[String],
    ) -> Result<BTreeMap<String, String>, Error> {
        let agent = self.active().get(&Key::new(key)?).and_then(|used| used.entry.agent());
        let own = agent.map(|agent| agent.commands()).unwrap_or_default();
        let mut cached = self.0.claude.commands.lock();
        let builtin = own.iter().filter(|command| command.builtin == Some(true));
        cached.extend(builtin.map(|command| (command.name.clone(), command.description.clone())));
        let mut known = cached.clone();
        drop(cached);
        known.extend(own.into_iter().map(|command| (command.name, command.description)));
        known.retain(|name, about| !about.is_empty() && names.contains(name));
        Ok(known)
    }
}

fn about(version: Option<String>) -> MetaClaude {
    let compared = COMPARED.iter().map(|version| (*version).to_owned()).collect();
    MetaClaude { version, tested: TESTED_CLAUDE_CODE.to_owned(), compared }
}
