//! Two programs in turns: what a change costs or saves.

use crate::acp::Adapter;
use crate::figures::{FanOut, ManySessions, Setup, median};
use crate::rounds::{self, Connection, SubscribedServer};
use crate::{Failure, Plan};

/// Measures the program of `old` and that of `new` in turns, and the other bridge between them, and prints
/// medians over the rounds and their ratios.
pub(crate) fn measure(old: &Plan, new: &Plan) -> Result<(), Failure> {
    let scratch = tempfile::tempdir()?;
    let agent = rounds::ours_in(scratch.path())?;
    println!("| {} rounds | old | new | ratio |\n|---|--:|--:|--:|", new.rounds);
    {
        let mut running = Vec::new();
        for connection in [Connection::Address, Connection::Socket] {
            for plan in [old, new] {
                running.push(SubscribedServer::start(plan, &agent, &[], connection)?);
            }
        }
        let peer = new.peer.as_ref();
        let peer = peer.map(|(node, script)| Adapter::start(node, script, &agent, scratch.path()));
        let mut peer = peer.transpose()?;
        let mut setups: [Setup; 5] = Default::default();
        for round in 0..=new.rounds {
            eprintln!("round {round} of {}", new.rounds);
            rounds::turn(round, &mut running, peer.as_mut(), &mut setups)?;
        }
        let [old, new, old_local, new_local, peer] = &setups;
        for (reached, old, new) in [("TCP", old, new), ("Unix socket", old_local, new_local)] {
            one_session(reached, old, new, Some(peer).filter(|peer| !peer.latencies.is_empty()));
        }
    }
    let (mut many, mut fan) = (Vec::new(), Vec::new());
    for round in 0..new.rounds.div_ceil(4) {
        eprintln!("many sessions and subscribers, round {round}");
        many.push((rounds::many(old, &agent)?, rounds::many(new, &agent)?));
        fan.push((rounds::fan(old, &agent)?, rounds::fan(new, &agent)?));
    }
    let of = |what: &str, unit: &str, value: fn(&ManySessions) -> f64| {
        let values = many.iter().map(|(old, new)| (value(old), value(new)));
        row(&format!("{} sessions, {what}", rounds::SESSIONS), values, unit);
    };
    of("p50", "µs", |many| many.latency.p50);
    of("p99", "µs", |many| many.latency.p99);
    of("CPU per delta, server and hosts", "µs", |many| many.server_us + many.hosts_us);
    let of = |what: &str, unit: &str, value: fn(&FanOut) -> f64| {
        let values = fan.iter().map(|(old, new)| (value(old), value(new)));
        row(&format!("{} subscribers, {what}", rounds::SUBSCRIBERS), values, unit);
    };
    of("p50", "µs", |fan| fan.latency.p50);
    of("p99", "µs", |fan| fan.latency.p99);
    of("CPU per delta and subscriber", "µs", |fan| fan.cpu_us);
    Ok(())
}

fn one_session(reached: &str, old: &Setup, new: &Setup, peer: Option<&Setup>) {
    let p50 = |setup: &Setup| setup.latencies.iter().map(|latency| latency.p50).collect::<Vec<_>>();
    let part = |setup: &Setup, of: fn(&(f64, f64)) -> f64| setup.parts_us.iter().map(of).collect::<Vec<_>>();
    let pairs = |old: Vec<f64>, new: Vec<f64>| old.into_iter().zip(new);
    let title = |what: &str| format!("one session on the {reached}, {what}");
    row(&title("p50"), pairs(p50(old), p50(new)), "µs");
    row(&title("CPU per delta, server and host"), pairs(old.cpu_us.clone(), new.cpu_us.clone()), "µs");
    let server = pairs(part(old, |(server, _)| *server), part(new, |(server, _)| *server));
    row(&title("CPU per delta, server"), server, "µs");
    let host = pairs(part(old, |(_, host)| *host), part(new, |(_, host)| *host));
    row(&title("CPU per delta, host"), host, "µs");
    row(&title("CPU per delta of a burst"), pairs(old.burst_us.clone(), new.burst_us.clone()), "µs");
    if let Some(peer) = peer {
        let title = |what: &str| format!("claude-agent-acp, and new on the {reached}, {what}");
        row(&title("p50"), pairs(p50(peer), p50(new)), "µs");
        row(&title("CPU per delta"), pairs(peer.cpu_us.clone(), new.cpu_us.clone()), "µs");
    }
}

/// Prints two medians, and the median of the ratios of both in the same round.
fn row(what: &str, values: impl Iterator<Item = (f64, f64)>, unit: &str) {
    let values: Vec<(f64, f64)> = values.collect();
    let old = median(values.iter().map(|(old, _)| *old));
    let new = median(values.iter().map(|(_, new)| *new));
    let ratio = median(values.iter().map(|(old, new)| new / old));
    println!("| {what} | {old:.1} {unit} | {new:.1} {unit} | {ratio:.2} |");
}
