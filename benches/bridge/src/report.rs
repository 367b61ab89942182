//! Tables, bars, and the page that they are published on.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::figures::{CoreStates, Latency, Results, Setup, Setups, median};
use crate::rounds::{GAP_US, SESSIONS, SUBSCRIBERS};
use crate::{Failure, Plan};

const BEGIN: &str = "<!-- bridge: begin -->";
const END: &str = "<!-- bridge: end -->";

/// An upper bound for a figure.
struct Bar {
    what: String,
    most: f64,
    found: f64,
    unit: &'static str,
    /// True if the run fails when it is exceeded.
    must_hold: bool,
}

/// All results as Markdown; true if every mandatory bar is met.
pub(crate) fn text(found: &Results, plan: &Plan) -> (String, bool) {
    let mut out = String::new();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    put(&mut out, format!("{}, {cores} cores, Linux; {} rounds.\n", processor(), plan.rounds));
    put(&mut out, one_session(found));
    let parts = |of: fn(&(f64, f64)) -> f64| ms(median(found.ours.asleep.hosted.parts_us.iter().map(of)));
    put(
        &mut out,
        format!(
            "Of the CPU time with a host, on cores that sleep, {} ms are the server's and {} ms the host's, which keeps the agent when the server restarts.\n",
            parts(|(server, _)| *server),
            parts(|(_, host)| *host)
        ),
    );
    many(&mut out, found);
    let bars = bars(found);
    put(&mut out, "| bar | at most | this run | |");
    put(&mut out, "|---|--:|--:|---|");
    for bar in &bars {
        let missed = match (bar.holds(), bar.must_hold) {
            (true, _) => "",
            (false, true) => "**missed**",
            (false, false) => "missed, known",
        };
        put(
            &mut out,
            format!("| {} | {} {} | {} | {missed} |", bar.what, bar.most, bar.unit, short(bar.found)),
        );
    }
    (out.trim_end().to_owned(), bars.iter().all(|bar| bar.holds() || !bar.must_hold))
}

/// The tables of one session in each setup.
pub(crate) fn one_session(found: &Results) -> String {
    let mut out = String::new();
    let pace = format!("One session, a delta every {} ms, medians over the rounds", GAP_US / 1000);
    let agents = [
        (found.real.as_ref(), "the real CLI, with an API of the benchmark"),
        (Some(&found.ours), "a small agent that uses almost no time"),
    ];
    for (both, agent) in agents {
        let Some(both) = both else { continue };
        put(&mut out, format!("{pace}; {agent}, on cores that sleep when they are idle:\n"));
        setups(&mut out, &both.asleep);
        put(
            &mut out,
            format!("\n{pace}; {agent}, on cores that a process of the lowest priority keeps awake:\n"),
        );
        setups(&mut out, &both.awake);
        put(&mut out, "");
    }
    out
}

fn setups(out: &mut String, setups: &Setups) {
    put(
        out,
        "| setup | p50, ms | p90, ms | p99, ms | added, p50, ms | CPU per delta, ms | as fast as possible: deltas per second | CPU per delta, ms |",
    );
    put(out, "|---|--:|--:|--:|--:|--:|--:|--:|");
    let own = [&setups.direct, &setups.passed, &setups.least, &setups.alone, &setups.hosted, &setups.local];
    for setup in own.into_iter().chain(&setups.peer) {
        let at = |of: fn(&Latency) -> f64| ms(median(setup.latencies.iter().map(of)));
        let some = |values: &[f64], show: fn(f64) -> String| {
            if values.is_empty() { "–".to_owned() } else { show(median(values.iter().copied())) }
        };
        let more = if setup.cpu_us.is_empty() { "–".to_owned() } else { ms(setups.added(setup)) };
        put(
            out,
            format!(
                "| {} | {} | {} | {} | {more} | {} | {} | {} |",
                setup.title,
                at(|all| all.p50),
                at(|all| all.p90),
                at(|all| all.p99),
                some(&setup.cpu_us, ms),
                some(&setup.burst_rate, |rate| format!("{rate:.0}")),
                some(&setup.burst_us, ms),
            ),
        );
    }
}

fn many(out: &mut String, found: &Results) {
    let (many, fan) = (&found.many, &found.fan);
    put(out, "| load | deltas per second | p50, ms | p99, ms | longest, ms | CPU |");
    put(out, "|---|--:|--:|--:|--:|---|");
    put(
        out,
        format!(
            "| {} sessions, a subscriber each | {:.0} | {} | {} | {} | {} ms per delta in the server, {} ms in its host |",
            many.sessions,
            many.rate,
            ms(many.latency.p50),
            ms(many.latency.p99),
            ms(many.latency.max),
            ms(many.server_us),
            ms(many.hosts_us),
        ),
    );
    put(
        out,
        format!(
            "| one session, {} subscribers | {:.0} | {} | {} | {} | {} ms per delta and subscriber in the server |\n",
            fan.subscribers,
            fan.rate,
            ms(fan.latency.p50),
            ms(fan.latency.p99),
            ms(fan.latency.max),
            ms(fan.cpu_us),
        ),
    );
    let idle = &found.idle.memory;
    put(out, "| memory | resident, MiB | its own, MiB |");
    put(out, "|---|--:|--:|");
    put(
        out,
        format!(
            "| the server, idle | {:.1} | {:.1} |",
            median(idle.iter().map(|memory| memory.resident)),
            median(idle.iter().map(|memory| memory.private))
        ),
    );
    let each =
        |after: f64, before: f64| (after - before) / f64::from(u32::try_from(many.sessions).unwrap_or(1));
    put(
        out,
        format!(
            "| the server, for each of {} live sessions more | {:.2} | {:.2} |",
            many.sessions,
            each(many.server.resident, many.before.resident),
            each(many.server.private, many.before.private)
        ),
    );
    put(
        out,
        format!("| the host of a live session | {:.1} | {:.1} |\n", many.host.resident, many.host.private),
    );
}

fn bars(found: &Results) -> Vec<Bar> {
    let many = &found.many;
    let live =
        (many.server.resident - many.before.resident) / f64::from(u32::try_from(many.sessions).unwrap_or(1));
    let added = |setups: &Setups, setup: &Setup| setups.added(setup) / 1e3;
    let cpu = |values: &[f64]| median(values.iter().copied()) / 1e3;
    // A goal that is not reached yet is shown, too; the page has the distance and the reason.
    let wish = |what: &str, most, found, unit| Bar { must_hold: false, ..bar(what, most, found, unit) };
    // The real CLI uses most of a core, so the programs that forward its deltas wait for each other.
    let measured = [(found.real.as_ref(), "the real CLI", false), (Some(&found.ours), "our agent", true)];
    let mut bars = Vec::new();
    for (both, agent, must_hold) in measured {
        let Some(CoreStates { asleep, awake }) = both else { continue };
        let quick = |what: &str, found| Bar { must_hold, ..bar(what, 0.1, found, "ms") };
        bars.extend([
            quick(&format!("added for each delta, p50, {agent}, cores awake"), added(awake, &awake.alone)),
            wish("the same, cores asleep", 0.1, added(asleep, &asleep.alone), "ms"),
            quick("the same with a host, cores awake", added(awake, &awake.hosted)),
            wish("the same, cores asleep", 0.1, added(asleep, &asleep.hosted), "ms"),
            wish(&format!("CPU for each delta, {agent}, cores awake"), 0.05, cpu(&awake.alone.cpu_us), "ms"),
            wish("the same, cores asleep", 0.05, cpu(&asleep.alone.cpu_us), "ms"),
            wish("the same with a host, cores awake", 0.05, cpu(&awake.hosted.cpu_us), "ms"),
            wish("the same, cores asleep", 0.05, cpu(&asleep.hosted.cpu_us), "ms"),
            bar("the same as fast as possible", 0.05, cpu(&asleep.hosted.burst_us), "ms"),
        ]);
        for (setups, when) in [(awake, "awake"), (asleep, "asleep")] {
            if let Some(peer) = &setups.peer {
                let share = cpu(&setups.hosted.cpu_us) / cpu(&peer.cpu_us);
                let what = format!("CPU with a host, of the adapter's, {agent}, cores {when}");
                bars.push(bar(&what, 1.0, share, "×"));
                let share = cpu(&setups.local.cpu_us) / cpu(&peer.cpu_us);
                bars.push(wish("the same, over the Unix socket", 0.4, share, "×"));
                let share = setups.added(&setups.local) / setups.added(peer);
                bars.push(wish(
                    "added, p50, with a host over the Unix socket, of the adapter's",
                    0.75,
                    share,
                    "×",
                ));
            }
            let share = cpu(&setups.alone.cpu_us) / cpu(&setups.passed.cpu_us);
            let what = format!(
                "CPU without a host, of the two programs that only store and forward, {agent}, cores {when}"
            );
            bars.push(wish(&what, 1.6, share, "×"));
        }
    }
    bars.extend([
        bar(&format!("{SESSIONS} sessions, p99"), 20.0, many.latency.p99 / 1e3, "ms"),
        bar(
            &format!("one session for {SUBSCRIBERS} subscribers, p99"),
            100.0,
            found.fan.latency.p99 / 1e3,
            "ms",
        ),
        bar(
            "memory of an idle server",
            20.0,
            median(found.idle.memory.iter().map(|memory| memory.resident)),
            "MiB",
        ),
        bar("memory of the server for each live session", 1.0, live, "MiB"),
        bar("start to ready", 100.0, median(found.idle.ready_ms.iter().copied()), "ms"),
    ]);
    bars
}

fn bar(what: &str, most: f64, found: f64, unit: &'static str) -> Bar {
    Bar { what: what.to_owned(), most, found, unit, must_hold: true }
}

impl Bar {
    fn holds(&self) -> bool {
        self.found <= self.most
    }
}

fn ms(us: f64) -> String {
    short(us / 1e3)
}

fn short(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}

fn put(out: &mut String, line: impl AsRef<str>) {
    // Writing into a String cannot fail.
    _ = writeln!(out, "{}", line.as_ref());
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find(|line| line.starts_with("model name"));
    name.and_then(|line| line.split_once(':'))
        .map_or("unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

/// Puts the tables between the marks on the page.
pub(crate) fn update(page: &Path, text: &str) -> Result<(), Failure> {
    let old = fs::read_to_string(page)?;
    let (before, rest) = old.split_once(BEGIN).ok_or("the page has no place for the tables")?;
    let (_, after) = rest.split_once(END).ok_or("the page has no end of the tables")?;
    Ok(fs::write(page, format!("{before}{BEGIN}\n{text}\n{END}{after}"))?)
}
