//! Authentication: credentials, devices, pairing, rate limits and trust in folders.
//!
//! A caller that may send prompts or approvals can run programs as the owner of the server. So every request
//! is checked here first, in this order: host, origin, rate limit, credential. The result is a [`Caller`] in
//! the extensions of the request, whose scopes the routes check.

mod admin_token;
mod audit;
mod cookie;
mod devices;
mod environment;
mod headers;
mod hosts;
mod pairing;
mod peer;
mod peer_user;
mod rates;
mod recent_results;
mod request_check;
mod routes;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::{Router, middleware};
use parking_lot::Mutex;
use tidings::Ids;
use tidings_agent::Clock;
use tidings_api::{Code, Device, NewDevice, Scopes};
use tidings_sessions::folder_policies::FolderPolicies;
use tidings_sessions::private::data_folder;
use tidings_sessions::secret::{Fingerprint, Random, Secret};
use tidings_sessions::trust::Trust;
use tidings_sessions::{Caller, Error};
use tokio::sync::{Notify, broadcast, watch};

pub use admin_token::read_admin_token;
pub use audit::AuditSink;
pub use environment::environment;
pub use hosts::{Names, Scheme};
pub(crate) use pairing::{OpenCode, SharedCodes, TakenCode};
pub use peer::Peer;
pub use rates::{Rate, Rates};
#[cfg(feature = "openapi")]
pub(crate) use routes::routes;

use self::devices::{DevicePlan, Devices};
use self::pairing::{Codes, FoundCode};
use self::rates::Limiter;
use self::recent_results::RecentResults;
use crate::http::{name_requests, route};
use crate::limits::{CODE_LIFETIME, CODE_SHARED_WAIT, DEVICE_REPEATED_FOR, REVOKED_MAX};

/// The configuration of [`Auth`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The data folder, which holds the credentials.
    pub data: PathBuf,
    /// The allowed hosts and origins.
    pub names: Names,
    /// The scheme of the server itself.
    pub scheme: Scheme,
    /// The prefix of every path: empty, or for example `/tidings`.
    pub base_path: String,
    /// The rate limits.
    pub rates: Rates,
    /// The source of the current time.
    pub clock: Clock,
    /// The source of random secrets.
    pub random: Random,
}

impl Settings {
    /// A configuration for clients on this machine only, with credentials in the folder `data`.
    pub fn new(data: impl Into<PathBuf>, random: Random, clock: Clock) -> Self {
        Settings {
            data: data.into(),
            names: Names::loopback(),
            scheme: Scheme::Http,
            base_path: String::new(),
            rates: Rates::default(),
            clock,
            random,
        }
    }
}

/// Authentication of requests, and the credentials behind it. Handles are cheap to clone.
#[derive(Debug, Clone)]
pub struct Auth(Arc<AuthState>);

#[derive(Debug)]
struct AuthState {
    settings: Settings,
    admin: Fingerprint,
    /// Set if the admin token is accepted over loopback.
    loopback_admin: OnceLock<()>,
    cookie: String,
    devices: Devices,
    codes: Mutex<Codes>,
    code_changes: watch::Sender<u64>,
    codes_shared: watch::Sender<u64>,
    shared_codes: OnceLock<Arc<dyn SharedCodes>>,
    made_devices: RecentResults<(Device, Secret)>,
    made_codes: RecentResults<(Secret, Instant)>,
    limiter: Limiter,
    trust: Trust,
    policies: FolderPolicies,
    revoked: broadcast::Sender<String>,
    device_added: Notify,
    device_changes: watch::Sender<u64>,
    address: OnceLock<String>,
    audit_slot: audit::AuditSlot,
}

impl Auth {
    /// Opens the data folder, and creates the admin token on the first start. Blocks on disk I/O.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        data_folder(&settings.data)?;
        let admin = admin_token::open(&settings.data, &settings.random)?;
        let admin = Fingerprint::of(admin.reveal());
        let devices = Devices::open(settings.data.join("devices.json"))?;
        let trust = Trust::open(settings.data.join("trust.json"))?;
        let policies = FolderPolicies::open(settings.data.join("policies.json"))?;
        // Cookies do not distinguish ports, so two servers on one machine need two cookie names.
        let cookie = format!("tidings-{}", &Fingerprint::of(&admin.to_string()).to_string()[..8]);
        let limiter = Limiter::new(&settings.rates);
        let (revoked, codes) = (broadcast::Sender::new(REVOKED_MAX), Mutex::default());
        Ok(Auth(Arc::new(AuthState {
            settings,
            admin,
            loopback_admin: OnceLock::new(),
            cookie,
            devices,
            codes,
            code_changes: watch::Sender::new(0),
            codes_shared: watch::Sender::new(0),
            shared_codes: OnceLock::new(),
            made_devices: RecentResults::new(DEVICE_REPEATED_FOR),
            made_codes: RecentResults::new(CODE_LIFETIME),
            limiter,
            trust,
            policies,
            revoked,
            device_added: Notify::new(),
            device_changes: watch::Sender::new(0),
            address: OnceLock::new(),
            audit_slot: audit::AuditSlot::default(),
        })))
    }

    /// The caller that a token belongs to. The admin token is refused on connections of other machines.
    pub fn caller(&self, token: &str, peer: Peer) -> Result<Caller, Error> {
        let print = Fingerprint::of(token);
        if bool::from(self.0.admin.same(&print)) {
            self.check_admin_peer(peer)?;
            return Ok(Caller::admin("admin"));
        }
        let now = self.0.settings.clock.now();
        let known = self.0.devices.caller(&print, now).or_else(|| self.0.devices.shared_caller(&print, now));
        known.ok_or_else(|| {
            let hint = "pair the device again with `tidings pair`";
            Error::new(Code::Unauthorized, "The credential is unknown or was revoked", hint)
        })
    }

    /// The same for a token in a WebSocket message. Failures count against the rate limit, as those in
    /// requests do.
    pub fn sign_in(&self, token: &str, peer: Peer) -> Result<Caller, Error> {
        let caller = self.caller(token, peer).or_else(|error| self.count_failure(error, peer));
        if let Ok(caller) = &caller {
            self.audit(caller, "signed in", &peer.to_string(), None);
        }
        caller.inspect_err(|error| {
            tracing::warn!(%peer, code = error.code().as_str(), reason = error.message(), "refused");
        })
    }

    /// Puts authentication, request ids and security headers in front of a router, which sees paths without
    /// the base path.
    pub fn protect(&self, inside: Router, ids: Ids) -> Router {
        // The auth middleware runs before routing, since it changes the path. The security headers come last,
        // so that every response has them.
        Router::new()
            .fallback_service(inside)
            .layer(middleware::from_fn_with_state(self.clone(), request_check::check_request))
            .layer(middleware::from_fn_with_state(ids, name_requests))
            .layer(middleware::from_fn_with_state(self.clone(), headers::add_security_headers))
    }

    /// The routes for pairing, devices, trust and policies of folders.
    pub fn routes(&self) -> Router {
        route::router(routes::routes()).with_state(self.clone())
    }

    /// The ids of devices whose credentials were revoked or have expired. Their open streams must be closed.
    pub fn revoked(&self) -> &broadcast::Sender<String> {
        &self.0.revoked
    }

    /// Trust in folders that contain commands of their own.
    pub fn trust(&self) -> &Trust {
        &self.0.trust
    }

    /// Policies for the sessions that people start themselves.
    pub fn policies(&self) -> &FolderPolicies {
        &self.0.policies
    }

    /// The devices that have credentials.
    pub fn devices(&self) -> Vec<Device> {
        self.0.devices.list()
    }

    /// Creates a device with its credential. Blocks on disk I/O.
    pub fn add_device(&self, wanted: NewDevice) -> Result<(Device, Secret), Error> {
        self.add(DevicePlan::new(wanted)?)
    }

    /// The same for a command with an id: a repetition within ten minutes returns the same device and
    /// credential.
    pub(crate) fn add_device_once(&self, id: &str, wanted: NewDevice) -> Result<(Device, Secret), Error> {
        self.0.made_devices.once(id, wanted, |wanted| self.add_device(wanted))
    }

    /// Adds scopes to a device. They are valid for its next request or connection. Blocks on disk I/O.
    pub(crate) fn grant(&self, id: &str, scopes: Scopes) -> Result<Device, Error> {
        let device = self.0.devices.grant(id, scopes)?;
        self.0.device_changes.send_modify(|count| *count += 1);
        Ok(device)
    }

    /// Revokes the credential of a device. Blocks on disk I/O.
    pub fn revoke(&self, id: &str) -> Result<(), Error> {
        let shared = self.0.devices.remove_shared(id);
        let removed = match self.0.devices.remove(id) {
            Err(error) if error.code() == Code::NotFound && shared => Ok(()),
            removed => removed,
        };
        // There may be no receiver. A device that could not be removed from the file is revoked all the same.
        drop(self.0.revoked.send(id.to_owned()));
        removed
    }

    /// Changes whenever a device is added.
    pub(crate) fn device_changes(&self) -> watch::Receiver<u64> {
        self.0.device_changes.subscribe()
    }

    /// The devices of this server with the fingerprints of their secrets, by id, for the fleet.
    pub(crate) fn device_records(&self) -> Vec<(String, serde_json::Value)> {
        self.0.devices.records()
    }

    /// Sets the devices of the fleet. Those that were removed are revoked here, too.
    pub(crate) fn set_shared(&self, known: Vec<serde_json::Value>, removed: &[String]) {
        for id in self.0.devices.set_shared(known, removed) {
            if let Err(error) = self.0.devices.remove(&id)
                && error.code() != Code::NotFound
            {
                tracing::warn!(%error, id, "failed to remove a revoked device from its file");
            }
            drop(self.0.revoked.send(id));
        }
    }

    /// A device of the fleet, as a caller.
    pub(crate) fn shared_device(&self, id: &str) -> Option<Caller> {
        self.0.devices.shared_device(id, self.0.settings.clock.now())
    }

    /// Creates a pairing code for one device. It expires after a minute.
    pub fn pairing_code(&self, wanted: NewDevice) -> Result<Secret, Error> {
        let plan = DevicePlan::new(wanted)?;
        let code = self.codes().make(plan, Instant::now(), &self.0.settings.random)?;
        self.0.code_changes.send_modify(|count| *count += 1);
        Ok(code)
    }

    /// Sets the codes that all servers of a fleet know. Only the first call counts.
    pub(crate) fn set_shared_codes(&self, codes: Arc<dyn SharedCodes>) {
        drop(self.0.shared_codes.set(codes));
    }

    /// Changes whenever a pairing code is made.
    pub(crate) fn code_changes(&self) -> watch::Receiver<u64> {
        self.0.code_changes.subscribe()
    }

    /// The pairing codes that the fleet does not know yet. From here on it may know them.
    pub(crate) fn codes_to_share(&self) -> Vec<OpenCode> {
        self.codes().share(Instant::now())
    }

    /// Notes that the codes up to a change were offered to the fleet.
    pub(crate) fn set_codes_shared(&self, change: u64) {
        self.0.codes_shared.send_replace(change);
    }

    /// Waits until the codes of this server were offered to the fleet, if there is one; not for long.
    async fn codes_are_shared(&self) {
        if self.0.shared_codes.get().is_none() {
            return;
        }
        let made = *self.0.code_changes.borrow();
        let mut shared = self.0.codes_shared.subscribe();
        drop(tokio::time::timeout(CODE_SHARED_WAIT, shared.wait_for(|shared| *shared >= made)).await);
    }

    /// Notes that the fleet does not know a pairing code after all.
    pub(crate) fn keep_code_here(&self, code: &Fingerprint) {
        self.codes().keep_here(code);
    }

    /// The same for a command with an id: a repetition returns the same code while it is valid. Also returns
    /// its remaining lifetime.
    pub(crate) fn pairing_code_once(&self, id: &str, wanted: NewDevice) -> Result<(Secret, Duration), Error> {
        let make = |wanted| Ok((self.pairing_code(wanted)?, Instant::now()));
        let (code, since) = self.0.made_codes.once(id, wanted, make)?;
        Ok((code, CODE_LIFETIME.saturating_sub(since.elapsed())))
    }

    /// The URL to open on a new device. The code is in the fragment, so it appears in no log.
    pub fn link(&self, code: &Secret) -> String {
        let address = self.0.address.get().map_or("", String::as_str);
        format!("{address}{}/#code={}", self.0.settings.base_path, code.reveal())
    }

    /// Sets the URL of the server, such as `http://127.0.0.1:7717`. Only the first call counts.
    pub fn reached_at(&self, address: impl Into<String>) {
        drop(self.0.address.set(address.into()));
    }

    /// Waits until [`Auth::sweep`] has work: a credential has expired, or `every` has passed.
    pub async fn sweep_is_due(&self, every: Duration) {
        let end = tokio::time::Instant::now() + every;
        loop {
            let left = self.0.devices.next_expiry().map(|expires| {
                let left = expires.duration_since(self.0.settings.clock.now());
                // A negative duration is an expiry in the past.
                Duration::try_from(left).unwrap_or_default()
            });
            let wake = left.map_or(end, |left| end.min(tokio::time::Instant::now() + left.min(every)));
            tokio::select! {
                () = tokio::time::sleep_until(wake) => return,
                () = self.0.device_added.notified() => {}
            }
        }
    }

    /// Removes expired credentials, and saves when devices were last seen. Call it periodically; it blocks on
    /// disk I/O.
    pub fn sweep(&self) -> Result<(), Error> {
        let (over, saved) = self.0.devices.expire(self.0.settings.clock.now());
        // They are revoked even if the file could not be written.
        for id in over {
            self.audit(&Caller::admin("the server"), "device expired", &id, None);
            drop(self.0.revoked.send(id));
        }
        saved?;
        self.0.devices.save_seen()
    }

    /// The configuration.
    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The plan of the device that a code is for. The code is used up.
    async fn take_code(&self, code: &str) -> Result<DevicePlan, Error> {
        let code = Fingerprint::of_code(code);
        let (found, may_try) = {
            let mut codes = self.codes();
            (codes.find(&code, Instant::now()), codes.may_try(Instant::now()))
        };
        let is_known = matches!(found, FoundCode::Shared);
        if let FoundCode::Taken(plan) = found {
            return Ok(plan);
        }
        let wrong = || self.codes().refuse(Instant::now());
        let shared = self.0.shared_codes.get().filter(|_| is_known || may_try);
        let Some(shared) = shared else { return Err(wrong()) };
        let device = self.0.settings.random.name()?;
        match shared.take(&code, &device).await {
            Ok(Some(taken)) => {
                self.codes().remove(&code);
                Ok(DevicePlan::new(taken.wanted)?.paired_as(device, taken.token))
            }
            Ok(None) => Err(wrong()),
            Err(error) if is_known => Err(error),
            Err(error) => {
                tracing::debug!(%error, "the pairing codes of the fleet cannot be read");
                Err(wrong())
            }
        }
    }

    fn add(&self, plan: DevicePlan) -> Result<(Device, Secret), Error> {
        let added = self.0.devices.add(plan, self.0.settings.clock.now(), &self.0.settings.random);
        self.0.device_added.notify_one();
        self.0.device_changes.send_modify(|count| *count += 1);
        added
    }

    fn codes(&self) -> parking_lot::MutexGuard<'_, Codes> {
        self.0.codes.lock()
    }
}
