//! What is measured, in which order. Ways take turns within a round, so that what disturbs one disturbs all.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::acp::Adapter;
use crate::awake::Awake;
use crate::clock::now_ns;
use crate::direct::Direct;
use crate::figures::{Fan, Found, Latency, Many, Way, Ways};
use crate::process::{self, Memory};
use crate::server::Server;
use crate::watchers::Watchers;
use crate::{Failure, Plan, idle};

/// As a fast model writes.
pub(crate) const GAP_US: u64 = 4_000;
/// For eight seconds.
const PIECES: usize = 2_000;
/// As fast as the agent can.
const BURST: usize = 20_000;
/// Sessions at the same time, and how far apart their pieces are.
pub(crate) const SESSIONS: usize = 200;
const SESSIONS_GAP_US: u64 = 100_000;
/// Enough for them to be started one after the other, to settle, and to be looked at.
const SESSIONS_PIECES: usize = 400;
const SETTLES_NS: u64 = 1_000_000_000;
const WINDOW_NS: u64 = 15_000_000_000;
/// Watchers of one session.
pub(crate) const WATCHERS: usize = 1_000;
const WATCHERS_GAP_US: u64 = 50_000;
const WATCHERS_PIECES: usize = 200;

const PATIENCE: Duration = Duration::from_secs(120);

/// Everything, one after the other.
pub(crate) fn all(plan: &Plan) -> Result<Found, Failure> {
    let scratch = tempfile::tempdir()?;
    let agent = agent_in(scratch.path())?;
    let mut found = Found::default();
    if plan.is_short {
        paced(plan, &agent, scratch.path(), &mut found)?;
        return Ok(found);
    }
    found.idle = idle::measure(&plan.tidings, &agent)?;
    paced(plan, &agent, scratch.path(), &mut found)?;
    found.many = many(plan, &agent)?;
    found.fan = fan(plan, &agent)?;
    Ok(found)
}

/// A `claude` that is this program.
fn agent_in(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join("claude");
    let this = std::env::current_exe()?;
    std::fs::write(&path, format!("#!/bin/sh\nexec \"{}\" agent \"$@\"\n", this.display()))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// One session at the pace of a model, and then as fast as it goes, over each way.
fn paced(plan: &Plan, agent: &Path, scratch: &Path, found: &mut Found) -> Result<(), Failure> {
    let mut running = Running::start(plan, agent, scratch)?;
    for ways in [&mut found.asleep, &mut found.awake] {
        running.name(ways);
    }
    for round in 0..=plan.rounds {
        eprintln!("round {round} of {}", plan.rounds);
        running.tell(round, &mut found.asleep)?;
        let awake = Awake::start()?;
        running.tell(round, &mut found.awake)?;
        drop(awake);
    }
    Ok(())
}

/// Everything that passes pieces on, each with an agent of its own.
struct Running {
    direct: Direct,
    passed: Direct,
    alone: Watched,
    hosted: Watched,
    peer: Option<Adapter>,
}

impl Running {
    fn start(plan: &Plan, agent: &Path, scratch: &Path) -> Result<Self, Failure> {
        let peer = plan.peer.as_ref();
        Ok(Running {
            direct: Direct::start(agent)?,
            passed: Direct::passed(agent, scratch)?,
            alone: Watched::start(plan, agent, &["--agent-lease", "0"])?,
            hosted: Watched::start(plan, agent, &[])?,
            peer: peer.map(|(node, script)| Adapter::start(node, script, agent, scratch)).transpose()?,
        })
    }

    fn name(&self, ways: &mut Ways) {
        let way = |title: &str| Way { title: title.to_owned(), ..Way::default() };
        ways.direct = way("the agent's pipe, nothing between");
        ways.passed = way("two programs that only write down and pass on, TCP");
        ways.alone = way("`tidings serve --agent-lease 0`, WebSocket");
        ways.hosted = way("`tidings serve`, a server and a host, WebSocket");
        ways.peer = self.peer.as_ref().map(|_| way("claude-agent-acp, pipe"));
    }

    /// One story over each way. The first round warms up, and is short.
    fn tell(&mut self, round: usize, ways: &mut Ways) -> Result<(), Failure> {
        let pieces = if round == 0 { 200 } else { PIECES };
        let note = |way: &mut Way, paced: Told, burst: Told| {
            if round > 0 {
                way.latencies.push(paced.latency);
                way.cpu_us.push(paced.server_us + paced.hosts_us);
                way.parts_us.push((paced.server_us, paced.hosts_us));
                way.burst_us.push(burst.server_us + burst.hosts_us);
                way.burst_rate.push(burst.rate);
            }
        };
        let piped = Latency::of(self.direct.tell(pieces, GAP_US)?);
        if round > 0 {
            ways.direct.latencies.push(piped);
        }
        let passed = &mut self.passed;
        note(&mut ways.passed, passing(passed, pieces, GAP_US)?, passing(passed, BURST, 0)?);
        for (server, way) in [(&mut self.alone, &mut ways.alone), (&mut self.hosted, &mut ways.hosted)] {
            note(way, server.tell(pieces, GAP_US)?, server.tell(BURST, 0)?);
        }
        if let (Some(adapter), Some(way)) = (&mut self.peer, &mut ways.peer) {
            note(way, theirs(adapter, pieces, GAP_US)?, theirs(adapter, BURST, 0)?);
        }
        Ok(())
    }
}

/// A server with one session and one who watches it.
struct Watched {
    server: Server,
    session: String,
    watchers: Watchers,
}

impl Watched {
    fn start(plan: &Plan, agent: &Path, arguments: &[&str]) -> Result<Self, Failure> {
        let server = Server::start(&plan.tidings, agent, arguments)?;
        let session = server.session()?;
        let mut watchers = Watchers::new()?;
        watchers.join(&server.address, &server.token, &session)?;
        Ok(Watched { server, session, watchers })
    }

    fn tell(&mut self, pieces: usize, gap_us: u64) -> Result<Told, Failure> {
        ours(&self.server, &self.session, &mut self.watchers, pieces, gap_us)
    }
}

/// One story, over one of the ways.
struct Told {
    latency: Latency,
    server_us: f64,
    hosts_us: f64,
    rate: f64,
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn ours(
    server: &Server,
    session: &str,
    watchers: &mut Watchers,
    pieces: usize,
    gap_us: u64,
) -> Result<Told, Failure> {
    server.settle(session)?;
    watchers.latencies.clear();
    let hosts = server.hosts();
    let before = server.cpu_ms(&hosts)?;
    let began = now_ns();
    server.prompt(session, pieces, gap_us)?;
    watchers.hear(pieces, PATIENCE)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    // A session that had no process got one with this prompt.
    let hosts = if hosts.is_empty() { server.hosts() } else { hosts };
    let after = server.cpu_ms(&hosts)?;
    let each = |ms: f64| ms * 1e3 / pieces as f64;
    Ok(Told {
        latency: Latency::of(std::mem::take(&mut watchers.latencies)),
        server_us: each(after.0 - before.0),
        hosts_us: each(after.1 - before.1),
        rate: pieces as f64 / seconds,
    })
}

fn theirs(adapter: &mut Adapter, pieces: usize, gap_us: u64) -> Result<Told, Failure> {
    let (before, began) = (adapter.cpu_ms()?, now_ns());
    let all = adapter.tell(pieces, gap_us)?;
    told(all, pieces, began, adapter.cpu_ms()? - before)
}

fn passing(direct: &mut Direct, pieces: usize, gap_us: u64) -> Result<Told, Failure> {
    let (before, began) = (direct.cpu_ms()?, now_ns());
    let all = direct.tell(pieces, gap_us)?;
    told(all, pieces, began, direct.cpu_ms()? - before)
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn told(all: Vec<u64>, pieces: usize, began: u64, cpu_ms: f64) -> Result<Told, Failure> {
    let seconds = (now_ns() - began) as f64 / 1e9;
    if all.len() != pieces {
        return Err(format!("{} of {pieces} pieces came through", all.len()).into());
    }
    Ok(Told {
        latency: Latency::of(all),
        server_us: cpu_ms * 1e3 / pieces as f64,
        hosts_us: 0.0,
        rate: pieces as f64 / seconds,
    })
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn many(plan: &Plan, agent: &Path) -> Result<Many, Failure> {
    let server = Server::start(&plan.tidings, agent, &[])?;
    let mut watchers = Watchers::new()?;
    std::thread::sleep(Duration::from_secs(1));
    let before = server.memory()?;
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        if number % 50 == 0 {
            eprintln!("{number} of {SESSIONS} sessions");
        }
        let session = server.session()?;
        watchers.join(&server.address, &server.token, &session)?;
        // The first prompt starts the process.
        server.prompt(&session, 1, 0)?;
        watchers.hear(1, PATIENCE)?;
        sessions.push(session);
    }
    for session in &sessions {
        server.settle(session)?;
    }
    watchers.latencies.clear();
    let hosts = server.hosts();
    if hosts.len() != SESSIONS {
        return Err(format!("{} hosts for {SESSIONS} sessions", hosts.len()).into());
    }
    for session in &sessions {
        server.prompt(session, SESSIONS_PIECES, SESSIONS_GAP_US)?;
    }
    // What begins a turn is synchronised with the disk; here it is about those that are under way.
    watchers.hear_until(now_ns() + SETTLES_NS)?;
    let (cpu, began) = (server.cpu_ms(&hosts)?, now_ns());
    watchers.latencies.clear();
    watchers.hear_until(began + WINDOW_NS)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    let (used, pieces) = (server.cpu_ms(&hosts)?, watchers.latencies.len());
    let each = |ms: f64| ms * 1e3 / pieces as f64;
    let held: Result<Vec<Memory>, Failure> = hosts.iter().map(|host| process::memory(*host)).collect();
    let held = held?;
    let mean = |of: fn(&Memory) -> f64| held.iter().map(of).sum::<f64>() / held.len() as f64;
    Ok(Many {
        sessions: SESSIONS,
        rate: pieces as f64 / seconds,
        latency: Latency::of(std::mem::take(&mut watchers.latencies)),
        server_us: each(used.0 - cpu.0),
        hosts_us: each(used.1 - cpu.1),
        server: server.memory()?,
        before,
        host: Memory { resident: mean(|memory| memory.resident), private: mean(|memory| memory.private) },
    })
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn fan(plan: &Plan, agent: &Path) -> Result<Fan, Failure> {
    let server = Server::start(&plan.tidings, agent, &[])?;
    let session = server.session()?;
    let mut watchers = Watchers::new()?;
    for number in 0..WATCHERS {
        if number % 250 == 0 {
            eprintln!("{number} of {WATCHERS} watchers");
        }
        watchers.join(&server.address, &server.token, &session)?;
    }
    server.prompt(&session, 1, 0)?;
    watchers.hear(WATCHERS, PATIENCE)?;
    server.settle(&session)?;
    watchers.latencies.clear();
    let cpu = server.cpu_ms(&[])?.0;
    let began = now_ns();
    server.prompt(&session, WATCHERS_PIECES, WATCHERS_GAP_US)?;
    let pieces = WATCHERS_PIECES * watchers.count();
    watchers.hear(pieces, PATIENCE)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    Ok(Fan {
        watchers: watchers.count(),
        rate: pieces as f64 / seconds,
        latency: Latency::of(std::mem::take(&mut watchers.latencies)),
        cpu_us: (server.cpu_ms(&[])?.0 - cpu) * 1e3 / pieces as f64,
    })
}
