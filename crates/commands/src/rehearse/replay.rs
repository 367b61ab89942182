//! `tidings rehearse replay`: plays the CLI's side of a recording.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use tidings_rehearsal::recording::{Action, Event, Lockstep};

use crate::error::{CannotRun, Exit};
use crate::output::Output;

/// Arguments of `tidings rehearse replay`.
#[derive(Debug, Args)]
pub struct RehearseReplayArgs {
    /// Recording made by `tidings rehearse record -o FILE.ndjson`
    file: PathBuf,

    /// Speed relative to the recording; 0 does not wait at all
    #[arg(long, default_value_t = 1.0)]
    speed: f64,

    /// Do not wait for input where the recording has some
    #[arg(long)]
    no_wait: bool,
}

/// Maximum length of a pause; longer pauses of the recording are shortened.
const PAUSE_MAX: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &RehearseReplayArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let text = fs_err::read_to_string(&args.file).map_err(|error| CannotRun {
        code: "not_found",
        message: format!("Failed to read the recording: {error}"),
        hint: "create one with `tidings rehearse record -o FILE.ndjson -- claude …`",
    })?;
    let events = Event::parse_all(&text).map_err(|error| CannotRun {
        code: "bad_recording",
        message: format!("{}: {error}", args.file.display()),
        hint: "a recording has one JSON object per line, with `t_ms`, `dir` and `frame`",
    })?;
    let mut player = Lockstep::new(events, !args.no_wait);
    let mut host = std::io::stdin().lock().lines();
    loop {
        match player.next_action() {
            Action::Write { after_ms, line, stderr } => {
                pause(after_ms, args.speed);
                if stderr {
                    out.note(&line)?;
                } else {
                    out.bytes(line.as_bytes())?;
                    out.bytes(b"\n")?;
                    out.flush()?;
                }
            }
            Action::ReadLine => match host.next() {
                Some(line) => player.accept_line(&line?),
                // The input has ended, so the CLI would end too.
                None => return Ok(Exit::Success),
            },
            Action::Exit(0) => return Ok(Exit::Success),
            _ => return Ok(Exit::Failure),
        }
    }
}

fn pause(recorded_ms: f64, speed: f64) {
    if speed > 0.0 {
        let pause = Duration::try_from_secs_f64(recorded_ms / 1000.0 / speed).unwrap_or_default();
        thread::sleep(pause.min(PAUSE_MAX));
    }
}
