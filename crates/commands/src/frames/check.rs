//! `tidings frames check`: decodes every line, counts the kinds and reports invalid lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use tidings_protocol::FrameRef;
use tidings_protocol::json::{Raw, same_json};
use tidings_protocol::messages::Message;
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line};

use crate::error::Exit;
use crate::input::each_line;
use crate::output::{BOLD, DIM, Output, PLAIN, RED, YELLOW, printable};

/// Arguments of `tidings frames check`.
#[derive(Debug, Args)]
pub struct FramesCheckArgs {
    /// Files of NDJSON lines; `-` is standard input [default: standard input]
    files: Vec<PathBuf>,

    /// Print the counts as one JSON object
    #[arg(long)]
    pub json: bool,

    /// Maximum length of a line; a longer one counts as invalid
    #[arg(long, value_name = "BYTES", default_value_t = LINE_BYTES_MAX)]
    max_line: usize,
}

/// Counts of lines and frames. `frames = typed + refused + unknown`; lines are frames, noise, blank or
/// invalid.
#[derive(Debug, Default, Serialize)]
struct FrameCounts {
    frames: u64,
    typed: u64,
    refused: u64,
    unknown: u64,
    noise: u64,
    blank: u64,
    invalid: u64,
    lossy: u64,
    repaired: u64,
    kinds: BTreeMap<String, u64>,
}

/// Maximum number of remarks that are shown; the counts cover all.
const REMARKS_MAX: usize = 20;

pub(crate) fn run(args: &FramesCheckArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let mut report = CheckReport::default();
    each_line(&args.files, args.max_line, |path, number, line| {
        report.line(path, number, line);
        Ok(())
    })?;
    if args.json {
        out.json(&report.counts)?;
    } else {
        out.text(&report.render())?;
    }
    if report.session_lines * 2 > report.counts.frames {
        out.note("These are lines of a session file; check them with `tidings sessions check FILE`")?;
    }
    Ok(if report.counts.invalid > 0 { Exit::Failure } else { Exit::Success })
}

#[derive(Debug, Default)]
struct CheckReport {
    counts: FrameCounts,
    /// Number of frames with keys that occur only in session files.
    session_lines: u64,
    /// Kinds that are unknown, to mark them in the table.
    unknown: BTreeMap<String, u64>,
    remarks: Vec<String>,
    remarks_left_out: u64,
}

impl CheckReport {
    fn line(&mut self, path: &Path, number: usize, line: Line<'_>) {
        match line {
            Line::Json(bytes) => match FrameRef::decode(bytes) {
                Ok(frame) => self.frame(path, number, &frame),
                Err(error) => {
                    self.counts.invalid += 1;
                    self.remark(path, number, "invalid", &error.to_string());
                }
            },
            Line::Noise(bytes) => {
                self.counts.noise += 1;
                let text: String = String::from_utf8_lossy(bytes).trim_end().chars().take(60).collect();
                self.remark(path, number, "noise", &text);
            }
            Line::Blank(_) => self.counts.blank += 1,
            Line::Oversized { len, .. } => {
                self.counts.invalid += 1;
                self.remark(path, number, "invalid", &format!("line of {len} bytes is over the limit"));
            }
            _ => {}
        }
    }

    fn frame(&mut self, path: &Path, number: usize, frame: &FrameRef<'_>) {
        let counts = &mut self.counts;
        let name = frame.name().into_owned();
        counts.frames += 1;
        let has = |key: &str| frame.json().get(key).is_some();
        self.session_lines += u64::from(has("parentUuid") && has("isSidechain"));
        counts.repaired += u64::from(frame.repaired());
        *counts.kinds.entry(name.clone()).or_default() += 1;

        let typed = frame.typed();
        let again = typed.message.to_line();
        let lossy = !Raw::parse(&again).is_ok_and(|again| same_json(frame.json(), again));
        counts.lossy += u64::from(lossy);
        let unread = match &typed.message {
            Message::Unknown(unknown) => Some(unknown.reason.as_ref().map(ToString::to_string)),
            _ if !frame.is_known() => Some(None),
            _ => None,
        };
        match (&unread, typed.refused.is_empty()) {
            (Some(_), _) => counts.unknown += 1,
            (None, true) => counts.typed += 1,
            (None, false) => counts.refused += 1,
        }
        if let Some(reason) = unread {
            *self.unknown.entry(name).or_default() += 1;
            if let Some(reason) = reason {
                self.remark(path, number, "unknown", &reason);
            }
        }
        for refused in &typed.refused {
            self.remark(path, number, "refused", &refused.to_string());
        }
        if lossy {
            self.remark(path, number, "lossy", "the typed value does not serialize back to the input");
        }
    }

    fn remark(&mut self, path: &Path, number: usize, what: &str, text: &str) {
        if self.remarks.len() == REMARKS_MAX {
            self.remarks_left_out += 1;
            return;
        }
        let color = if matches!(what, "invalid" | "lossy") { RED } else { YELLOW };
        let location = format!("{}:{number}", path.display());
        self.remarks.push(format!("{}: {color}{what}{PLAIN}: {}", printable(&location), printable(text)));
    }

    fn render(&self) -> String {
        let mut text = String::new();
        let mut kinds: Vec<_> = self.counts.kinds.iter().collect();
        kinds.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        for (name, count) in kinds {
            let mark = if self.unknown.contains_key(name) {
                format!("  {DIM}unknown{PLAIN}")
            } else {
                String::new()
            };
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{count:>8}  {}{mark}", printable(name));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "{remark}");
        }
        if self.remarks_left_out > 0 {
            let _ = writeln!(text, "… and {} more", self.remarks_left_out);
        }
        if !self.remarks.is_empty() {
            text.push('\n');
        }
        let FrameCounts { frames, typed, refused, unknown, noise, blank, invalid, lossy, repaired, .. } =
            &self.counts;
        let _ = writeln!(
            text,
            "{BOLD}{frames} frames{PLAIN}: {typed} typed, {refused} refused, {unknown} unknown; \
             {lossy} lossy, {repaired} repaired\n{noise} noise, {blank} blank, {invalid} invalid"
        );
        text
    }
}
