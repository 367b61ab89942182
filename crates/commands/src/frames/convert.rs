//! `tidings frames convert`: writes frames or session lines in another format.

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

use super::events::{self, LineKind};
use super::recorded::{RecordedLine, unwrap_recorded};
use crate::error::Exit;
use crate::input::each_line;
use crate::output::{Output, printable};

/// Arguments of `tidings frames convert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ConvertArgs {
    /// File of NDJSON lines, or a recording of `rehearse record`; `-` is standard input [default: standard
    /// input]
    file: Option<PathBuf>,

    /// Format of the input
    #[arg(long, value_enum, default_value = "wire")]
    from: InputFormat,

    /// Format of the output, one object per line
    #[arg(long, value_enum)]
    to: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// Frames of the real CLI
    Wire,
    /// Frames in the `rusty_claw` wire format (`wire` and `seed` each accept both formats)
    Seed,
    /// Lines of a session file
    Transcript,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// The CLI's wire format in strict JSON: lone surrogates repaired, duplicate keys removed
    Json,
    /// The `rusty_claw` wire format: flat control frames, tools as objects, content as a list
    Seed,
    /// Events of the server protocol: its twelve types only
    Ui,
    /// All events of Tidings, including those of sub-agents and retractions
    Native,
    /// Messages of the phone protocol
    Mobile,
}

const EXAMPLES: &str = "\
Examples:
  tidings frames convert --to ui recording.ndjson
  claude -p hello --output-format stream-json --verbose | tidings frames convert --to native
  tidings frames convert --from transcript --to mobile session.jsonl
  tidings frames convert --from seed --to json old.ndjson
  tidings rehearse record -o run.ndjson -- claude … && tidings frames convert --to ui run.ndjson

Entries of a session file are converted in the order of its lines; `tidings sessions export --to ui` \
also handles branches and sub-agents";

pub(crate) fn run(args: &ConvertArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let files: Vec<PathBuf> = args.file.iter().cloned().collect();
    let dialect = match args.to {
        OutputFormat::Ui => Some(Dialect::Ui),
        OutputFormat::Native => Some(Dialect::Native),
        OutputFormat::Mobile => Some(Dialect::Mobile),
        OutputFormat::Json | OutputFormat::Seed => None,
    };
    if let Some(dialect) = dialect {
        let kind = match args.from {
            InputFormat::Wire | InputFormat::Seed => LineKind::Frames,
            InputFormat::Transcript => LineKind::Entries,
        };
        return events::run(&files, kind, dialect, out);
    }
    let (mut left_out, mut invalid) = (0u64, 0u64);
    each_line(&files, LINE_BYTES_MAX, |path, number, line| {
        let converted = match line {
            Line::Json(bytes) => match unwrap_recorded(bytes) {
                RecordedLine::Frame(frame) => convert(args, frame),
                RecordedLine::Other => Ok(None),
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
                let location = format!("{}:{number}", path.display());
                out.note(&format!("{}: {}", printable(&location), printable(&error.to_string())))?;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    if left_out > 0 {
        out.note(&format!("{left_out} lines cannot be expressed in this format and were omitted"))?;
    }
    Ok(if invalid > 0 { Exit::Failure } else { Exit::Success })
}

/// Converts a line; `None` if the output format cannot express it.
fn convert(args: &ConvertArgs, line: &[u8]) -> Result<Option<String>, DecodeError> {
    if args.from == InputFormat::Transcript {
        let entry = EntryRef::decode(line)?;
        let mut text = String::new();
        entry.body().write(&mut text);
        return Ok((args.to == OutputFormat::Json).then(|| strict(&text)));
    }
    let message = FrameRef::decode(line)?.message();
    Ok(match args.to {
        OutputFormat::Seed => to_seed(&message),
        // Events were handled above.
        OutputFormat::Json | OutputFormat::Ui | OutputFormat::Native | OutputFormat::Mobile => {
            Some(strict(&nested(message).to_line()))
        }
    })
}

/// Nests control frames as the real CLI expects them.
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

/// Rewrites a value in strict JSON that every parser accepts.
fn strict(text: &str) -> String {
    let mut out = String::new();
    match Raw::parse(text) {
        Ok(raw) => write_strict(raw, &mut out),
        Err(_) => out.push_str(text),
    }
    out
}
