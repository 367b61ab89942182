//! Results of the measurements.

use crate::process::Memory;

/// Latencies of deltas, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Latency {
    /// The percentiles of latencies in nanoseconds.
    pub(crate) fn of(mut all: Vec<u64>) -> Self {
        all.sort_unstable();
        let at = |share: usize| {
            let place = (all.len() * share / 1000).min(all.len().saturating_sub(1));
            #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 ns")]
            all.get(place).map_or(0.0, |ns| *ns as f64 / 1e3)
        };
        Latency { p50: at(500), p90: at(900), p99: at(990), max: at(1000) }
    }
}

/// One setup between an agent and a reader, over the rounds.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    pub(crate) title: String,
    pub(crate) latencies: Vec<Latency>,
    /// Processor time of the programs between them, in microseconds per delta.
    pub(crate) cpu_us: Vec<f64>,
    /// The same for the server and its host.
    pub(crate) parts_us: Vec<(f64, f64)>,
    /// Processor time per delta, and deltas per second, while the agent writes as fast as it can.
    pub(crate) burst_us: Vec<f64>,
    pub(crate) burst_rate: Vec<f64>,
}

/// Many sessions at once.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ManySessions {
    pub(crate) sessions: usize,
    pub(crate) rate: f64,
    pub(crate) latency: Latency,
    pub(crate) server_us: f64,
    pub(crate) hosts_us: f64,
    /// Memory of the server with all sessions, and before the first one.
    pub(crate) server: Memory,
    pub(crate) before: Memory,
    /// Memory of one host.
    pub(crate) host: Memory,
}

/// One session with many subscribers.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct FanOut {
    pub(crate) subscribers: usize,
    pub(crate) rate: f64,
    pub(crate) latency: Latency,
    /// Processor time of the server, in microseconds per delta and subscriber.
    pub(crate) cpu_us: f64,
}

/// A server without sessions.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    pub(crate) ready_ms: Vec<f64>,
    pub(crate) memory: Vec<Memory>,
}

/// One session, in each setup.
#[derive(Debug, Default)]
pub(crate) struct Setups {
    pub(crate) direct: Setup,
    /// Two programs that only store and forward.
    pub(crate) passed: Setup,
    /// One program on the server's crates that only stores and forwards.
    pub(crate) least: Setup,
    /// Our server, with the agent as its child process.
    pub(crate) alone: Setup,
    /// Our server, with an agent host.
    pub(crate) hosted: Setup,
    /// The same, read over the server's Unix socket, as programs on the same machine do.
    pub(crate) local: Setup,
    pub(crate) peer: Option<Setup>,
}

impl Setups {
    /// Latency that a setup adds to that of the agent's own pipe, in microseconds.
    pub(crate) fn added(&self, setup: &Setup) -> f64 {
        let both = setup.latencies.iter().zip(&self.direct.latencies);
        median(both.map(|(own, direct)| own.p50 - direct.p50))
    }
}

/// The results on cores that sleep between deltas, and on cores that another process keeps awake.
#[derive(Debug, Default)]
pub(crate) struct CoreStates {
    pub(crate) asleep: Setups,
    pub(crate) awake: Setups,
}

/// All results.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// With the real CLI.
    pub(crate) real: Option<CoreStates>,
    /// With an agent of ours.
    pub(crate) ours: CoreStates,
    pub(crate) idle: Idle,
    pub(crate) many: ManySessions,
    pub(crate) fan: FanOut,
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
