//! NATS servers on loopback, nodes in memory, and a checker of what readers receive.

use std::collections::HashMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tempfile::TempDir;
use tidings_fleet::{
    Access, Admin, Beat, Consumer, ConsumerCheckpoint, FleetCall, FleetError, FleetLink, FleetMember,
    FleetSecret, Identity, Keyring, LinkOptions, MemberKind, Name, Replicator, Roster, SessionSource,
    SigningKey, Sink, SourcePage, Unit, UnitEvent,
};
use tokio_util::sync::CancellationToken;

/// A deadline that only limits a hang.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    child: Option<Child>,
    args: Vec<String>,
    env: Vec<(&'static str, &'static str)>,
    pub(crate) port: u16,
    folder: TempDir,
}

/// A port below those that the system gives out by itself, and of this process alone: a server that is
/// started again needs the same one.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let next = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = 10_000 + (std::process::id() * 20 + next) % 20_000;
        let port = u16::try_from(port).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn program() -> PathBuf {
    let cached = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../e2e/.cache/nats-server");
    assert!(cached.exists(), "nats-server is missing: run e2e/install.sh nats");
    cached
}

impl Server {
    /// A server alone.
    pub(crate) fn alone() -> Self {
        Server::with(&[])
    }

    /// A server alone with a configuration file, and the variables that it names.
    pub(crate) fn configured(path: &str, env: &[(&'static str, &'static str)]) -> Self {
        let mut server = Server::prepared(&["-c".to_owned(), path.to_owned()]);
        server.env = env.to_vec();
        server.start();
        server
    }

    fn with(more: &[String]) -> Self {
        let mut server = Server::prepared(more);
        server.start();
        server
    }

    fn prepared(more: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let mut args: Vec<String> = ["-a", "127.0.0.1", "-js", "-sd"].map(str::to_owned).to_vec();
        args.push(folder.path().display().to_string());
        args.extend(["-p".to_owned(), port.to_string()]);
        args.extend_from_slice(more);
        Server { child: None, args, env: Vec::new(), port, folder }
    }

    /// Three servers as one cluster.
    pub(crate) fn cluster() -> Vec<Self> {
        let routes: Vec<u16> = (0..3).map(|_| free_port()).collect();
        let all: Vec<String> = routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let start = |(number, port): (usize, &u16)| {
            let own = format!("nats://127.0.0.1:{port}");
            let more = [
                "-n",
                &format!("s{number}"),
                "--cluster_name",
                "c",
                "--cluster",
                &own,
                "--routes",
                &all.join(","),
            ];
            Server::with(&more.map(str::to_owned))
        };
        routes.iter().enumerate().map(start).collect()
    }

    pub(crate) fn start(&mut self) {
        let mut command = Command::new(program());
        command.args(&self.args).envs(self.env.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn().unwrap());
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// A copy of its files, while it does not run.
    pub(crate) fn backup(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        copied(self.folder.path(), copy.path());
        copy
    }

    /// Puts its files back, while it does not run.
    pub(crate) fn restore(&self, backup: &TempDir) {
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            removed.unwrap();
        }
        copied(backup.path(), self.folder.path());
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

fn copied(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copied(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A fleet with its admin's key.
pub(crate) struct Fleet {
    pub(crate) name: &'static str,
    pub(crate) url: String,
    pub(crate) access: Access,
    pub(crate) admin: Admin,
    pub(crate) replicas: usize,
    pub(crate) bytes_max: i64,
    pub(crate) secret: Option<FleetSecret>,
    pub(crate) age_max: Option<Duration>,
}

impl Fleet {
    pub(crate) fn new(url: String) -> Self {
        let admin = Admin(Arc::new(SigningKey::generate().unwrap()));
        Fleet {
            name: "f",
            url,
            access: Access::default(),
            admin,
            replicas: 1,
            bytes_max: -1,
            secret: None,
            age_max: None,
        }
    }

    /// A node that is a member.
    pub(crate) async fn node(&self, name: &str) -> Node {
        let node = self.stranger(name).await;
        let key = node.link.identity().key.public();
        let (kind, unknown) = (MemberKind::Node, serde_json::Map::new());
        let member = FleetMember { node: Name::new(name).unwrap(), key, kind, scopes: Vec::new(), unknown };
        until(async || node.roster.put_member(&self.admin, &member).await.is_ok()).await;
        node
    }

    /// A node with access to the server that is not a member.
    pub(crate) async fn stranger(&self, name: &str) -> Node {
        Node::started(self.open(name).await.unwrap(), Arc::default(), Arc::default())
    }

    /// The node as a new process, with the same key, sessions and replicas.
    pub(crate) async fn restarted(&self, node: &Node) -> Node {
        node.stop.cancel();
        let link = self.open_as(Arc::clone(node.link.identity())).await.unwrap();
        Node::started(link, Arc::clone(&node.source), Arc::clone(&node.sink))
    }

    /// A connection to the server.
    pub(crate) async fn open(&self, name: &str) -> Result<FleetLink, FleetError> {
        let identity = Identity {
            fleet: Name::new(self.name).unwrap(),
            node: Name::new(name).unwrap(),
            key: SigningKey::generate().unwrap(),
            admin: self.admin.0.public(),
            secrets: Keyring::new(self.secret.iter().cloned().collect()),
        };
        self.open_as(Arc::new(identity)).await
    }

    async fn open_as(&self, identity: Arc<Identity>) -> Result<FleetLink, FleetError> {
        let options = LinkOptions {
            url: self.url.clone(),
            access: self.access.clone(),
            replicas: self.replicas,
            stream_bytes_max: self.bytes_max,
            stream_age_max: self.age_max,
        };
        FleetLink::open(identity, options).await
    }
}

pub(crate) struct Node {
    pub(crate) link: FleetLink,
    pub(crate) roster: Roster,
    pub(crate) stop: CancellationToken,
    pub(crate) source: Arc<Sessions>,
    pub(crate) sink: Arc<Replicas>,
}

impl Node {
    fn started(link: FleetLink, source: Arc<Sessions>, sink: Arc<Replicas>) -> Node {
        let roster = Roster::new(link.clone()).unwrap();
        let stop = CancellationToken::new();
        let (following, stopping) = (roster.clone(), stop.clone());
        tokio::spawn(async move { following.run(stopping).await });
        let (beating, stopping) = (roster.clone(), stop.clone());
        tokio::spawn(async move { beating.beat(Beat::default, stopping).await });
        Node { link, roster, stop, source, sink }
    }

    pub(crate) fn replicate(&self) -> Replicator {
        let replicator = Replicator::new(self.link.clone(), Arc::clone(&self.source) as _);
        let (running, stop) = (replicator.clone(), self.stop.clone());
        tokio::spawn(async move { running.run(stop).await });
        replicator
    }

    pub(crate) fn consume(&self) {
        tokio::spawn(self.consumer().run(self.stop.clone()));
    }

    /// Reads as the node with the admin's key does, which also removes deleted sessions of others.
    pub(crate) fn consume_as_admin(&self) {
        tokio::spawn(self.consumer().removing_all().run(self.stop.clone()));
    }

    fn consumer(&self) -> Consumer {
        Consumer::new(self.link.clone(), self.roster.clone(), Arc::clone(&self.sink) as _)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.link.counters().refused.load(Ordering::Relaxed)
    }

    /// Waits until this node has all events of another.
    pub(crate) async fn has_all_of(&self, other: &Node) {
        until(async || self.sink.bodies() == other.source.bodies()).await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Waits for a condition.
pub(crate) async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, wait).await.expect("it happens in time");
}

type Bodies = HashMap<String, Vec<Bytes>>;

/// The sessions of a node, in memory.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Bodies>);

impl Sessions {
    pub(crate) fn append(&self, session: &str, bodies: impl IntoIterator<Item = Bytes>) {
        self.0.lock().entry(session.to_owned()).or_default().extend(bodies);
    }

    /// Appends numbers as events.
    pub(crate) fn count(&self, session: &str, events: u64) {
        let mut all = self.0.lock();
        let all = all.entry(session.to_owned()).or_default();
        for _ in 0..events {
            all.push(Bytes::from(format!("{session} {}", all.len())));
        }
    }

    pub(crate) fn delete(&self, session: &str) {
        self.0.lock().remove(session);
    }

    pub(crate) fn bodies(&self) -> Bodies {
        self.0.lock().clone()
    }
}

pub(crate) const EPOCH: u64 = 7;

impl SessionSource for Sessions {
    fn sessions(&self) -> FleetCall<'_, Vec<String>> {
        Box::pin(async { Ok(self.0.lock().keys().cloned().collect()) })
    }

    fn read<'a>(&'a self, session: &'a str, after: Option<(u64, u64)>) -> FleetCall<'a, Option<SourcePage>> {
        Box::pin(async move {
            let all = self.0.lock();
            let Some(bodies) = all.get(session) else { return Ok(None) };
            let from = after.filter(|(epoch, seq)| *epoch == EPOCH && *seq <= bodies.len() as u64);
            let start = from.map_or(0, |(_, seq)| usize::try_from(seq).unwrap());
            let mut events = Vec::new();
            let mut bytes = 0;
            for body in &bodies[start..] {
                bytes += body.len();
                if events.len() == 1000 || (bytes > 300_000 && !events.is_empty()) {
                    break;
                }
                events.push(UnitEvent {
                    at_us: 1,
                    durable: true,
                    kind: "k".into(),
                    client_id: None,
                    body: body.clone(),
                });
            }
            Ok(Some(SourcePage {
                restart: from.is_none(),
                epoch: EPOCH,
                first: start as u64 + 1,
                more: start + events.len() < bodies.len(),
                row: Some(Bytes::from(format!("row of {session}"))),
                events,
                ..SourcePage::default()
            }))
        })
    }
}

/// Replicas of the sessions of other nodes. Panics if events are lost, repeated or out of order.
#[derive(Default)]
pub(crate) struct Replicas {
    pub(crate) sessions: Mutex<Bodies>,
    checkpoint: Mutex<Option<ConsumerCheckpoint>>,
    /// The number of the first event of sessions that did not begin at their first.
    pub(crate) firsts: Mutex<HashMap<String, u64>>,
}

impl Replicas {
    /// True if a position was stored.
    pub(crate) fn has_position(&self) -> bool {
        self.checkpoint.lock().is_some()
    }

    pub(crate) fn bodies(&self) -> Bodies {
        self.sessions.lock().clone()
    }
}

impl Sink for Replicas {
    fn apply<'a>(&'a self, _: &'a Name, unit: Unit) -> FleetCall<'a, ()> {
        Box::pin(async move {
            let mut all = self.sessions.lock();
            if unit.deleted {
                all.remove(&unit.session);
                return Ok::<(), FleetError>(());
            }
            let bodies = all.entry(unit.session.clone()).or_default();
            if unit.restart {
                bodies.clear();
                self.firsts.lock().remove(&unit.session);
            }
            let is_new = bodies.is_empty() && !unit.restart;
            let mut firsts = self.firsts.lock();
            if is_new {
                // Retention took the events before it.
                firsts.insert(unit.session.clone(), unit.first);
            }
            if firsts.contains_key(&unit.session) {
                return Ok(());
            }
            let head = bodies.len() as u64;
            assert!(
                unit.first <= head + 1,
                "events of {} are missing: {} after {head}",
                unit.session,
                unit.first
            );
            for (seq, event) in (unit.first..).zip(unit.events) {
                if seq > head {
                    bodies.push(event.body);
                } else {
                    assert_eq!(bodies[usize::try_from(seq - 1).unwrap()], event.body, "another event {seq}");
                }
            }
            Ok(())
        })
    }

    fn save(&self, checkpoint: ConsumerCheckpoint) -> FleetCall<'_, ()> {
        *self.checkpoint.lock() = Some(checkpoint);
        Box::pin(async { Ok(()) })
    }

    fn load(&self) -> FleetCall<'_, Option<ConsumerCheckpoint>> {
        let checkpoint = self.checkpoint.lock().clone();
        Box::pin(async move { Ok(checkpoint) })
    }
}
