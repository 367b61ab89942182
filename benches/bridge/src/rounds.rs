//! The measurements and their order. Setups take turns within a round, so that other load affects them all.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::acp::Adapter;
use crate::awake::Awake;
use crate::clock::now_ns;
use crate::direct::Direct;
use crate::figures::{CoreStates, FanOut, Latency, ManySessions, Results, Setup, Setups};
use crate::process::{self, Memory};
use crate::server::Server;
use crate::subscribers::Subscribers;
use crate::workload::Workload;
use crate::{Failure, Plan, api, idle};

/// Microseconds between deltas: the pace of a fast model.
pub(crate) const GAP_US: u64 = 4_000;
/// Deltas of eight seconds with an agent of ours, of four with the real CLI, and of one to warm up.
const DELTAS: usize = 2_000;
const REAL_DELTAS: usize = 1_000;
const WARM_DELTAS: usize = 200;
/// Deltas that the agent writes as fast as it can.
const BURST: usize = 20_000;
const REAL_BURST: usize = 3_000;
/// Sessions at the same time, and microseconds between the deltas of each.
pub(crate) const SESSIONS: usize = 200;
const SESSIONS_GAP_US: u64 = 100_000;
/// Enough to start all of them one after the other, to let them settle, and to measure.
const SESSIONS_DELTAS: usize = 400;
const SETTLES_NS: u64 = 1_000_000_000;
const WINDOW_NS: u64 = 15_000_000_000;
/// Subscribers of one session.
pub(crate) const SUBSCRIBERS: usize = 1_000;
const SUBSCRIBERS_GAP_US: u64 = 50_000;
const SUBSCRIBERS_DELTAS: usize = 200;

const PATIENCE: Duration = Duration::from_secs(120);

/// Runs all measurements, one after the other.
pub(crate) fn all(plan: &Plan) -> Result<Results, Failure> {
    let scratch = tempfile::tempdir()?;
    let agent = ours_in(scratch.path())?;
    let mut found = Results::default();
    if !plan.is_short {
        found.idle = idle::measure(&plan.tidings, &agent)?;
    }
    if let Some(claude) = &plan.claude {
        let claude = real_in(scratch.path(), claude)?;
        eprintln!("the real CLI");
        found.real = Some(paced(plan, &claude, scratch.path(), REAL_DELTAS, REAL_BURST)?);
    }
    eprintln!("an agent of ours");
    found.ours = paced(plan, &agent, scratch.path(), DELTAS, BURST)?;
    if !plan.is_short {
        found.many = many(plan, &agent)?;
        found.fan = fan(plan, &agent)?;
    }
    Ok(found)
}

/// Makes a `claude` that runs this program.
pub(crate) fn ours_in(folder: &Path) -> Result<PathBuf, Failure> {
    let this = std::env::current_exe()?;
    script(folder.join("claude"), &format!("exec \"{}\" agent \"$@\"", this.display()))
}

/// Makes a `claude` that runs the real one, with a home folder of its own and our API.
fn real_in(folder: &Path, claude: &Path) -> Result<PathBuf, Failure> {
    let home = folder.join("home");
    std::fs::create_dir(&home)?;
    let address = api::start()?;
    let home = home.display();
    script(
        folder.join("real"),
        &format!(
            "export HOME=\"{home}\" CLAUDE_CONFIG_DIR=\"{home}/.claude\" DISABLE_AUTOUPDATER=1\n\
             export ANTHROPIC_API_KEY=none ANTHROPIC_BASE_URL={address} CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n\
             exec \"{}\" \"$@\"",
            claude.display()
        ),
    )
}

fn script(path: PathBuf, text: &str) -> Result<PathBuf, Failure> {
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n"))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// Measures one session at the pace of a model, and then as fast as possible, in each setup, on cores that
/// sleep and on cores that do not.
fn paced(
    plan: &Plan,
    agent: &Path,
    scratch: &Path,
    deltas: usize,
    burst: usize,
) -> Result<CoreStates, Failure> {
    let mut running = Running::start(plan, agent, scratch)?;
    let mut both = CoreStates { asleep: running.setups(), awake: running.setups() };
    for round in 0..=plan.rounds {
        eprintln!("round {round} of {}", plan.rounds);
        running.run(round, deltas, burst, &mut both.asleep)?;
        let awake = Awake::start()?;
        running.run(round, deltas, burst, &mut both.awake)?;
        drop(awake);
    }
    Ok(both)
}

/// The setups, each with an agent of its own.
struct Running {
    direct: Direct,
    passed: Direct,
    least: Direct,
    alone: SubscribedServer,
    hosted: SubscribedServer,
    local: SubscribedServer,
    peer: Option<Adapter>,
}

impl Running {
    fn start(plan: &Plan, agent: &Path, scratch: &Path) -> Result<Self, Failure> {
        let peer = plan.peer.as_ref();
        Ok(Running {
            direct: Direct::start(agent)?,
            passed: Direct::passed(agent, scratch)?,
            least: Direct::served(agent, scratch)?,
            alone: SubscribedServer::start(plan, agent, &["--agent-lease", "0"], Connection::Address)?,
            hosted: SubscribedServer::start(plan, agent, &[], Connection::Address)?,
            local: SubscribedServer::start(plan, agent, &[], Connection::Socket)?,
            peer: peer.map(|(node, script)| Adapter::start(node, script, agent, scratch)).transpose()?,
        })
    }

    /// Empty results of the setups.
    fn setups(&self) -> Setups {
        let setup = |title: &str| Setup { title: title.to_owned(), ..Setup::default() };
        Setups {
            direct: setup("the agent's pipe alone"),
            passed: setup("two programs that only store and forward, TCP"),
            least: setup("one program on tokio and axum that only does the same, WebSocket"),
            alone: setup("`tidings serve --agent-lease 0`, WebSocket"),
            hosted: setup("`tidings serve`, a server and a host, WebSocket"),
            local: setup("`tidings serve`, a server and a host, WebSocket on its Unix socket"),
            peer: self.peer.as_ref().map(|_| setup("claude-agent-acp, pipe")),
        }
    }

    /// Runs one workload in each setup, slow and fast. The first round warms up, and is short.
    fn run(&mut self, round: usize, deltas: usize, burst: usize, setups: &mut Setups) -> Result<(), Failure> {
        let paced = Workload { deltas: if round == 0 { WARM_DELTAS } else { deltas }, gap_us: GAP_US };
        let burst = Workload { deltas: burst, gap_us: 0 };
        let note = |setup: &mut Setup, paced: WorkloadResult, burst: WorkloadResult| {
            if round > 0 {
                note(setup, paced, burst);
            }
        };
        // Between its turns, a client must still answer the pings of its server.
        let mut servers = [&mut self.alone, &mut self.hosted, &mut self.local];
        let answer_pings = |servers: &mut [&mut SubscribedServer; 3]| {
            servers.iter_mut().try_for_each(|server| server.subscribers.answer_pings())
        };
        let piped = Latency::of(self.direct.run(paced)?);
        if round > 0 {
            setups.direct.latencies.push(piped);
        }
        for (direct, setup) in [(&mut self.passed, &mut setups.passed), (&mut self.least, &mut setups.least)]
        {
            answer_pings(&mut servers)?;
            note(setup, passing(direct, paced)?, passing(direct, burst)?);
        }
        for (number, setup) in
            [&mut setups.alone, &mut setups.hosted, &mut setups.local].into_iter().enumerate()
        {
            answer_pings(&mut servers)?;
            note(setup, servers[number].run(paced)?, servers[number].run(burst)?);
        }
        answer_pings(&mut servers)?;
        if let (Some(adapter), Some(setup)) = (&mut self.peer, &mut setups.peer) {
            note(setup, theirs(adapter, paced)?, theirs(adapter, burst)?);
        }
        Ok(())
    }
}

/// Adds the results of a round to those of a setup.
fn note(setup: &mut Setup, paced: WorkloadResult, burst: WorkloadResult) {
    setup.latencies.push(paced.latency);
    setup.cpu_us.push(paced.server_us + paced.hosts_us);
    setup.parts_us.push((paced.server_us, paced.hosts_us));
    setup.burst_us.push(burst.server_us + burst.hosts_us);
    setup.burst_rate.push(burst.rate);
}

/// Runs a round of one session in each of these servers and in the other bridge. The first round warms up,
/// and is short.
pub(crate) fn turn(
    round: usize,
    servers: &mut [SubscribedServer],
    peer: Option<&mut Adapter>,
    setups: &mut [Setup],
) -> Result<(), Failure> {
    let paced = Workload { deltas: if round == 0 { WARM_DELTAS } else { DELTAS }, gap_us: GAP_US };
    let burst = Workload { deltas: BURST, gap_us: 0 };
    for number in 0..servers.len() {
        for server in &mut *servers {
            server.subscribers.answer_pings()?;
        }
        let (paced, burst) = (servers[number].run(paced)?, servers[number].run(burst)?);
        if round > 0 {
            note(&mut setups[number], paced, burst);
        }
    }
    if let (Some(adapter), Some(setup)) = (peer, setups.last_mut()) {
        let (paced, burst) = (theirs(adapter, paced)?, theirs(adapter, burst)?);
        if round > 0 {
            note(setup, paced, burst);
        }
    }
    Ok(())
}

/// The kind of connection to the server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Connection {
    Address,
    Socket,
}

/// A server with one session and one subscriber.
pub(crate) struct SubscribedServer {
    server: Server,
    session: String,
    subscribers: Subscribers,
}

impl SubscribedServer {
    pub(crate) fn start(
        plan: &Plan,
        agent: &Path,
        arguments: &[&str],
        reached: Connection,
    ) -> Result<Self, Failure> {
        let server = Server::start(&plan.tidings, agent, arguments)?;
        let place = match reached {
            Connection::Address => &server.address,
            Connection::Socket => &server.socket,
        };
        let session = server.session()?;
        let mut subscribers = Subscribers::new()?;
        subscribers.join(place, &server.token, &session)?;
        Ok(SubscribedServer { server, session, subscribers })
    }

    fn run(&mut self, workload: Workload) -> Result<WorkloadResult, Failure> {
        ours(&self.server, &self.session, &mut self.subscribers, workload)
    }
}

/// Results of one workload in one setup.
struct WorkloadResult {
    latency: Latency,
    server_us: f64,
    hosts_us: f64,
    rate: f64,
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn ours(
    server: &Server,
    session: &str,
    subscribers: &mut Subscribers,
    workload: Workload,
) -> Result<WorkloadResult, Failure> {
    server.settle(session)?;
    subscribers.latencies.clear();
    let hosts = server.hosts();
    let before = server.cpu_ms(&hosts)?;
    let began = now_ns();
    server.prompt(session, workload)?;
    subscribers.read_deltas(workload.deltas, PATIENCE)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    // The first prompt has started the process of the session.
    let hosts = if hosts.is_empty() { server.hosts() } else { hosts };
    let after = server.cpu_ms(&hosts)?;
    let each = |ms: f64| ms * 1e3 / workload.deltas as f64;
    Ok(WorkloadResult {
        latency: Latency::of(std::mem::take(&mut subscribers.latencies)),
        server_us: each(after.0 - before.0),
        hosts_us: each(after.1 - before.1),
        rate: workload.deltas as f64 / seconds,
    })
}

fn theirs(adapter: &mut Adapter, workload: Workload) -> Result<WorkloadResult, Failure> {
    let (before, began) = (adapter.cpu_ms()?, now_ns());
    let all = adapter.run(workload)?;
    result_of(all, workload.deltas, began, adapter.cpu_ms()? - before)
}

fn passing(direct: &mut Direct, workload: Workload) -> Result<WorkloadResult, Failure> {
    let (before, began) = (direct.cpu_ms()?, now_ns());
    let all = direct.run(workload)?;
    result_of(all, workload.deltas, began, direct.cpu_ms()? - before)
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn result_of(all: Vec<u64>, deltas: usize, began: u64, cpu_ms: f64) -> Result<WorkloadResult, Failure> {
    let seconds = (now_ns() - began) as f64 / 1e9;
    if all.len() != deltas {
        return Err(format!("{} of {deltas} deltas came through", all.len()).into());
    }
    Ok(WorkloadResult {
        latency: Latency::of(all),
        server_us: cpu_ms * 1e3 / deltas as f64,
        hosts_us: 0.0,
        rate: deltas as f64 / seconds,
    })
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
pub(crate) fn many(plan: &Plan, agent: &Path) -> Result<ManySessions, Failure> {
    let server = Server::start(&plan.tidings, agent, &[])?;
    let mut subscribers = Subscribers::new()?;
    std::thread::sleep(Duration::from_secs(1));
    let before = server.memory()?;
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        if number % 50 == 0 {
            eprintln!("{number} of {SESSIONS} sessions");
        }
        let session = server.session()?;
        subscribers.join(&server.address, &server.token, &session)?;
        // The first prompt starts the process.
        server.prompt(&session, Workload { deltas: 1, gap_us: 0 })?;
        subscribers.read_deltas(1, PATIENCE)?;
        sessions.push(session);
    }
    for session in &sessions {
        server.settle(session)?;
    }
    subscribers.latencies.clear();
    let hosts = server.hosts();
    if hosts.len() != SESSIONS {
        return Err(format!("{} hosts for {SESSIONS} sessions", hosts.len()).into());
    }
    for session in &sessions {
        server.prompt(session, Workload { deltas: SESSIONS_DELTAS, gap_us: SESSIONS_GAP_US })?;
    }
    // The start of a turn is synced to disk; only running turns are measured.
    subscribers.read_until_time(now_ns() + SETTLES_NS)?;
    let (cpu, began) = (server.cpu_ms(&hosts)?, now_ns());
    subscribers.latencies.clear();
    subscribers.read_until_time(began + WINDOW_NS)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    let (used, deltas) = (server.cpu_ms(&hosts)?, subscribers.latencies.len());
    let each = |ms: f64| ms * 1e3 / deltas as f64;
    let held: Result<Vec<Memory>, Failure> = hosts.iter().map(|host| process::memory(*host)).collect();
    let held = held?;
    let mean = |of: fn(&Memory) -> f64| held.iter().map(of).sum::<f64>() / held.len() as f64;
    Ok(ManySessions {
        sessions: SESSIONS,
        rate: deltas as f64 / seconds,
        latency: Latency::of(std::mem::take(&mut subscribers.latencies)),
        server_us: each(used.0 - cpu.0),
        hosts_us: each(used.1 - cpu.1),
        server: server.memory()?,
        before,
        host: Memory { resident: mean(|memory| memory.resident), private: mean(|memory| memory.private) },
    })
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
pub(crate) fn fan(plan: &Plan, agent: &Path) -> Result<FanOut, Failure> {
    let server = Server::start(&plan.tidings, agent, &[])?;
    let session = server.session()?;
    let mut subscribers = Subscribers::new()?;
    for number in 0..SUBSCRIBERS {
        if number % 250 == 0 {
            eprintln!("{number} of {SUBSCRIBERS} subscribers");
        }
        subscribers.join(&server.address, &server.token, &session)?;
    }
    server.prompt(&session, Workload { deltas: 1, gap_us: 0 })?;
    subscribers.read_deltas(SUBSCRIBERS, PATIENCE)?;
    server.settle(&session)?;
    subscribers.latencies.clear();
    let cpu = server.cpu_ms(&[])?.0;
    let began = now_ns();
    server.prompt(&session, Workload { deltas: SUBSCRIBERS_DELTAS, gap_us: SUBSCRIBERS_GAP_US })?;
    let deltas = SUBSCRIBERS_DELTAS * subscribers.count();
    subscribers.read_deltas(deltas, PATIENCE)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    Ok(FanOut {
        subscribers: subscribers.count(),
        rate: deltas as f64 / seconds,
        latency: Latency::of(std::mem::take(&mut subscribers.latencies)),
        cpu_us: (server.cpu_ms(&[])?.0 - cpu) * 1e3 / deltas as f64,
    })
}
