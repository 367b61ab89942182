//! `tidings frames echo`: decodes every line and writes it back byte for byte.

use std::path::PathBuf;

use clap::Args;
use tidings_protocol::FrameRef;
use tidings_protocol::ndjson::Line;

use crate::error::Exit;
use crate::input::each_line;
use crate::output::Output;

/// Arguments of `tidings frames echo`.
#[derive(Debug, Args)]
pub struct EchoArgs {
    /// Files of NDJSON lines; `-` is standard input [default: standard input]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &EchoArgs, out: &mut Output) -> anyhow::Result<Exit> {
    // No limit, since the output must equal the input.
    each_line(&args.files, usize::MAX, |_, _, line| {
        match line {
            Line::Json(bytes) => match FrameRef::decode(bytes) {
                Ok(frame) => write_frame(bytes, frame.raw(), out)?,
                Err(_) => out.bytes(bytes)?,
            },
            Line::Noise(bytes) | Line::Blank(bytes) => out.bytes(bytes)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(Exit::Success)
}

/// Writes the frame's own bytes between the bytes around it on the line.
fn write_frame(line: &[u8], frame: &[u8], out: &mut Output) -> std::io::Result<()> {
    let before = line.len() - strip_front(line).len();
    out.bytes(&line[..before])?;
    out.bytes(frame)?;
    out.bytes(&line[before + frame.len()..])
}

fn strip_front(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii_start()
}
