//! This server as one of a fleet.
//!
//! The crate `tidings-fleet` moves events, requests and records; this module connects it with the journal,
//! the sessions, the devices and the routes. Sessions of other servers are replicas in the journal: every
//! endpoint reads them as it reads its own, and requests that need the agent go to the owner.

mod announcing;
mod audit;
mod continuing;
mod devices;
mod duplicates;
mod file;
mod heads;
mod incoming;
mod membership;
mod own_sessions;
mod pairing;
mod placement;
mod projects;
mod replicas;
mod row;
mod server_requests;
mod session_file;
mod targets;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use jiff::Timestamp;
use tidings_api::{Code, FleetNode, FleetStatus, FleetStorage};
use tidings_fleet::{
    Admin, Beat, Commands, Consumer, Counters, FleetError, FleetLink, Invite, JoinService, LinkOptions,
    LinkStatus, Replicator, Roster, Storage,
};
use tidings_journal::Commit;
use tidings_sessions::{Error, Sessions};
use tokio_util::sync::CancellationToken;

pub(crate) use self::incoming::Forwarded;
pub use file::FleetFile;
pub use tidings_fleet::{Access, MemberKind, Name};

use self::audit::AuditHeads;
use self::heads::StoredHeads;
use self::incoming::IncomingRequests;
use self::own_sessions::{OwnSessions, RecentDeltas};
use self::pairing::FleetCodes;
use self::replicas::Replicas;
use self::server_requests::OtherServers;
use crate::auth::Auth;
use crate::notify::Notifications;

/// Bytes of the stream if this server creates it: ten gibibytes.
pub const STREAM_BYTES_MAX: i64 = 10 << 30;

/// This server's place in its fleet. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Fleet(Arc<FleetInner>);

#[derive(Debug)]
struct FleetInner {
    file: FleetFile,
    labels: BTreeMap<String, String>,
    link: FleetLink,
    roster: Roster,
    commands: Commands,
    join: Option<JoinService>,
    draining: AtomicBool,
    audit: AuditHeads,
    heads: StoredHeads,
    /// Deltas for replication.
    recent: Arc<RecentDeltas>,
    /// Publishes the sessions of this server, once it takes part in the fleet.
    replicator: OnceLock<Replicator>,
    /// The reason for which it does not.
    problem: parking_lot::Mutex<Option<String>>,
    started: Timestamp,
}

impl Fleet {
    /// Connects to the fleet of a data folder, in the background.
    pub async fn open(
        file: FleetFile,
        access: Access,
        labels: BTreeMap<String, String>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let options = LinkOptions {
            url: file.url.clone(),
            access,
            replicas: file.replicas.max(1),
            stream_bytes_max: file.storage.unwrap_or(STREAM_BYTES_MAX),
            stream_age_max: file.keep_days.map(|days| Duration::from_secs(days * 24 * 60 * 60)),
        };
        let link = FleetLink::open(Arc::new(file.identity()?), options).await.map_err(fleet_error)?;
        let roster = Roster::new(link.clone()).map_err(fleet_error)?;
        let commands = Commands::new(link.clone(), roster.clone());
        let join =
            file.admin_key()?.map(|key| JoinService::new(link.clone(), roster.clone(), Admin(Arc::new(key))));
        let draining = AtomicBool::new(false);
        Ok(Fleet(Arc::new(FleetInner {
            file,
            labels,
            link,
            roster,
            commands,
            join,
            draining,
            audit: AuditHeads::default(),
            heads: StoredHeads::default(),
            recent: Arc::default(),
            replicator: OnceLock::new(),
            problem: parking_lot::Mutex::default(),
            started: now,
        })))
    }

    /// The name of this server in the fleet.
    pub fn node(&self) -> &Name {
        &self.0.link.identity().node
    }

    /// Counts of the connection, for metrics.
    pub(crate) fn counters(&self) -> &Arc<Counters> {
        self.0.link.counters()
    }

    pub(crate) fn roster(&self) -> &Roster {
        &self.0.roster
    }

    /// True if this server runs no agents.
    pub(crate) fn is_hub(&self) -> bool {
        self.0.file.kind == MemberKind::Hub
    }

    /// True if payloads are encrypted.
    fn is_encrypted(&self) -> bool {
        self.0.link.identity().secrets.generation().is_some()
    }

    /// True while this server takes no new sessions.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::Relaxed)
    }

    /// Takes no new sessions, or takes them again.
    pub(crate) fn drain(&self, draining: bool) {
        self.0.draining.store(draining, Ordering::Relaxed);
    }

    /// Lets sessions find the way to other servers.
    pub(crate) fn attach(&self, sessions: &Sessions) {
        sessions.set_remote(Arc::new(OtherServers(self.clone())));
    }

    /// Replicates, reads and answers until it is stopped, or removed from the fleet. `router` has the routes
    /// behind authentication.
    pub(crate) async fn run(
        self,
        parts: (Sessions, Auth, Notifications),
        router: Router,
        stop: CancellationToken,
    ) {
        let sessions = &parts.0;
        self.load_state(sessions).await;
        self.follow_commits(sessions);
        if let Err(error) = self.0.heads.load(sessions).await {
            tracing::warn!(%error, "failed to read the sessions for their heads");
        }
        if self.enter(&stop).await {
            // A removed server takes part no more, and goes on serving its own sessions.
            Box::pin(self.take_part(parts, router, stop.child_token())).await;
        }
    }

    async fn take_part(
        &self,
        (sessions, auth, notifications): (Sessions, Auth, Notifications),
        router: Router,
        stop: CancellationToken,
    ) {
        let FleetInner { link, roster, commands, join, .. } = &*self.0;
        let replicas = Arc::new(Replicas::new(sessions.clone()));
        let mut consumer = Consumer::new(link.clone(), roster.clone(), replicas);
        if join.is_some() {
            consumer = consumer.removing_all();
        }
        auth.set_shared_codes(Arc::new(FleetCodes(self.clone())));
        let handler = Arc::new(IncomingRequests::new(self.clone(), (sessions.clone(), auth.clone()), router));
        let counted = sessions.clone();
        let beat = || self.beat(&counted);
        let replicate = async {
            if self.0.file.kind == MemberKind::Node {
                self.replicate(&sessions, &stop).await;
            }
        };
        let redeem = async {
            if let Some(join) = join {
                join.run(stop.clone()).await;
            }
        };
        tokio::join!(
            self.add_itself(&stop),
            roster.run(stop.clone()),
            roster.beat(beat, stop.clone()),
            consumer.run(stop.clone()),
            commands.serve(handler, stop.clone()),
            replicate,
            redeem,
            devices::share(self, &auth, &stop),
            pairing::share(self, &auth, &stop),
            targets::share(self, &notifications, &stop),
            audit::follow_own(self, &sessions, &stop),
            audit::watch_others(self, &sessions, &stop),
            announcing::announce(self, &sessions, &stop),
            announcing::ask_for_missing(self, &sessions, &stop),
            self.watch_nodes(&sessions, &stop),
            self.watch_membership(&stop),
            self.keep_state(&sessions, &stop),
            self.follow_key(&stop),
            self.leave_continued(&sessions, &stop),
            duplicates::hide(self, &sessions, &stop),
        );
    }

    /// Publishes the sessions of this server until it is stopped.
    async fn replicate(&self, sessions: &Sessions, stop: &CancellationToken) {
        projects::load(sessions).await;
        let replicator = self.0.replicator.get_or_init(|| {
            let source = OwnSessions::new(sessions.clone(), Arc::clone(&self.0.recent));
            Replicator::new(self.0.link.clone(), Arc::new(source))
        });
        tokio::join!(
            replicator.run(stop.clone()),
            mark_changed(sessions, replicator, stop),
            projects::name_all(sessions, stop),
        );
    }

    /// Notes every commit, for replication and for the heads of sessions.
    fn follow_commits(&self, sessions: &Sessions) {
        let fleet = Arc::downgrade(&self.0);
        sessions.broadcast().publisher().observe(move |commit| {
            let Some(fleet) = fleet.upgrade() else { return };
            fleet.heads.note(commit);
            let Some(replicator) = fleet.replicator.get() else { return };
            match commit {
                Commit::Events(key, events) => {
                    fleet.recent.note(key, events);
                    replicator.mark(key.as_str());
                }
                Commit::Deleted(key) => replicator.mark(key.as_str()),
                Commit::Restarted(_) => {}
            }
        });
    }

    /// The state of the fleet as this server sees it, without its projects.
    pub(crate) fn status(&self) -> FleetStatus {
        let FleetInner { file, link, roster, .. } = &*self.0;
        let counters = link.counters();
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let node = |member: tidings_fleet::FleetMember| {
            let alive = roster.liveness(&member.node);
            let beat = alive.as_ref().map(|alive| alive.beat.clone()).unwrap_or_default();
            let missing = if member.node == file.node { Vec::new() } else { self.missing_of(&member.node) };
            FleetNode {
                events_behind: missing.iter().map(|missing| missing.missing).sum(),
                sessions_behind: missing.len() as u64,
                sessions_differ: self.0.heads.differing(&member.node),
                key_generation: beat.key_generation,
                is_reachable: alive.as_ref().is_some_and(|alive| alive.is_reachable),
                last_heard: alive.as_ref().and_then(heard).map(|heard| heard.to_string()),
                is_hub: member.kind == MemberKind::Hub,
                kind: member.kind.as_str().to_owned(),
                key: member.key.to_string(),
                scopes: member.scopes,
                version: Some(beat.version).filter(|version| !version.is_empty()),
                labels: beat.labels,
                running: beat.running,
                draining: beat.draining,
                audit: self.0.audit.of(&member.node, member.node == file.node),
                name: member.node.to_string(),
            }
        };
        let nodes: Vec<FleetNode> = roster.members().into_iter().map(node).collect();
        let refused = || link.refusal().map(|error| format!("{error} ({})", error.hint()));
        let problem = self.problem().or_else(refused);
        FleetStatus {
            fleet: file.fleet.to_string(),
            node: file.node.to_string(),
            url: file.url.clone(),
            api_prefix: link.api_prefix().map(str::to_owned),
            is_connected: link.status() == LinkStatus::Connected && problem.is_none(),
            problem,
            events_behind: nodes.iter().map(|node| node.events_behind).sum(),
            replicas_behind: nodes.iter().map(|node| node.sessions_behind).sum(),
            key_generation: link.identity().secrets.generation(),
            storage_full: counters.full.load(Ordering::Relaxed),
            encrypted: self.is_encrypted(),
            may_invite: file.admin_seed.is_some(),
            sessions_behind: count(&counters.behind),
            messages_behind: count(&counters.lag),
            events_sent: count(&counters.events_sent),
            events_taken: count(&counters.events_taken),
            refused: count(&counters.refused),
            redelivered: count(&counters.redelivered),
            nodes,
            projects: Vec::new(),
        }
    }

    /// Makes a code with which one server can join.
    pub(crate) fn invite(&self, kind: MemberKind, scopes: Vec<String>) -> Result<String, Error> {
        Ok(self.join()?.invite(&self.0.file.url, kind, scopes).map_err(fleet_error)?.code())
    }

    /// The storage of the fleet.
    pub(crate) async fn storage(&self) -> Result<FleetStorage, Error> {
        let Storage { bytes, bytes_max } = self.0.link.storage().await.map_err(fleet_error)?;
        Ok(FleetStorage { bytes, bytes_max })
    }

    /// Sets the bytes that the fleet may store.
    pub(crate) async fn set_storage(&self, bytes_max: u64) -> Result<FleetStorage, Error> {
        self.join()?;
        self.0.link.set_storage(bytes_max).await.map_err(fleet_error)?;
        self.storage().await
    }

    fn join(&self) -> Result<&JoinService, Error> {
        self.0.join.as_ref().ok_or_else(|| {
            let hint = "do it on the server that has created the fleet";
            Error::new(Code::Conflict, "This server does not have the key of the fleet's admin", hint)
        })
    }

    fn beat(&self, sessions: &Sessions) -> Beat {
        Beat {
            started_ms: self.0.started.as_millisecond(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            labels: self.0.labels.clone(),
            running: sessions.running_agents() as u64,
            draining: self.is_draining(),
            audit: self.0.audit.own(),
            config_folder: sessions.config_folder_id(),
            ..Beat::default()
        }
    }

    /// Makes the server that created the fleet a member of it.
    async fn add_itself(&self, stop: &CancellationToken) {
        let FleetInner { link, roster, join, file, .. } = &*self.0;
        let Some(join) = join else { return };
        let all = tidings_api::Scope::ALL.map(|scope| scope.as_str().to_owned()).to_vec();
        let (node, key) = (self.node().clone(), link.identity().key.public());
        let (kind, unknown) = (file.kind.clone(), serde_json::Map::new());
        let member = tidings_fleet::FleetMember { node, key, kind, scopes: all, unknown };
        let add = async {
            loop {
                link.connected().await;
                match roster.put_member(join.admin(), &member).await {
                    Ok(_) => return,
                    Err(error) => tracing::debug!(%error, "failed to add this server to its fleet"),
                }
                tokio::time::sleep(tidings_fleet::limits::RETRY_MAX).await;
            }
        };
        tokio::select! {
            () = add => {}
            () = stop.cancelled() => {}
        }
    }

    /// Notifies clients when a server becomes reachable or unreachable.
    async fn watch_nodes(&self, sessions: &Sessions, stop: &CancellationToken) {
        let mut known = BTreeMap::new();
        while !stop.is_cancelled() {
            for member in self.0.roster.members() {
                let alive = self.0.roster.liveness(&member.node).is_some_and(|alive| alive.is_reachable);
                if known.insert(member.node.clone(), alive).is_some_and(|before| before != alive) {
                    tracing::info!(node = %member.node, alive, "a server of the fleet came or went");
                    if let Err(error) = sessions.notify_of_node(member.node.as_str()).await {
                        tracing::debug!(%error, "failed to notify clients of a server");
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(tidings_fleet::limits::BEAT_EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
    }
}

/// Result of the search for a fleet of the name of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameCheck {
    /// The NATS server has none.
    Free,
    /// The NATS server does not answer: the check is made when the server starts.
    Unknown,
}

/// Refuses a new fleet whose name is taken on its NATS server.
pub async fn check_name(file: &FleetFile, access: Access) -> Result<NameCheck, Error> {
    let options = LinkOptions {
        url: file.url.clone(),
        access,
        replicas: 1,
        stream_bytes_max: STREAM_BYTES_MAX,
        stream_age_max: None,
    };
    let Ok(link) = FleetLink::open(Arc::new(file.identity()?), options).await else {
        return Ok(NameCheck::Unknown);
    };
    let found = async {
        link.connected().await;
        link.has_fleet().await
    };
    match tokio::time::timeout(tidings_fleet::limits::CALL_MAX, found).await {
        Ok(Ok(false)) => Ok(NameCheck::Free),
        Ok(Err(_)) | Err(_) => Ok(NameCheck::Unknown),
        Ok(Ok(true)) => {
            let fleet = &file.fleet;
            let message = format!("The NATS server has a fleet of the name `{fleet}` already");
            let hint = "join it with the code of `tidings fleet invite` on its first server, or choose another \
                        name with `--fleet NAME`";
            Err(Error::new(Code::Conflict, message, hint))
        }
    }
}

/// Joins a fleet with a code, and returns the file for the data folder.
pub async fn join(code: &str, node: Name, url: Option<String>, access: Access) -> Result<FleetFile, Error> {
    let mut invite = Invite::parse(code).map_err(fleet_error)?;
    invite.url = url.unwrap_or(invite.url);
    let mut file = FleetFile::invited(&invite, node, MemberKind::Node)?;
    let options = LinkOptions {
        url: file.url.clone(),
        access,
        replicas: 1,
        stream_bytes_max: STREAM_BYTES_MAX,
        stream_age_max: None,
    };
    let link = FleetLink::open(Arc::new(file.identity()?), options).await.map_err(fleet_error)?;
    tokio::time::timeout(tidings_fleet::limits::CONNECT_MAX, link.connected()).await.map_err(|_| {
        let hint = "check the address, the credentials, and that the server has JetStream";
        Error::new(Code::Unavailable, "The NATS server of the fleet does not answer", hint)
    })?;
    let roster = Roster::new(link.clone()).map_err(fleet_error)?;
    file.kind = tidings_fleet::join(&link, &roster, &invite).await.map_err(fleet_error)?.kind;
    Ok(file)
}

/// Marks sessions whose row has changed without an event.
async fn mark_changed(sessions: &Sessions, replicator: &Replicator, stop: &CancellationToken) {
    use tidings_api::Notice;
    use tokio::sync::broadcast::error::RecvError;
    let mut notices = sessions.notices();
    loop {
        let notice = tokio::select! {
            notice = notices.recv() => notice,
            () = stop.cancelled() => return,
        };
        match notice {
            Ok(notice) => match &*notice {
                Notice::Session { session } if session.node.is_none() => replicator.mark(&session.key),
                _ => {}
            },
            // A row that was missed is sent with the next event.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn heard(alive: &tidings_fleet::Liveness) -> Option<Timestamp> {
    Timestamp::from_millisecond(alive.heard_ms).ok()
}

/// The error of a fleet, as clients receive it.
#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` takes")]
pub fn fleet_error(error: FleetError) -> Error {
    use tidings_fleet::ErrorKind as Kind;
    let code = match error.kind() {
        Kind::Invalid => Code::Invalid,
        Kind::Refused => Code::Forbidden,
        Kind::TooLarge => Code::TooLarge,
        Kind::Conflict => Code::Conflict,
        Kind::Timeout => Code::Timeout,
        _ => Code::Unavailable,
    };
    let told = Error::new(code, error.to_string(), error.hint());
    if code == Code::Unavailable { told.retry_after_ms(2000) } else { told }
}
