//! The options of a test server.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tidings_bridge::api::Api;
use tidings_bridge::auth::{Auth, Settings};
use tidings_bridge::server::{Exposure, Listen, Server, TlsFiles, choose_tls};
use tidings_journal::broadcast::Broadcast;
use tidings_journal::{Epoch, Journal, MemoryJournal, MemoryStore, Opening, SqliteJournal};
use tidings_sessions::secret::Random;
use tidings_sessions::{Caller, Config, Sessions};

use super::{StandIn, TestClock, TestServer, caller};

/// The journal of a server.
#[derive(Clone)]
pub(crate) enum TestJournal {
    /// In memory. A restarted server finds it again.
    Memory(MemoryStore),
    /// In a file of the folder.
    File,
    /// The same, with a limit of its bytes.
    Bounded(u64),
}

type Set<T> = Arc<dyn Fn(&mut T) + Send + Sync>;
type FindCaller = Arc<dyn Fn(&str) -> Option<Caller> + Send + Sync>;
type SetServer = Arc<dyn Fn(Server, &str) -> Server + Send + Sync>;

/// Endpoints that a server has for clients.
#[derive(Clone)]
pub(super) enum Offer {
    /// Nothing: the test calls its sessions.
    Sessions,
    /// The API, for callers that a function finds for a credential.
    Api(FindCaller, Set<Api>),
    /// Everything that `tidings serve` offers.
    Server(SetServer),
}

/// The options of a [`TestServer`].
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) folder: Arc<TempDir>,
    journal: TestJournal,
    config: Config,
    pub(super) clock: Option<TestClock>,
    pub(super) session: Option<(String, usize)>,
    settings: Option<Set<Settings>>,
    rules: fn(&mut Config, &Auth),
    pub(super) admin_device: bool,
    pub(super) offer: Offer,
    pub(super) listen: Listen,
}

impl Builder {
    pub(super) fn new() -> Builder {
        let address = Some(([127, 0, 0, 1], 0).into());
        Builder {
            folder: Arc::new(tempfile::tempdir().unwrap()),
            journal: TestJournal::Memory(MemoryStore::default()),
            config: Config::default(),
            clock: None,
            session: None,
            settings: None,
            rules: |_, _| {},
            admin_device: false,
            offer: Offer::Sessions,
            listen: Listen { address, tls: None, exposure: Exposure::Guarded, unix: None },
        }
    }

    /// Agents play this script, and store their sessions in the folder.
    pub(crate) fn script(self, script: &str) -> Self {
        self.agent(script, |agent| agent)
    }

    /// The same, with another setting of the stand-in.
    pub(crate) fn agent(self, script: &str, set: impl FnOnce(StandIn) -> StandIn) -> Self {
        let (agent, folder) = (StandIn::new(script, self.folder.path()), self.folder.path().to_owned());
        self.config(|config| {
            config.carrier = set(agent).carrier();
            config.config_dir = Some(folder);
        })
    }

    pub(crate) fn config(mut self, set: impl FnOnce(&mut Config)) -> Self {
        set(&mut self.config);
        self
    }

    pub(crate) fn clock(mut self, clock: &TestClock) -> Self {
        self.clock = Some(clock.clone());
        self.config(|config| config.clock = clock.clock())
    }

    pub(crate) fn journal(mut self, journal: TestJournal) -> Self {
        self.journal = journal;
        self
    }

    /// Forgets what an earlier server has stored in memory.
    pub(crate) fn empty_journal(self) -> Self {
        self.journal(TestJournal::Memory(MemoryStore::default()))
    }

    /// A session of no agent, whose events the test appends. Its handle is 1 and its key is `session`.
    pub(crate) fn session(self, cwd: &str) -> Self {
        self.session_with(cwd, 0)
    }

    /// The same, with a number of events before the server starts.
    pub(crate) fn session_with(mut self, cwd: &str, events: usize) -> Self {
        self.session = Some((cwd.to_owned(), events));
        self
    }

    /// Authentication with credentials in the data folder.
    pub(crate) fn auth(mut self, set: impl Fn(&mut Settings) + Send + Sync + 'static) -> Self {
        self.settings = Some(Arc::new(set));
        self
    }

    /// Changes of the configuration of sessions that follow from the authentication, such as trusted folders.
    pub(crate) fn rules(mut self, set: fn(&mut Config, &Auth)) -> Self {
        self.rules = set;
        self
    }

    /// [`TestServer::admin`] is the credential of a device, and not the admin token.
    pub(crate) fn admin_device(mut self) -> Self {
        self.admin_device = true;
        self
    }

    /// The API on a socket. A credential is a list of scopes: see [`caller`].
    pub(crate) fn api(self) -> Self {
        self.api_for(caller, |_| {})
    }

    /// The API on a socket, for callers that `find` returns for a credential.
    pub(crate) fn api_for(
        mut self,
        find: impl Fn(&str) -> Option<Caller> + Send + Sync + 'static,
        set: impl Fn(&mut Api) + Send + Sync + 'static,
    ) -> Self {
        self.offer = Offer::Api(Arc::new(find), Arc::new(set));
        self
    }

    /// A server as `tidings serve` runs it, on TCP.
    pub(crate) fn serve(self) -> Self {
        self.serve_with(|server, _| server)
    }

    /// The same with other options; `set` gets the server and its URL.
    pub(crate) fn serve_with(mut self, set: impl Fn(Server, &str) -> Server + Send + Sync + 'static) -> Self {
        self.offer = Offer::Server(Arc::new(set));
        if self.settings.is_none() {
            return self.auth(|_| {});
        }
        self
    }

    pub(crate) fn tls(mut self, files: TlsFiles) -> Self {
        self.listen.tls = Some(files);
        self
    }

    /// A Unix socket in the data folder, too.
    pub(crate) fn unix_socket(mut self) -> Self {
        self.listen.unix = Some(self.data().join("server.sock"));
        self
    }

    /// A Unix socket in the data folder, and no address.
    pub(crate) fn only_unix_socket(mut self) -> Self {
        self.listen.address = None;
        self.unix_socket()
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder without links in its path.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Opens the authentication alone.
    pub(crate) fn open_auth(&self) -> Option<Auth> {
        let set = self.settings.as_ref()?;
        let mut settings = Settings::new(self.data(), Random::system(), self.config.clock.clone());
        set(&mut settings);
        Some(Auth::open(settings).unwrap())
    }

    pub(super) fn open_journal(&self) -> Arc<dyn Journal> {
        let file = self.folder.path().join("journal.db");
        match &self.journal {
            TestJournal::Memory(store) => Arc::new(MemoryJournal::open(store, &opening())),
            TestJournal::File => Arc::new(SqliteJournal::open(file, &opening()).unwrap()),
            TestJournal::Bounded(bytes) => {
                Arc::new(SqliteJournal::open_bounded(file, &opening(), *bytes).unwrap())
            }
        }
    }

    pub(crate) async fn start(self) -> TestServer {
        // A client needs a TLS provider even without TLS.
        choose_tls();
        let mut config = self.config.clone();
        let auth = self.open_auth();
        if let Some(auth) = &auth {
            (self.rules)(&mut config, auth);
        }
        if matches!(self.offer, Offer::Api(..)) {
            config.environment.push(("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()));
        }
        let sessions = Sessions::open(Broadcast::new(self.open_journal()), config).await.unwrap();
        let mut http = reqwest::Client::builder().pool_max_idle_per_host(0);
        if let (None, Some(path)) = (self.listen.address, &self.listen.unix) {
            http = http.unix_socket(path.clone());
        }
        let mut server = TestServer {
            sessions,
            address: ([127, 0, 0, 1], 0).into(),
            admin: String::new(),
            folder: Arc::clone(&self.folder),
            http: http.build().unwrap(),
            builder: self,
            auth,
            api: None,
            fence: None,
            stop: None,
            running: None,
        };
        server.open_session().await;
        server.listen();
        server
    }
}

/// The same boot and epoch in every test.
pub(crate) fn opening() -> Opening {
    Opening { boot_id: "boot".to_owned(), fresh_epoch: Epoch::from_random(7) }
}
