//! The place of this server in its fleet over time: whose fleet it is, whether this server was removed, the
//! keys that the fleet encrypts with, and the signed state that outlives the bucket.

use std::sync::Arc;

use tidings_api::Code;
use tidings_fleet::limits::{BEAT_EVERY, CHECKPOINT_EVERY, RETRY_MAX};
use tidings_fleet::{ErrorKind, FleetSecret, Name, fetch_key};
use tidings_journal::DocumentChange;
use tidings_sessions::{Error, Sessions};
use tokio_util::sync::CancellationToken;

use super::{Fleet, fleet_error};

/// The kind of the documents with signed values of the shared state.
const DOCUMENT: &str = "fleet_state";

impl Fleet {
    /// The reason for which this server takes no part in its fleet.
    pub(crate) fn problem(&self) -> Option<String> {
        self.0.problem.lock().clone()
    }

    fn set_problem(&self, problem: Option<String>) {
        let mut known = self.0.problem.lock();
        if let Some(problem) = problem.as_ref().filter(|problem| known.as_ref() != Some(problem)) {
            tracing::error!("{problem}");
        }
        *known = problem;
    }

    /// Waits until this server may take part in the fleet; false if it is stopped before.
    pub(super) async fn enter(&self, stop: &CancellationToken) -> bool {
        let admin = self.0.join.as_ref().map(|join| join.admin().clone());
        let enter = async {
            loop {
                self.0.link.connected().await;
                match self.roster().check_fleet(admin.as_ref()).await {
                    Ok(()) => return self.set_problem(None),
                    Err(error) if error.kind() == ErrorKind::Conflict => {
                        self.set_problem(Some(format!("{error}: this server takes no part in it")));
                    }
                    Err(error) => tracing::debug!(%error, "the fleet is not entered yet"),
                }
                tokio::time::sleep(RETRY_MAX).await;
            }
        };
        stop.run_until_cancelled(Box::pin(enter)).await.is_some()
    }

    /// Takes the signed state of the last run.
    pub(super) async fn load_state(&self, sessions: &Sessions) {
        match sessions.broadcast().journal().documents(DOCUMENT).await {
            Ok(found) => {
                let values = found.into_iter().map(|document| (document.id, document.body.to_vec()));
                self.roster().take_values(values.collect());
            }
            Err(error) => tracing::warn!(%error, "failed to read the state of the fleet"),
        }
    }

    /// Keeps the signed state for the next run, until it is stopped.
    pub(super) async fn keep_state(&self, sessions: &Sessions, stop: &CancellationToken) {
        let mut kept = 0;
        loop {
            let is_last = stop.is_cancelled();
            let (values, number) = self.roster().values_after(kept);
            let documents: Vec<DocumentChange> = values
                .into_iter()
                .map(|(id, value)| DocumentChange { kind: DOCUMENT, id, body: Some(Arc::from(value)) })
                .collect();
            let stored = if documents.is_empty() {
                Ok(())
            } else {
                sessions.broadcast().journal().change_documents(documents).await
            };
            match stored {
                Ok(()) => kept = number,
                Err(error) => tracing::warn!(%error, "failed to keep the state of the fleet"),
            }
            if is_last {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(CHECKPOINT_EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Ends this server's part in the fleet when the admin has removed it.
    pub(super) async fn watch_membership(&self, stop: &CancellationToken) {
        let mut changes = self.roster().changes();
        while !stop.is_cancelled() {
            if self.roster().is_removed() {
                self.set_problem(Some(format!(
                    "This server was removed from the fleet `{}`: it reads and sends nothing there any more",
                    self.0.file.fleet
                )));
                return stop.cancel();
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Gets every new key of the fleet from the server with the admin's key, until it is stopped. That server
    /// repeats an announcement that did not arrive.
    pub(super) async fn follow_key(&self, stop: &CancellationToken) {
        let secrets = &self.0.link.identity().secrets;
        let mut changes = secrets.changes();
        while !stop.is_cancelled() {
            let is_behind = self.is_key_behind();
            if let Err(error) = self.step_key().await {
                tracing::warn!(%error, "the new key of the fleet is not here yet");
            }
            tokio::select! {
                () = tokio::time::sleep(BEAT_EVERY), if is_behind => {}
                _ = changes.changed() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    fn is_key_behind(&self) -> bool {
        let secrets = &self.0.link.identity().secrets;
        let newest = secrets.generation().unwrap_or_default();
        let is_announced = self.roster().announced_key().unwrap_or_default() >= newest;
        secrets.is_waiting() || (self.0.join.is_some() && !is_announced)
    }

    async fn step_key(&self) -> Result<(), Error> {
        let secrets = &self.0.link.identity().secrets;
        if !self.is_key_behind() {
            return Ok(());
        }
        if let Some(join) = &self.0.join {
            let newest = secrets.generation().unwrap_or_default();
            return self.roster().announce_key(join.admin(), newest).await.map_err(fleet_error);
        }
        let (generation, secret) = fetch_key(&self.0.link).await.map_err(fleet_error)?;
        self.add_key(generation, secret)
    }

    /// Stores a key, and uses it from then on.
    fn add_key(&self, generation: u64, secret: FleetSecret) -> Result<(), Error> {
        let secrets = &self.0.link.identity().secrets;
        let mut keys = secrets.all();
        keys.push((generation, secret.clone()));
        self.0.file.save_keys(&keys)?;
        secrets.add(generation, secret);
        tracing::info!(generation, "the fleet has a new key");
        Ok(())
    }

    /// Removes a server: its key is refused from now on, and a fleet that encrypts gets another key, so that
    /// the server cannot read what comes later.
    pub(crate) async fn remove(&self, node: &str) -> Result<(), Error> {
        let admin = self.join()?.admin().clone();
        let name = Name::new(node).map_err(fleet_error)?;
        if name == *self.node() {
            let message = "This server has the key of the fleet's admin, and cannot remove itself";
            return Err(Error::new(
                Code::Conflict,
                message,
                "`tidings fleet leave` on each server ends the fleet",
            ));
        }
        if self.roster().member(&name).is_none() {
            let others = self.roster().members().into_iter().filter(|member| member.node != *self.node());
            let others: Vec<String> = others.map(|member| format!("`{}`", member.node)).collect();
            let hint = if others.is_empty() {
                "the fleet has no other server".to_owned()
            } else {
                format!("its other servers are {}", others.join(", "))
            };
            return Err(Error::new(
                Code::NotFound,
                format!("No server of the fleet is named `{name}`"),
                hint,
            ));
        }
        self.roster().remove_member(&admin, &name).await.map_err(fleet_error)?;
        self.rotate_key()
    }

    /// Replaces the key of the fleet, unless a member has a version that could not get the new one.
    fn rotate_key(&self) -> Result<(), Error> {
        let Some(generation) = self.0.link.identity().secrets.generation() else { return Ok(()) };
        if let Some(old) = self.earlier_version() {
            tracing::warn!(
                node = old,
                "the key of the fleet is not replaced: a server has an earlier version"
            );
            return Ok(());
        }
        // It is announced by the task that follows the key.
        self.add_key(generation + 1, FleetSecret::generate().map_err(fleet_error)?)
    }

    /// A member whose version knows nothing of new keys.
    fn earlier_version(&self) -> Option<String> {
        let members = self.roster().members().into_iter();
        let mut others = members.filter(|member| member.node != *self.node());
        let is_earlier = |node: &Name| {
            self.roster().liveness(node).is_some_and(|alive| alive.beat.key_generation.is_none())
        };
        others.find(|member| is_earlier(&member.node)).map(|member| member.node.to_string())
    }
}
