//! What is measured, in which order. Ways take turns within a round, so that what disturbs one disturbs all.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::acp::Adapter;
use crate::awake::Awake;
use crate::clock::now_ns;
use crate::direct::Direct;
use crate::figures::{Both, Fan, Found, Latency, Many, Way, Ways};
use crate::process::{self, Memory};
use crate::server::Server;
use crate::story::Story;
use crate::watchers::Watchers;
use crate::{Failure, Plan, api, idle};

/// As a fast model writes.
pub(crate) const GAP_US: u64 = 4_000;
/// For eight seconds with an agent of ours, for four with the real CLI, and for one to warm up.
const PIECES: usize = 2_000;
const REAL_PIECES: usize = 1_000;
const WARM_PIECES: usize = 200;
/// As fast as the agent can.
const BURST: usize = 20_000;
const REAL_BURST: usize = 3_000;
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
    let agent = ours_in(scratch.path())?;
    let mut found = Found::default();
    if !plan.is_short {
        found.idle = idle::measure(&plan.tidings, &agent)?;
    }
    if let Some(claude) = &plan.claude {
        let claude = real_in(scratch.path(), claude)?;
        eprintln!("the real CLI");
        found.real = Some(paced(plan, &claude, scratch.path(), REAL_PIECES, REAL_BURST)?);
    }
    eprintln!("an agent of ours");
    found.ours = paced(plan, &agent, scratch.path(), PIECES, BURST)?;
    if !plan.is_short {
        found.many = many(plan, &agent)?;
        found.fan = fan(plan, &agent)?;
    }
    Ok(found)
}

/// A `claude` that is this program.
fn ours_in(folder: &Path) -> Result<PathBuf, Failure> {
    let this = std::env::current_exe()?;
    script(folder.join("claude"), &format!("exec \"{}\" agent \"$@\"", this.display()))
}

/// The real one, in a place of its own, with our API.
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

/// One session at the pace of a model, and then as fast as it goes, over each way, on cores that sleep and on
/// cores that do not.
fn paced(plan: &Plan, agent: &Path, scratch: &Path, pieces: usize, burst: usize) -> Result<Both, Failure> {
    let mut running = Running::start(plan, agent, scratch)?;
    let mut both = Both { asleep: running.ways(), awake: running.ways() };
    for round in 0..=plan.rounds {
        eprintln!("round {round} of {}", plan.rounds);
        running.tell(round, pieces, burst, &mut both.asleep)?;
        let awake = Awake::start()?;
        running.tell(round, pieces, burst, &mut both.awake)?;
        drop(awake);
    }
    Ok(both)
}

/// Everything that passes pieces on, each with an agent of its own.
struct Running {
    direct: Direct,
    passed: Direct,
    least: Direct,
    alone: Watched,
    hosted: Watched,
    local: Watched,
    peer: Option<Adapter>,
}

impl Running {
    fn start(plan: &Plan, agent: &Path, scratch: &Path) -> Result<Self, Failure> {
        let peer = plan.peer.as_ref();
        Ok(Running {
            direct: Direct::start(agent)?,
            passed: Direct::passed(agent, scratch)?,
            least: Direct::served(agent, scratch)?,
            alone: Watched::start(plan, agent, &["--agent-lease", "0"], Reached::Address)?,
            hosted: Watched::start(plan, agent, &[], Reached::Address)?,
            local: Watched::start(plan, agent, &[], Reached::Socket)?,
            peer: peer.map(|(node, script)| Adapter::start(node, script, agent, scratch)).transpose()?,
        })
    }

    /// What will be found, still without figures.
    fn ways(&self) -> Ways {
        let way = |title: &str| Way { title: title.to_owned(), ..Way::default() };
        Ways {
            direct: way("the agent's pipe, nothing between"),
            passed: way("two programs that only write down and pass on, TCP"),
            least: way("one program on tokio and axum that only does the same, WebSocket"),
            alone: way("`tidings serve --agent-lease 0`, WebSocket"),
            hosted: way("`tidings serve`, a server and a host, WebSocket"),
            local: way("`tidings serve`, a server and a host, WebSocket on its Unix socket"),
            peer: self.peer.as_ref().map(|_| way("claude-agent-acp, pipe")),
        }
    }

    /// One story over each way, slow and fast. The first round warms up, and is short.
    fn tell(&mut self, round: usize, pieces: usize, burst: usize, ways: &mut Ways) -> Result<(), Failure> {
        let paced = Story { pieces: if round == 0 { WARM_PIECES } else { pieces }, gap_us: GAP_US };
        let burst = Story { pieces: burst, gap_us: 0 };
        let note = |way: &mut Way, paced: Told, burst: Told| {
            if round > 0 {
                way.latencies.push(paced.latency);
                way.cpu_us.push(paced.server_us + paced.hosts_us);
                way.parts_us.push((paced.server_us, paced.hosts_us));
                way.burst_us.push(burst.server_us + burst.hosts_us);
                way.burst_rate.push(burst.rate);
            }
        };
        let piped = Latency::of(self.direct.tell(paced)?);
        if round > 0 {
            ways.direct.latencies.push(piped);
        }
        for (direct, way) in [(&mut self.passed, &mut ways.passed), (&mut self.least, &mut ways.least)] {
            note(way, passing(direct, paced)?, passing(direct, burst)?);
        }
        let mut servers = [&mut self.alone, &mut self.hosted, &mut self.local];
        for (number, way) in [&mut ways.alone, &mut ways.hosted, &mut ways.local].into_iter().enumerate() {
            // The others wait for their turn longer than a server waits for a client.
            servers.iter_mut().try_for_each(|server| server.watchers.answer_pings())?;
            note(way, servers[number].tell(paced)?, servers[number].tell(burst)?);
        }
        if let (Some(adapter), Some(way)) = (&mut self.peer, &mut ways.peer) {
            note(way, theirs(adapter, paced)?, theirs(adapter, burst)?);
        }
        Ok(())
    }
}

/// The kind of connection to the server.
enum Reached {
    Address,
    Socket,
}

/// A server with one session and one who watches it.
struct Watched {
    server: Server,
    session: String,
    watchers: Watchers,
}

impl Watched {
    fn start(plan: &Plan, agent: &Path, arguments: &[&str], reached: Reached) -> Result<Self, Failure> {
        let server = Server::start(&plan.tidings, agent, arguments)?;
        let place = match reached {
            Reached::Address => &server.address,
            Reached::Socket => &server.socket,
        };
        let session = server.session()?;
        let mut watchers = Watchers::new()?;
        watchers.join(place, &server.token, &session)?;
        Ok(Watched { server, session, watchers })
    }

    fn tell(&mut self, story: Story) -> Result<Told, Failure> {
        ours(&self.server, &self.session, &mut self.watchers, story)
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
fn ours(server: &Server, session: &str, watchers: &mut Watchers, story: Story) -> Result<Told, Failure> {
    server.settle(session)?;
    watchers.latencies.clear();
    let hosts = server.hosts();
    let before = server.cpu_ms(&hosts)?;
    let began = now_ns();
    server.prompt(session, story)?;
    watchers.hear(story.pieces, PATIENCE)?;
    let seconds = (now_ns() - began) as f64 / 1e9;
    // A session that had no process got one with this prompt.
    let hosts = if hosts.is_empty() { server.hosts() } else { hosts };
    let after = server.cpu_ms(&hosts)?;
    let each = |ms: f64| ms * 1e3 / story.pieces as f64;
    Ok(Told {
        latency: Latency::of(std::mem::take(&mut watchers.latencies)),
        server_us: each(after.0 - before.0),
        hosts_us: each(after.1 - before.1),
        rate: story.pieces as f64 / seconds,
    })
}

fn theirs(adapter: &mut Adapter, story: Story) -> Result<Told, Failure> {
    let (before, began) = (adapter.cpu_ms()?, now_ns());
    let all = adapter.tell(story)?;
    told(all, story.pieces, began, adapter.cpu_ms()? - before)
}

fn passing(direct: &mut Direct, story: Story) -> Result<Told, Failure> {
    let (before, began) = (direct.cpu_ms()?, now_ns());
    let all = direct.tell(story)?;
    told(all, story.pieces, began, direct.cpu_ms()? - before)
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
        server.prompt(&session, Story { pieces: 1, gap_us: 0 })?;
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
        server.prompt(session, Story { pieces: SESSIONS_PIECES, gap_us: SESSIONS_GAP_US })?;
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
    server.prompt(&session, Story { pieces: 1, gap_us: 0 })?;
    watchers.hear(WATCHERS, PATIENCE)?;
    server.settle(&session)?;
    watchers.latencies.clear();
    let cpu = server.cpu_ms(&[])?.0;
    let began = now_ns();
    server.prompt(&session, Story { pieces: WATCHERS_PIECES, gap_us: WATCHERS_GAP_US })?;
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
