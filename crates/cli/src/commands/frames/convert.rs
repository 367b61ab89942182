use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tidings_agent::dialect::Dialect;
use tidings_protocol::control::ControlStyle;
use tidings_protocol::entry::EntryRef;
use tidings_protocol::json::{Raw, Wire as _, write_strict};
use tidings_protocol::messages::Message;
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line};
use tidings_protocol::seed::to_seed;
use tidings_protocol::{DecodeError, FrameRef};

use super::events::{self, Source};
use super::recorded::{Holds, holds};
use crate::error::Exit;
use crate::input::each_line;
use crate::output::{Output, printable};

/// Arguments of `tidings frames convert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Convert {
    /// A file of NDJSON lines, also one that `rehearse record` wrote; standard input if none, or `-`
    file: Option<PathBuf>,

    /// What the lines are
    #[arg(long, value_enum, default_value = "wire")]
    from: From,

    /// What to write, one object a line
    #[arg(long, value_enum)]
    to: To,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// Frames of the real CLI
    Wire,
    /// Frames in the accent of seed 000 (both are understood either way)
    Seed,
    /// Lines of a session file
    Transcript,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// The real wire in strict JSON that every parser takes: lone surrogates repaired, duplicate keys gone
    Json,
    /// The accent of seed 000: flat control frames, tools as objects, content as a list
    Seed,
    /// Events of the server protocol of seed 003: its twelve and nothing else
    Ui,
    /// Every event that Tidings has, also those of sub-agents and what was taken back
    Native,
    /// Messages of the phone protocol of seed 002
    Mobile,
}

const EXAMPLES: &str = "\
Examples:
  tidings frames convert --to ui recording.ndjson
  claude -p hello --output-format stream-json --verbose | tidings frames convert --to native
  tidings frames convert --from transcript --to mobile session.jsonl
  tidings frames convert --from seed --to json old.ndjson
  tidings rehearse record -o run.ndjson -- claude … && tidings frames convert --to ui run.ndjson

Of one session file the entries are taken in the order of its lines; `tidings sessions export --to ui` \
knows branches and sub-agents too";

pub(crate) fn run(args: &Convert, out: &mut Output) -> anyhow::Result<Exit> {
    let files: Vec<PathBuf> = args.file.iter().cloned().collect();
    let dialect = match args.to {
        To::Ui => Some(Dialect::Ui),
        To::Native => Some(Dialect::Native),
        To::Mobile => Some(Dialect::Mobile),
        To::Json | To::Seed => None,
    };
    if let Some(dialect) = dialect {
        let source = match args.from {
            From::Wire | From::Seed => Source::Frames,
            From::Transcript => Source::Entries,
        };
        return events::run(&files, source, dialect, out);
    }
    let (mut left_out, mut invalid) = (0u64, 0u64);
    each_line(&files, LINE_BYTES_MAX, |path, number, line| {
        let converted = match line {
            Line::Json(bytes) => match holds(bytes) {
                Holds::Frame(frame) => convert(args, frame),
                Holds::Nothing => Ok(None),
            },
            Line::Blank(_) => return Ok(()),
            _ => Ok(None),
        };
        match converted {
            Ok(Some(mut text)) => {
                text.push('\n');
                out.bytes(text.as_bytes())?;
            }
            Ok(None) => left_out += 1,
            Err(error) => {
                invalid += 1;
                let place = format!("{}:{number}", path.display());
                out.note(&format!("{}: {}", printable(&place), printable(&error.to_string())))?;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    if left_out > 0 {
        out.note(&format!("{left_out} lines have no form in this dialect and were left out"))?;
    }
    Ok(if invalid > 0 { Exit::NotFine } else { Exit::Fine })
}

/// `None` if the dialect has no form for the line.
fn convert(args: &Convert, line: &[u8]) -> Result<Option<String>, DecodeError> {
    if args.from == From::Transcript {
        let entry = EntryRef::decode(line)?;
        let mut text = String::new();
        entry.body().write(&mut text);
        return Ok((args.to == To::Json).then(|| strict(&text)));
    }
    let message = FrameRef::decode(line)?.message();
    Ok(match args.to {
        To::Seed => to_seed(&message),
        // The others were dealt with before.
        _ => Some(strict(&nested(message).to_line())),
    })
}

/// Control frames as the real CLI takes them.
fn nested(message: Message) -> Message {
    match message {
        Message::ControlRequest { request_id, request } => {
            Message::ControlRequest { request_id, request: request.in_style(ControlStyle::Nested) }
        }
        Message::ControlResponse { request_id, response } => {
            Message::ControlResponse { request_id, response: response.in_style(ControlStyle::Nested) }
        }
        other => other,
    }
}

/// The same value in JSON that every parser takes.
fn strict(text: &str) -> String {
    let mut out = String::new();
    match Raw::parse(text) {
        Ok(raw) => write_strict(raw, &mut out),
        Err(_) => out.push_str(text),
    }
    out
}
