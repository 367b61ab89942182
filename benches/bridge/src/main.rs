//! Measures what `tidings serve` adds between an agent and its subscribers.
//!
//! An agent writes the time into every delta: the real CLI over our stand-in API, or our own agent
//! (`bridge agent`). The reader of a delta, behind a pipe, a server or another bridge, compares it with the
//! same clock. `run.sh` builds the programs and runs this one.

#![forbid(unsafe_code)]

mod acp;
mod agent;
mod api;
mod awake;
mod clock;
mod compare;
mod direct;
mod figures;
mod http;
mod idle;
mod least;
mod process;
mod report;
mod rounds;
mod server;
mod subscribers;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

/// An error, which ends the measurement.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Programs and settings of a run.
#[derive(Clone)]
struct Plan {
    /// The program under test.
    tidings: PathBuf,
    /// The real CLI.
    claude: Option<PathBuf>,
    /// The other bridge: its interpreter and its script.
    peer: Option<(PathBuf, PathBuf)>,
    rounds: usize,
    /// True to measure one session at the pace of a model only, for a quick look.
    is_short: bool,
    /// The page that the tables go to.
    update: Option<PathBuf>,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let done = match arguments.next().as_deref() {
        Some("agent") => agent::run(&arguments.collect::<Vec<_>>()),
        Some("pass") => direct::pass(&arguments.collect::<Vec<_>>()),
        Some("least") => least::run(&arguments.collect::<Vec<_>>()),
        Some("spin") => awake::spin(),
        _ => measure(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Measures everything. Returns true if every mandatory bar is met.
fn measure() -> Result<bool, Failure> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let path = |name: &str| given(name).map(PathBuf::from);
    let plan = Plan {
        tidings: path("TIDINGS").ok_or("TIDINGS has to name the program; benches/bridge/run.sh does")?,
        claude: path("CLAUDE"),
        peer: path("PEER_NODE").zip(path("PEER")),
        rounds: given("ROUNDS").map_or(Ok(3), |rounds| rounds.to_string_lossy().parse())?,
        is_short: given("SHORT").is_some_and(|short| short == "1"),
        update: path("PAGE").filter(|_| given("UPDATE").is_some_and(|update| update == "1")),
    };
    if let Some(old) = path("OLD_TIDINGS") {
        compare::measure(&Plan { tidings: old, ..plan.clone() }, &plan)?;
        return Ok(true);
    }
    let found = rounds::all(&plan)?;
    if plan.is_short {
        println!("{}", report::one_session(&found));
        return Ok(true);
    }
    let (text, holds) = report::text(&found, &plan);
    println!("{text}");
    if let Some(page) = &plan.update {
        report::update(page, &text)?;
    }
    Ok(holds)
}
