//! What was found.

use crate::process::Memory;

/// How long pieces took, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Latency {
    /// Of these, in nanoseconds.
    pub(crate) fn of(mut all: Vec<u64>) -> Self {
        all.sort_unstable();
        let at = |share: usize| {
            let place = (all.len() * share / 1000).min(all.len().saturating_sub(1));
            #[expect(clippy::cast_precision_loss, reason = "nobody waits for years")]
            all.get(place).map_or(0.0, |ns| *ns as f64 / 1e3)
        };
        Latency { p50: at(500), p90: at(900), p99: at(990), max: at(1000) }
    }
}

/// One way from an agent to a reader, over the rounds.
#[derive(Debug, Default)]
pub(crate) struct Way {
    pub(crate) title: String,
    pub(crate) latencies: Vec<Latency>,
    /// Processor time of whatever is between, in microseconds for each piece.
    pub(crate) cpu_us: Vec<f64>,
    /// The same of its parts, where there are several.
    pub(crate) parts_us: Vec<(f64, f64)>,
    /// The same while the agent writes as fast as it can, and how many pieces a second come through.
    pub(crate) burst_us: Vec<f64>,
    pub(crate) burst_rate: Vec<f64>,
}

/// Many sessions at once.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Many {
    pub(crate) sessions: usize,
    pub(crate) rate: f64,
    pub(crate) latency: Latency,
    pub(crate) server_us: f64,
    pub(crate) hosts_us: f64,
    /// What the server holds, and what it held before the first of them.
    pub(crate) server: Memory,
    pub(crate) before: Memory,
    /// What one host holds.
    pub(crate) host: Memory,
}

/// One session with many watchers.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fan {
    pub(crate) watchers: usize,
    pub(crate) rate: f64,
    pub(crate) latency: Latency,
    /// Processor time of the server, in microseconds for each piece and watcher.
    pub(crate) cpu_us: f64,
}

/// A server that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    pub(crate) ready_ms: Vec<f64>,
    pub(crate) memory: Vec<Memory>,
}

/// One session, over each way.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    pub(crate) direct: Way,
    /// Two programs that do nothing but pass on.
    pub(crate) passed: Way,
    /// One server of our parts that does the least it could.
    pub(crate) least: Way,
    /// Our server, with the agent below it.
    pub(crate) alone: Way,
    /// Our server, with a host between.
    pub(crate) hosted: Way,
    /// The same, read over the server's Unix socket, as programs on the same machine do.
    pub(crate) local: Way,
    pub(crate) peer: Option<Way>,
}

impl Ways {
    /// What a way adds to the agent's own pipe, in microseconds.
    pub(crate) fn added(&self, way: &Way) -> f64 {
        let both = way.latencies.iter().zip(&self.direct.latencies);
        median(both.map(|(own, direct)| own.p50 - direct.p50))
    }
}

/// The same on cores that sleep between the pieces, and on cores that something else keeps awake.
#[derive(Debug, Default)]
pub(crate) struct Both {
    pub(crate) asleep: Ways,
    pub(crate) awake: Ways,
}

/// Everything.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// With the real CLI, on cores that have nothing else to do, and on cores that something else keeps
    /// awake.
    pub(crate) real: Option<Both>,
    /// The same with an agent of ours.
    pub(crate) ours: Both,
    pub(crate) idle: Idle,
    pub(crate) many: Many,
    pub(crate) fan: Fan,
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
