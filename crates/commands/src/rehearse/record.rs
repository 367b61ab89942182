//! `tidings rehearse record`: runs a command and records both sides of its streams.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use tidings_rehearsal::recording::{Direction, Event, to_script};

use super::child_shutdown::ChildShutdown;
use super::recording_file::RecordingFile;
use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::signals::{Signal, Signals};

/// Arguments of `tidings rehearse record`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RehearseRecordArgs {
    /// File to write: a script if its name ends in `.toml`, else the lines of both sides with their times
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Command to run; its input and output are passed through
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Ctrl-C or SIGTERM ends the command too; what was recorded until then is written, and the exit code is 130. \
A second signal kills the command at once.

Example:
  tidings rehearse record -o run.toml -- claude -p --verbose --output-format stream-json hello";

/// Capacity of the queue of lines; when it is full, the readers wait, and with them the command.
const WAITING_MAX: usize = 1024;

/// Interval of checks whether the command has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Exit code of a recording that a signal ended.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(args: &RehearseRecordArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let (program, rest) = args.command.split_first().context("no command given")?;
    // A run cannot be repeated, so the file is opened before it.
    let target = RecordingFile::open(&args.output)?;
    let (sender, events) = mpsc::sync_channel(WAITING_MAX);
    // After a signal, what was recorded until then is written.
    forward_signals(sender.clone())?;
    let start = Instant::now();
    let child = Command::new(program)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            target.discard();
            return Err(CannotRun {
                code: "not_found",
                message: format!("Failed to start `{}`: {error}", program.display()),
                hint: "give the command after `--`",
            }
            .into());
        }
    };
    if let Some(stdin) = child.stdin.take() {
        let sender = sender.clone();
        // Not joined: after the command has ended, it may still wait for input.
        thread::spawn(move || pass_on(std::io::stdin(), stdin, Direction::In, start, &sender));
    }
    let stdout = child.stdout.take().context("no stdout")?;
    let stderr = child.stderr.take().context("no stderr")?;
    let outputs = [
        thread::spawn({
            let sender = sender.clone();
            move || pass_on(stdout, std::io::stdout(), Direction::Out, start, &sender)
        }),
        thread::spawn(move || pass_on(stderr, std::io::stderr(), Direction::Stderr, start, &sender)),
    ];
    // The recording is complete once both outputs have ended.
    let mut recorded = Vec::new();
    let mut shutdown = ChildShutdown::default();
    while !shutdown.is_over(&mut child, Instant::now()) {
        match events.recv_timeout(POLL_INTERVAL) {
            Ok(RecordEvent::Line(event)) => recorded.push(event),
            Ok(RecordEvent::Signal(signal)) => shutdown.signalled(signal, &mut child, Instant::now()),
            Err(_) if outputs.iter().all(thread::JoinHandle::is_finished) => break,
            Err(_) => {}
        }
    }
    let status = child.wait()?;
    recorded.extend(events.try_iter().filter_map(RecordEvent::line));
    recorded.push(Event::Exit { t_ms: since(start), code: status.code() });
    target.write(&text(&args.output, &recorded))?;
    let lines = human::plural(recorded.len() as u64 - 1, "line");
    let form = if is_script(&args.output) { ", as a script," } else { "" };
    out.note(&format!("{lines} recorded{form} in {}", printable(&args.output.display().to_string())))?;
    Ok(match status.success() {
        _ if shutdown.was_requested() => Exit::Code(INTERRUPTED),
        true => Exit::Success,
        false => Exit::Failure,
    })
}

/// A recorded line, or a signal.
enum RecordEvent {
    Line(Event),
    Signal(Signal),
}

impl RecordEvent {
    fn line(self) -> Option<Event> {
        match self {
            RecordEvent::Line(event) => Some(event),
            RecordEvent::Signal(_) => None,
        }
    }
}

/// Starts to catch signals, and forwards them.
fn forward_signals(events: SyncSender<RecordEvent>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let mut signals = Signals::catch()?;
    drop(entered);
    // Not joined: it waits for signals that may never come.
    thread::spawn(move || {
        runtime.block_on(async { while events.send(RecordEvent::Signal(signals.next().await)).is_ok() {} });
    });
    Ok(())
}

fn is_script(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension == "toml")
}

fn text(output: &Path, events: &[Event]) -> String {
    if is_script(output) {
        let name = output.file_stem().unwrap_or_default().to_string_lossy();
        to_script(events, &name)
    } else {
        events.iter().map(|event| event.to_line() + "\n").collect()
    }
}

/// Copies lines as they come, and reports each before it is passed on. So the reaction of the other side is
/// reported after the line that caused it.
fn pass_on(
    from: impl Read,
    mut to: impl Write,
    direction: Direction,
    start: Instant,
    events: &SyncSender<RecordEvent>,
) {
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned();
        let reported = events.send(RecordEvent::Line(Event::Line { t_ms: since(start), direction, text }));
        let passed = to.write_all(&line).and_then(|()| to.flush());
        if passed.is_err() || reported.is_err() {
            break;
        }
        line.clear();
    }
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writer that fails if a line was not reported before.
    struct Passed {
        events: mpsc::Receiver<RecordEvent>,
        lines: Vec<String>,
    }

    impl Write for Passed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            match self.events.try_recv() {
                Ok(RecordEvent::Line(Event::Line { text, .. })) => self.lines.push(text),
                _ => panic!("a line was passed on before it was reported"),
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// D4: a reaction to a line is reported after the line.
    #[test]
    fn d4_a_line_is_reported_before_it_is_passed_on() {
        let (sender, events) = mpsc::sync_channel(WAITING_MAX);
        let mut passed = Passed { events, lines: Vec::new() };
        pass_on(&b"one\ntwo\r\nthree"[..], &mut passed, Direction::Out, Instant::now(), &sender);
        assert_eq!(passed.lines, ["one", "two", "three"]);
    }
}
