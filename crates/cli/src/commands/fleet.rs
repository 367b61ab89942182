//! `tidings fleet`: several servers as one.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use tidings_api::{
    FleetContinue, FleetDrain, FleetInvite, FleetInviteRequest, FleetProject, FleetStatus, FleetStorage,
    FleetStorageMax, SessionView,
};
use tidings_bridge::fleet::{self, Access, FleetFile, MemberKind, Name, NameCheck};
use tidings_commands::error::Exit;
use tidings_commands::human;
use tidings_commands::output::{BOLD, Output, PLAIN, RED, printable};
use tidings_commands::session_label::label;
use tidings_sessions::private::data_folder;

use super::remote::RemoteArgs;
use super::session_lookup;

/// Connect several servers, so that each shows the sessions of all
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
enum FleetCommand {
    /// Create a fleet with this server as its first
    Init(Init),
    /// Print a code with which one more server can join; valid once, for 15 minutes
    Invite(InviteArgs),
    /// Join a fleet with the code of an invitation
    Join(Join),
    /// Leave the fleet; the server does so when it is started again
    Leave,
    /// Show the servers of the fleet, and how far this one is behind
    Status,
    /// Take no new sessions on this server; running ones go on
    Drain(Drain),
    /// Remove a server from the fleet: what it signs is refused from now on
    Remove(Remove),
    /// Show or change how much the fleet may store
    Storage(StorageArgs),
    /// Continue a session of a lost server on this one
    Continue(ContinueArgs),
}

#[derive(Debug, Args)]
struct Init {
    /// Address of the NATS server, such as `nats://box.example:4222`; several with commas
    url: String,

    /// Name of the fleet
    #[arg(long, value_name = "NAME", default_value = "home")]
    fleet: String,

    /// Name of this server [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,

    /// Encrypt events and requests, so that the NATS server cannot read them
    #[arg(long)]
    encrypt: bool,

    /// Run no agents on this server
    #[arg(long)]
    hub: bool,

    /// Copies of the fleet's data in a cluster of NATS servers
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: usize,

    /// Room for events, such as `10GiB`; `tidings fleet storage` changes it [default: 10GiB]
    #[arg(long, value_name = "SIZE", value_parser = human::size)]
    storage: Option<u64>,

    /// Days for which events are kept [default: all time, up to the room]
    #[arg(long, value_name = "DAYS")]
    keep: Option<u64>,

    #[command(flatten)]
    access: AccessArgs,
}

/// Access to the NATS server.
#[derive(Debug, Args)]
struct AccessArgs {
    /// Credentials for the NATS server: a `.creds` file
    #[arg(long, value_name = "FILE")]
    creds: Option<PathBuf>,

    /// File with the seed of an nkey for the NATS server
    #[arg(long, value_name = "FILE")]
    nkey: Option<PathBuf>,

    /// Certificates to trust for TLS to the NATS server, as PEM
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl AccessArgs {
    fn access(&self) -> anyhow::Result<Access> {
        let nkey = self.nkey.as_ref().map(fs_err::read_to_string).transpose()?;
        Ok(Access {
            credentials: self.creds.clone(),
            nkey: nkey.map(|seed| seed.trim().to_owned()),
            tls_ca: self.ca.clone(),
            ..Access::default()
        })
    }
}

#[derive(Debug, Args)]
struct StorageArgs {
    /// Room for events, such as `20GiB`; without it, the room and its use are shown
    #[arg(value_parser = human::size)]
    size: Option<u64>,
}

#[derive(Debug, Clone, Args)]
struct ContinueArgs {
    /// Number or key of the session of the lost server
    session: String,

    /// Working folder on this server [default: the same path]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Make a git worktree for it, with a new branch of this name
    #[arg(long, value_name = "BRANCH")]
    worktree: Option<String>,

    /// First prompt
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,

    /// Idempotency key: the same command again returns the same session
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,

    /// Continue it without the events that this server does not have
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct InviteArgs {
    /// Invite a hub, which runs no agents
    #[arg(long)]
    hub: bool,

    /// Right of the new server's own admin on other servers; can be given several times [default: all but
    /// `admin`]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Option<Vec<String>>,
}

#[derive(Debug, Args)]
struct Join {
    /// Code of `tidings fleet invite`
    code: String,

    /// Name of this server [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,

    /// Address of the NATS server, if it is another one from here
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    #[command(flatten)]
    access: AccessArgs,
}

#[derive(Debug, Args)]
struct Drain {
    /// Take new sessions again
    #[arg(long)]
    off: bool,
}

#[derive(Debug, Args)]
struct Remove {
    /// Name of the server
    node: String,
}

const EXAMPLES: &str = "\
Examples:
  nats-server -js                                   the NATS server that the fleet needs, 2.12 or newer
  tidings fleet init nats://127.0.0.1:4222          on the first server, before it is started again
  tidings fleet invite                              there; prints a code
  tidings fleet join CODE                           on the second server, before it is started again
  tidings fleet status                              on any of them";

impl FleetArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        match &self.command {
            FleetCommand::Init(init) => runtime.block_on(self.init(init, out))?,
            FleetCommand::Join(join) => runtime.block_on(self.join(join, out))?,
            FleetCommand::Leave => {
                FleetFile::remove(&self.remote.data()?)?;
                out.note("This server has left the fleet; start it again. On the first server: `tidings fleet remove`")?;
            }
            FleetCommand::Invite(args) => {
                let remote = self.remote.remote()?;
                let request = FleetInviteRequest { hub: args.hub, scopes: args.scopes.clone() };
                let invite: FleetInvite = runtime.block_on(remote.post("/v1/fleet/invites", &request))?;
                if self.remote.json {
                    out.json(&invite)?;
                } else {
                    out.note("Within 15 minutes, on the other server: `tidings fleet join CODE` with this secret code:")?;
                    out.text(&format!("{}\n", printable(&invite.code)))?;
                }
            }
            FleetCommand::Status => {
                let remote = self.remote.remote()?;
                let status: FleetStatus = runtime.block_on(remote.get("/v1/fleet"))?;
                self.show(&status, out)?;
            }
            FleetCommand::Drain(drain) => {
                let remote = self.remote.remote()?;
                let request = FleetDrain { draining: !drain.off };
                let status: FleetStatus = runtime.block_on(remote.post("/v1/fleet/drain", &request))?;
                self.show(&status, out)?;
            }
            FleetCommand::Storage(StorageArgs { size }) => runtime.block_on(self.storage(*size, out))?,
            FleetCommand::Continue(args) => runtime.block_on(self.continue_here(args, out))?,
            FleetCommand::Remove(Remove { node }) => runtime.block_on(self.remove(node, out))?,
        }
        Ok(Exit::Success)
    }

    async fn init(&self, init: &Init, out: &mut Output) -> anyhow::Result<()> {
        let data = self.remote.data()?;
        data_folder(&data)?;
        let kind = if init.hub { MemberKind::Hub } else { MemberKind::Node };
        let (fleet, node) = (Name::new(&init.fleet)?, node_name(init.node.as_deref())?);
        let mut file = FleetFile::create(&init.url, fleet, node, kind, init.encrypt)?;
        file.replicas = init.replicas;
        file.storage = init.storage.and_then(|bytes| i64::try_from(bytes).ok());
        file.keep_days = init.keep;
        if FleetFile::read(&data)?.is_none()
            && fleet::check_name(&file, init.access.access()?).await? == NameCheck::Unknown
        {
            let fleet = &file.fleet;
            out.note(&format!(
                "The NATS server does not answer: whether it has a fleet `{fleet}` is checked when the server starts"
            ))?;
        }
        file.write(&data)?;
        self.written(&file, out)
    }

    /// Removes a server, and says what it can still read.
    async fn remove(&self, node: &str, out: &mut Output) -> anyhow::Result<()> {
        let remote = self.remote.remote()?;
        let name = Name::new(node).map_err(fleet::fleet_error)?;
        let before: FleetStatus = remote.get("/v1/fleet").await?;
        remote.delete(&format!("/v1/fleet/nodes/{name}")).await?;
        let after: FleetStatus = remote.get("/v1/fleet").await?;
        out.note(&format!("`{name}` is removed: what it signs is refused from now on"))?;
        if after.key_generation > before.key_generation {
            let text = "The fleet has a new key: events that come from now on cannot be read by it";
            out.note(text)?;
            return Ok(());
        }
        let reason = if after.encrypted {
            let old: Vec<String> = after
                .nodes
                .iter()
                .filter(|node| node.key_generation.is_none())
                .map(|node| format!("`{}`", printable(&node.name)))
                .collect();
            format!(
                "the key of the fleet is the same, since the version of {} is too old for a new one",
                old.join(", ")
            )
        } else {
            "the fleet is not encrypted".to_owned()
        };
        out.note(&format!(
            "`{name}` can still read all events, with its access to the NATS server: {reason}. Take its NATS \
             credentials away; if they are shared, change them for all servers"
        ))?;
        Ok(())
    }

    async fn join(&self, join: &Join, out: &mut Output) -> anyhow::Result<()> {
        let data = self.remote.data()?;
        data_folder(&data)?;
        if FleetFile::read(&data)?.is_some() {
            anyhow::bail!("This server is in a fleet already; `tidings fleet leave` leaves it");
        }
        let access = join.access.access()?;
        let node = node_name(join.node.as_deref())?;
        let file = fleet::join(&join.code, node, join.url.clone(), access).await?;
        file.write(&data)?;
        self.written(&file, out)
    }

    fn written(&self, file: &FleetFile, out: &mut Output) -> anyhow::Result<()> {
        let is_hub = file.kind == MemberKind::Hub;
        if self.remote.json {
            out.json(&json!({ "fleet": file.fleet.as_str(), "node": file.node.as_str(), "is_hub": is_hub }))?;
            return Ok(());
        }
        let start = if is_hub { "tidings hub" } else { "tidings serve" };
        let (node, fleet) = (&file.node, &file.fleet);
        out.note(&format!("This server is `{node}` in the fleet `{fleet}`; start it again with `{start}`"))?;
        Ok(())
    }

    async fn storage(&self, bytes_max: Option<u64>, out: &mut Output) -> anyhow::Result<()> {
        let remote = self.remote.remote()?;
        let storage: FleetStorage = match bytes_max {
            Some(bytes_max) => remote.post("/v1/fleet/storage", &FleetStorageMax { bytes_max }).await?,
            None => remote.get("/v1/fleet/storage").await?,
        };
        if self.remote.json {
            out.json(&storage)?;
            return Ok(());
        }
        let max = storage.bytes_max.map_or_else(|| "all space".to_owned(), human::bytes);
        out.text(&format!("{} of {max} used\n", human::bytes(storage.bytes)))?;
        Ok(())
    }

    async fn continue_here(&self, args: &ContinueArgs, out: &mut Output) -> anyhow::Result<()> {
        let remote = self.remote.remote()?;
        let ContinueArgs { session, cwd, worktree, prompt, client_id, force } = args.clone();
        let request = FleetContinue { cwd, worktree, prompt, client_id, force };
        let lost = session_lookup::session(&remote, &session).await?;
        let session: SessionView =
            remote.post(&format!("/v1/fleet/sessions/{}/continue", lost.handle), &request).await?;
        if self.remote.json {
            out.json(&session)?;
            return Ok(());
        }
        let (number, lost) = (session.handle, label(&lost));
        out.note(&format!("Session {number} continues {lost}; `tidings attach {number}` shows it"))?;
        Ok(())
    }

    fn show(&self, status: &FleetStatus, out: &mut Output) -> anyhow::Result<()> {
        if self.remote.json {
            out.json(status)?;
        } else {
            out.text(&text(status))?;
        }
        Ok(())
    }
}

fn text(status: &FleetStatus) -> String {
    let connected =
        if status.is_connected { "connected".to_owned() } else { format!("{RED}not connected{PLAIN}") };
    let encrypted = if status.encrypted { ", encrypted" } else { "" };
    let api = status.api_prefix.as_ref().map(|prefix| format!(", API at {}", printable(prefix)));
    let connected = if status.problem.is_some() { format!("{RED}takes no part{PLAIN}") } else { connected };
    let mut text = format!(
        "{BOLD}{}{PLAIN} at {}: {connected}{encrypted}{}\n",
        printable(&status.fleet),
        printable(&status.url),
        api.unwrap_or_default()
    );
    if let Some(problem) = &status.problem {
        let _ = writeln!(text, "{RED}{}{PLAIN}", printable(problem));
    }
    if status.storage_full {
        let _ = writeln!(text, "{RED}The storage of the fleet is full: events wait on their servers{PLAIN}");
    }
    let _ = writeln!(
        text,
        "published {}, {} behind; read {}, {} behind; refused {}\n",
        human::plural(status.events_sent, "event"),
        human::plural(status.sessions_behind, "session"),
        human::plural(status.events_taken, "event"),
        behind(status),
        status.refused
    );
    for node in &status.nodes {
        let here = if node.name == status.node { " (this server)" } else { "" };
        let state = match (&node.last_heard, node.is_reachable) {
            (_, true) if node.draining => "draining".to_owned(),
            (_, true) => "connected".to_owned(),
            (Some(heard), false) => format!("{RED}unreachable{PLAIN}, last heard of at {heard}"),
            (None, false) => format!("{RED}never heard of{PLAIN}"),
        };
        let kind = match (node.kind.as_str(), node.is_hub) {
            ("", true) => "hub".to_owned(),
            ("", false) => "node".to_owned(),
            (kind, _) => printable(kind),
        };
        let labels: Vec<String> =
            node.labels.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        let _ = writeln!(
            text,
            "{:<16} {kind:<5} {:>10}  {state}{}{here}",
            printable(&node.name),
            human::plural(node.running, "agent"),
            printable(&labels.concat()),
        );
        if node.events_behind > 0 {
            let (events, sessions) =
                (human::plural(node.events_behind, "event"), human::plural(node.sessions_behind, "session"));
            let _ = writeln!(text, "  {RED}{events} of {sessions} are not on this server{PLAIN}");
        }
        if node.sessions_differ > 0 {
            let sessions = human::plural(node.sessions_differ, "session");
            let _ = writeln!(text, "  {RED}{sessions} differ from what the server has announced{PLAIN}");
        }
        if let Some(problem) = node.audit.as_ref().and_then(|audit| audit.problem.as_ref()) {
            let _ = writeln!(text, "  {RED}{}{PLAIN}", printable(problem));
        }
    }
    text.push_str(&shared_projects(status));
    text
}

/// The number of events that this server lacks, as the owners have announced them.
fn behind(status: &FleetStatus) -> String {
    match (status.events_behind, status.messages_behind) {
        (0, 0) => "0 events".to_owned(),
        (0, messages) => human::plural(messages, "message"),
        (events, _) => format!(
            "{RED}{} of {}{PLAIN}",
            human::plural(events, "event"),
            human::plural(status.replicas_behind, "session")
        ),
    }
}

/// The projects that several servers have.
fn shared_projects(status: &FleetStatus) -> String {
    let is_shared =
        |project: &&FleetProject| project.places.iter().any(|place| place.node != project.places[0].node);
    let mut text = String::new();
    for project in status.projects.iter().filter(is_shared) {
        if text.is_empty() {
            let _ = writeln!(text, "\n{BOLD}Projects on several servers{PLAIN}");
        }
        let name =
            project.project.strip_prefix("folder:").map_or(project.project.as_str(), |_| "a shared disk");
        let _ = writeln!(text, "{}", printable(name));
        for place in &project.places {
            let sessions = human::plural(place.sessions, "session");
            let _ =
                writeln!(text, "  {:<16} {}: {sessions}", printable(&place.node), printable(&place.folder));
        }
    }
    text
}

/// A given name, or that of the machine with `-` for everything that names do not have.
fn node_name(given: Option<&str>) -> anyhow::Result<Name> {
    let machine = || {
        let found = fs_err::read_to_string("/proc/sys/kernel/hostname")
            .or_else(|_| fs_err::read_to_string("/etc/hostname"));
        let found = found.unwrap_or_else(|_| "server".to_owned());
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        found.trim().chars().take(32).map(plain).collect::<String>()
    };
    Ok(Name::new(&given.map_or_else(machine, str::to_owned)).map_err(fleet::fleet_error)?)
}
