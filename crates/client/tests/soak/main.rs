//! Many sessions that end at arbitrary moments, and must leave nothing behind: no process, no task, no open
//! file.
//!
//! `make soak` runs a thousand of them; `TIDINGS_SOAK_SESSIONS` and `TIDINGS_SOAK_SEED` set their number and
//! the seed.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

mod moments;
mod resources;
#[expect(dead_code, reason = "the other tests of the crate use the rest")]
#[path = "../stage.rs"]
mod stage;

use std::sync::Arc;
use std::time::{Duration, Instant};

use moments::MOMENTS;
use resources::Resources;
use stage::Stage;
use tidings::Options;
use tidings_rehearsal::Chance;

/// Sessions of the short run, a few for each moment.
const SESSIONS: usize = 60;
/// Concurrent sessions: more would wait for each other on two cores, and fewer would not interfere.
const AT_ONCE: usize = 6;
/// Longest wait for the last sessions to end; a CLI that ignores everything is killed after a fraction of it.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn f37_sessions_that_end_at_any_moment_leave_nothing() {
    let sessions = number("TIDINGS_SOAK_SESSIONS").and_then(|n| usize::try_from(n).ok()).unwrap_or(SESSIONS);
    let seed = number("TIDINGS_SOAK_SEED").unwrap_or(20_261_115);
    let stages = Stages::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // The first session starts what lives as long as the process: two threads, and the watchdog shell.
    runtime.block_on(moments::in_order(stages.story()));
    settle(&runtime, &Resources::default(), "the first session");
    let before = Resources::now(&runtime);
    let mut chance = Chance::new(seed);
    let mut done = 0;
    while done < sessions {
        let batch = AT_ONCE.min(sessions - done);
        let running: Vec<_> = (done..done + batch)
            .map(|number| {
                // The moments take turns; the delay within each is random.
                let (name, moment) = MOMENTS[number % MOMENTS.len()];
                (number, name, runtime.spawn(moment(stages.clone(), Chance::new(chance.number()))))
            })
            .collect();
        for (number, name, session) in running {
            let ended = runtime.block_on(session);
            let as_meant = ended.is_ok() || name == moments::HOST_PANICS;
            assert!(as_meant, "session {number} ({name}) of seed {seed}: {:?}", ended.unwrap_err());
        }
        done += batch;
    }
    settle(&runtime, &before, &format!("{sessions} sessions of seed {seed}"));
}

/// Waits until no more resources are used than before.
#[track_caller]
fn settle(runtime: &tokio::runtime::Runtime, before: &Resources, what: &str) {
    let began = Instant::now();
    loop {
        let now = Resources::now(runtime);
        if now.children.is_empty() && now.tasks == 0 && (before.files == 0 || now.files <= before.files) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "left by {what}: {now:?}, before: {before:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Two programs named `claude`: one writes a long story, one requests a tool.
#[derive(Clone)]
pub(crate) struct Stages {
    story: Arc<Stage>,
    tool: Arc<Stage>,
}

const STORY: &str = r#"
[[turn]]
text = "a long story that is told in many small pieces, so that there is always a piece on its way"
pace = { chunk_chars = 2, chunk_delay_ms = 10 }
repeat = true
"#;

const TOOL: &str = r#"
[[turn]]
repeat = true
[[turn.block]]
tool = "Bash"
id = "toolu_01Run"
input = { command = "true", description = "Run it" }
ask = true
result = "(no output)"
"#;

impl Stages {
    fn new() -> Self {
        Stages { story: Arc::new(Stage::playing(STORY)), tool: Arc::new(Stage::playing(TOOL)) }
    }

    pub(crate) fn story(&self) -> Options {
        options(&self.story).include_partial_messages()
    }

    pub(crate) fn tool(&self) -> Options {
        options(&self.tool)
    }
}

fn options(stage: &Stage) -> Options {
    stage.options().close_grace(Duration::from_millis(200))
}
