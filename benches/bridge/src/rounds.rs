//! What is measured, in which order. Ways take turns within a round, so that what disturbs one disturbs all.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::acp::Adapter;
use crate::clock::now_ns;
use crate::direct::Direct;
use crate::figures::{Fan, Found, Latency, Many, Way};
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
    let mut found = Found { idle: idle::measure(&plan.tidings, &agent)?, ..Found::default() };
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
    let mut direct = Direct::start(agent)?;
    let server = Server::start(&plan.tidings, agent)?;
    let session = server.session()?;
    let mut watchers = Watchers::new()?;
    watchers.join(&server.address, &server.token, &session)?;
    let mut peer = match &plan.peer {
        Some((node, script)) => Some(Adapter::start(node, script, agent, scratch)?),
        None => None,
    };
    found.direct.title = "the agent's pipe, nothing between".to_owned();
    found.ours.title = "tidings serve, WebSocket".to_owned();
    found.peer =
        plan.peer.as_ref().map(|_| Way { title: "claude-agent-acp, pipe".to_owned(), ..Way::default() });
    for round in 0..=plan.rounds {
        eprintln!("round {round} of {}", plan.rounds);
        // The first round warms up, and is short.
        let pieces = if round == 0 { 200 } else { PIECES };
        let piped = Latency::of(direct.tell(pieces, GAP_US)?);
        let served = ours(&server, &session, &mut watchers, pieces, GAP_US)?;
        let fast = ours(&server, &session, &mut watchers, BURST, 0)?;
        if round > 0 {
            found.direct.latencies.push(piped);
            found.ours.latencies.push(served.latency);
            found.ours.cpu_us.push(served.server_us + served.hosts_us);
            found.ours.parts_us.push((served.server_us, served.hosts_us));
            found.ours.burst_us.push(fast.server_us + fast.hosts_us);
            found.ours.burst_rate.push(fast.rate);
        }
        if let (Some(adapter), Some(way)) = (&mut peer, &mut found.peer) {
            let (latency, cpu_us, _) = theirs(adapter, pieces, GAP_US)?;
            let (_, burst_us, rate) = theirs(adapter, BURST, 0)?;
            if round > 0 {
                way.latencies.push(latency);
                way.cpu_us.push(cpu_us);
                way.burst_us.push(burst_us);
                way.burst_rate.push(rate);
            }
        }
    }
    Ok(())
}

/// One story through our server.
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

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn theirs(adapter: &mut Adapter, pieces: usize, gap_us: u64) -> Result<(Latency, f64, f64), Failure> {
    let (before, began) = (adapter.cpu_ms()?, now_ns());
    let all = adapter.tell(pieces, gap_us)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    if all.len() != pieces {
        return Err(format!("{} of {pieces} pieces came through the adapter", all.len()).into());
    }
    Ok((Latency::of(all), (adapter.cpu_ms()? - before) * 1e3 / pieces as f64, pieces as f64 / seconds))
}

#[expect(clippy::cast_precision_loss, reason = "these are small numbers")]
fn many(plan: &Plan, agent: &Path) -> Result<Many, Failure> {
    let server = Server::start(&plan.tidings, agent)?;
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
    let server = Server::start(&plan.tidings, agent)?;
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
