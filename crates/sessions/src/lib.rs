//! Sessions that run, as their clients see them.
//!
//! The folders are parts of a session's life: `starting`, `running`, `requests`, `surviving`, `reading`, and
//! `observed` for sessions that people start themselves. `backends` has the seam to its agent, `entry` and
//! `settings` have its state, and `active` opens it when it is used.
//!
//! Each session has a task of its own around an agent. Events of the agent are stored in the journal before
//! they are published, and input of users is stored before it is acknowledged.

mod active;
mod agent_options;
pub mod archive;
mod audit_settings;
pub mod audited_request;
mod backends;
mod caller;
pub mod capabilities;
mod config;
mod delete;
mod duplicates;
mod error;
pub mod folder_policies;
pub mod git;
#[cfg(unix)]
pub mod hosts;
pub mod limits;
mod live_session;
pub mod observed;
mod patch;
pub mod paths;
pub mod pictures;
pub mod private;
pub mod problem;
pub mod process;
pub mod project_files;
mod projects;
pub mod reading;
pub mod remote;
mod requests;
pub mod running;
pub mod secret;
mod settings;
pub mod starting;
mod surviving;
pub mod text;
pub mod trust;
mod view;
pub mod worktree;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tidings_api::Notice;
use tidings_journal::Key;
use tidings_journal::broadcast::Broadcast;
use tokio::sync::{Semaphore, broadcast};

pub use caller::{Caller, unauthorized};
pub use config::{AgentProgram, Carrier, Config, Observe, Real, Runner};
pub use delete::Transcript;
pub use error::Error;
pub use projects::{Projects, project_folder};
pub use remote::{LostSession, replica_settings};
pub use requests::asks::outcome_name;
pub use starting::create::first_input_id;

use self::active::{ActiveSession, Admission};
use self::duplicates::Duplicates;
use self::observed::ObservedProcesses;
use self::starting::agent_slots::AgentSlots;
use self::starting::agents::OtherAgents;
use self::starting::claude::ClaudeFacts;
use crate::capabilities::{Bypass, Need};
use crate::limits::{NOTICES_MAX, SNAPSHOTS_AT_ONCE};

/// The sessions of a server. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Sessions(Arc<SessionsInner>);

#[derive(Debug)]
struct SessionsInner {
    broadcast: Broadcast,
    config: Arc<Config>,
    notices: broadcast::Sender<Arc<Notice>>,
    /// Sessions that were used since the server started.
    active: Mutex<HashMap<Key, ActiveSession>>,
    /// Serializes opening, so that no session is opened twice.
    opening: tokio::sync::Mutex<Admission>,
    /// Serializes imports, so that no CLI session is imported twice.
    importing: tokio::sync::Mutex<()>,
    slots: AgentSlots,
    /// Limits the snapshots that are made at once.
    snapshots: Arc<Semaphore>,
    claude: ClaudeFacts,
    others: OtherAgents,
    observed: ObservedProcesses,
    projects: Arc<Projects>,
    duplicates: Duplicates,
    /// Other servers of the fleet, if there is one.
    remote: OnceLock<Arc<dyn remote::Remote>>,
}

impl Sessions {
    /// Opens the sessions of a journal. First, work that an earlier server left undone is settled: open
    /// requests that cannot be answered any more are lost, and turns that were under way are interrupted.
    pub async fn open(broadcast: Broadcast, config: Config) -> Result<Sessions, Error> {
        let slots = AgentSlots::new(config.live_max);
        let sessions = Sessions(Arc::new(SessionsInner {
            broadcast,
            config: Arc::new(config),
            notices: broadcast::Sender::new(NOTICES_MAX),
            active: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
            importing: tokio::sync::Mutex::default(),
            slots,
            snapshots: Arc::new(Semaphore::new(SNAPSHOTS_AT_ONCE)),
            claude: ClaudeFacts::default(),
            others: OtherAgents::default(),
            observed: ObservedProcesses::default(),
            projects: Arc::default(),
            duplicates: Duplicates::default(),
            remote: OnceLock::new(),
        }));
        sessions.recover().await?;
        requests::abandoned::watch(&sessions);
        surviving::after_limit::watch(&sessions);
        observed::watch(&sessions).await;
        Ok(sessions)
    }

    /// The broadcast that publishes the events.
    pub fn broadcast(&self) -> &Broadcast {
        &self.0.broadcast
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// Notices of all sessions. A receiver that is too slow misses some, and gets `Lagged`.
    pub fn notices(&self) -> broadcast::Receiver<Arc<Notice>> {
        self.0.notices.subscribe()
    }

    /// Sends a notice to all receivers, if there are any.
    pub fn notify(&self, notice: Notice) {
        drop(self.0.notices.send(Arc::new(notice)));
    }

    /// The projects of this server's folders.
    pub fn projects(&self) -> &Projects {
        &self.0.projects
    }

    /// Number of agents that run now.
    pub fn running_agents(&self) -> usize {
        self.active().values().filter(|used| used.entry.agent().is_some()).count()
    }

    /// Refuses a request if its caller lacks a capability.
    fn require(&self, caller: &Caller, needs: &[Need]) -> Result<(), Error> {
        capabilities::require(caller, Bypass::from_setting(self.config().allow_bypass), needs)
    }
}
