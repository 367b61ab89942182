//! Tables, bars, and the page that they are published on.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::figures::{Both, Found, Latency, Way, Ways, median};
use crate::rounds::{GAP_US, SESSIONS, WATCHERS};
use crate::{Failure, Plan};

const BEGIN: &str = "<!-- bridge: begin -->";
const END: &str = "<!-- bridge: end -->";

/// Something that should hold.
struct Bar {
    what: String,
    most: f64,
    found: f64,
    unit: &'static str,
    /// Whether the run fails if it does not.
    must_hold: bool,
}

/// Everything as Markdown, and whether every bar holds that must.
pub(crate) fn text(found: &Found, plan: &Plan) -> (String, bool) {
    let mut out = String::new();
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    put(&mut out, format!("{}, {cores} cores, Linux; {} rounds.\n", processor(), plan.rounds));
    put(&mut out, one_session(found));
    let parts = |of: fn(&(f64, f64)) -> f64| ms(median(found.ours.asleep.hosted.parts_us.iter().map(of)));
    put(
        &mut out,
        format!(
            "Of the CPU time with a host, on cores that sleep, {} ms are the server's and {} ms the host's, which keeps the agent while servers come and go.\n",
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
            (false, false) => "missed, and known to be",
        };
        put(
            &mut out,
            format!("| {} | {} {} | {} | {missed} |", bar.what, bar.most, bar.unit, short(bar.found)),
        );
    }
    (out.trim_end().to_owned(), bars.iter().all(|bar| bar.holds() || !bar.must_hold))
}

/// What each way takes for one session.
pub(crate) fn one_session(found: &Found) -> String {
    let mut out = String::new();
    let pace = format!("One session, a piece every {} ms, medians over the rounds", GAP_US / 1000);
    let agents = [
        (found.real.as_ref(), "the real CLI, with an API of ours behind it"),
        (Some(&found.ours), "an agent of ours that takes next to nothing"),
    ];
    for (both, agent) in agents {
        let Some(both) = both else { continue };
        put(&mut out, format!("{pace}; {agent}, on cores that sleep when they have nothing to do:\n"));
        ways(&mut out, &both.asleep);
        put(
            &mut out,
            format!(
                "\n{pace}; {agent}, on cores that are kept awake by work that anything else pushes aside:\n"
            ),
        );
        ways(&mut out, &both.awake);
        put(&mut out, "");
    }
    out
}

fn ways(out: &mut String, ways: &Ways) {
    put(
        out,
        "| way | p50, ms | p90, ms | p99, ms | added, p50, ms | CPU per piece, ms | as fast as it goes: pieces per second | CPU per piece, ms |",
    );
    put(out, "|---|--:|--:|--:|--:|--:|--:|--:|");
    let own = [&ways.direct, &ways.passed, &ways.least, &ways.alone, &ways.hosted, &ways.local];
    for way in own.into_iter().chain(&ways.peer) {
        let at = |of: fn(&Latency) -> f64| ms(median(way.latencies.iter().map(of)));
        let some = |values: &[f64], show: fn(f64) -> String| {
            if values.is_empty() { "–".to_owned() } else { show(median(values.iter().copied())) }
        };
        let more = if way.cpu_us.is_empty() { "–".to_owned() } else { ms(ways.added(way)) };
        put(
            out,
            format!(
                "| {} | {} | {} | {} | {more} | {} | {} | {} |",
                way.title,
                at(|all| all.p50),
                at(|all| all.p90),
                at(|all| all.p99),
                some(&way.cpu_us, ms),
                some(&way.burst_rate, |rate| format!("{rate:.0}")),
                some(&way.burst_us, ms),
            ),
        );
    }
}

fn many(out: &mut String, found: &Found) {
    let (many, fan) = (&found.many, &found.fan);
    put(out, "| load | pieces per second | p50, ms | p99, ms | longest, ms | CPU |");
    put(out, "|---|--:|--:|--:|--:|---|");
    put(
        out,
        format!(
            "| {} sessions, a watcher each | {:.0} | {} | {} | {} | {} ms per piece in the server, {} ms in its host |",
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
            "| one session, {} watchers | {:.0} | {} | {} | {} | {} ms per piece and watcher in the server |\n",
            fan.watchers,
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

fn bars(found: &Found) -> Vec<Bar> {
    let many = &found.many;
    let live =
        (many.server.resident - many.before.resident) / f64::from(u32::try_from(many.sessions).unwrap_or(1));
    let added = |ways: &Ways, way: &Way| ways.added(way) / 1e3;
    let cpu = |values: &[f64]| median(values.iter().copied()) / 1e3;
    // Not reached, and shown all the same; the page says how far it is and why.
    let wish = |what: &str, most, found, unit| Bar { must_hold: false, ..bar(what, most, found, unit) };
    // The real CLI takes most of a core, so that those who pass its pieces on wait for each other.
    let measured = [(found.real.as_ref(), "the real CLI", false), (Some(&found.ours), "our agent", true)];
    let mut bars = Vec::new();
    for (both, agent, must_hold) in measured {
        let Some(Both { asleep, awake }) = both else { continue };
        let quick = |what: &str, found| Bar { must_hold, ..bar(what, 0.1, found, "ms") };
        bars.extend([
            quick(&format!("added for each piece, p50, {agent}, cores awake"), added(awake, &awake.alone)),
            wish("the same, cores asleep", 0.1, added(asleep, &asleep.alone), "ms"),
            quick("the same with a host, cores awake", added(awake, &awake.hosted)),
            wish("the same, cores asleep", 0.1, added(asleep, &asleep.hosted), "ms"),
            wish(&format!("CPU for each piece, {agent}, cores awake"), 0.05, cpu(&awake.alone.cpu_us), "ms"),
            wish("the same, cores asleep", 0.05, cpu(&asleep.alone.cpu_us), "ms"),
            wish("the same with a host, cores awake", 0.05, cpu(&awake.hosted.cpu_us), "ms"),
            wish("the same, cores asleep", 0.05, cpu(&asleep.hosted.cpu_us), "ms"),
            bar("the same as fast as it goes", 0.05, cpu(&asleep.hosted.burst_us), "ms"),
        ]);
        for (ways, when) in [(awake, "awake"), (asleep, "asleep")] {
            if let Some(peer) = &ways.peer {
                let share = cpu(&ways.hosted.cpu_us) / cpu(&peer.cpu_us);
                let what = format!("CPU with a host, of the adapter's, {agent}, cores {when}");
                bars.push(bar(&what, 1.0, share, "×"));
                let share = cpu(&ways.local.cpu_us) / cpu(&peer.cpu_us);
                bars.push(wish("the same, over the Unix socket", 0.4, share, "×"));
                let share = ways.added(&ways.local) / ways.added(peer);
                bars.push(wish(
                    "added, p50, with a host over the Unix socket, of the adapter's",
                    0.75,
                    share,
                    "×",
                ));
            }
            let share = cpu(&ways.alone.cpu_us) / cpu(&ways.passed.cpu_us);
            let what =
                format!("CPU without a host, of the two programs that only pass on, {agent}, cores {when}");
            bars.push(wish(&what, 1.6, share, "×"));
        }
    }
    bars.extend([
        bar(&format!("{SESSIONS} sessions, p99"), 20.0, many.latency.p99 / 1e3, "ms"),
        bar(&format!("one session for {WATCHERS} watchers, p99"), 100.0, found.fan.latency.p99 / 1e3, "ms"),
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
