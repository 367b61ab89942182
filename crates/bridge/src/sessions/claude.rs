//! What Claude Code has told of itself: its version, and the models that can be chosen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_protocol::api::{MetaClaude, ModelChoice};

use super::Sessions;

/// What was told, for those who ask while no agent runs.
#[derive(Debug, Default)]
pub(super) struct Told {
    version: Arc<Mutex<Version>>,
    models: Mutex<Vec<ModelChoice>>,
}

#[derive(Debug, Default)]
enum Version {
    #[default]
    NotAsked,
    Asked,
    Known(String),
}

impl Sessions {
    /// The Claude Code of real sessions. Its version is asked for once, and is there a moment later.
    pub(crate) fn claude(&self) -> Option<MetaClaude> {
        let program = self.config().real_claude()?.to_owned();
        let mut version = lock(&self.0.claude.version);
        match &*version {
            Version::Known(version) => return Some(MetaClaude { version: Some(version.clone()) }),
            Version::Asked => {}
            Version::NotAsked => {
                *version = Version::Asked;
                let told = Arc::clone(&self.0.claude.version);
                drop(tokio::spawn(async move {
                    match tidings::find::version(&program).await {
                        Ok(version) => *lock(&told) = Version::Known(version.to_string()),
                        Err(error) => tracing::warn!(%error, "Claude Code does not tell its version"),
                    }
                }));
            }
        }
        Some(MetaClaude::default())
    }

    /// The models that can be chosen, as an agent that runs lists them, or the last one that did.
    pub(crate) fn models(&self) -> Vec<ModelChoice> {
        let agents: Vec<_> = self.used().values().filter_map(|used| used.entry.agent()).collect();
        let newest =
            agents.iter().map(|agent| agent.client().info().models).find(|models| !models.is_empty());
        let mut kept = lock(&self.0.claude.models);
        if let Some(models) = newest {
            *kept = models.into_iter().map(choice).collect();
        }
        kept.clone()
    }
}

fn choice(model: tidings::control::ModelInfo) -> ModelChoice {
    let name = if model.display_name.is_empty() { model.value.clone() } else { model.display_name };
    ModelChoice { value: model.value, name, description: model.description, model: model.resolved_model }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept is whole whenever the lock is free.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
