//! Frames to measure: recorded ones, repeated with fresh ids and varied text.
//!
//! The mix models long streamed answers with partial messages; docs/performance-results.md lists what it
//! leaves out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::random::{Random, fingerprint};
use crate::template::{Ids, Template, kind};
use crate::text::Source;

/// Minimum size of the corpus in bytes.
pub const BYTES_MIN: usize = 64 << 20;

const SEED: u64 = 42;

/// Version of the generator. Raise it with every change, so that files of the old version are not reused.
const VERSION: u32 = 1;

const TEXT_DELTA: &str = "stream_event/content_block_delta/text_delta";
const JSON_DELTA: &str = "stream_event/content_block_delta/input_json_delta";

/// Frames of every turn, in this order except for the deltas between them.
const PLACED: &[&str] = &[
    "system/init",
    "system/status",
    "stream_event/message_start",
    "stream_event/content_block_start/text",
    TEXT_DELTA,
    "assistant/text",
    "stream_event/content_block_stop",
    "stream_event/content_block_start/tool_use",
    JSON_DELTA,
    "assistant/tool_use",
    "stream_event/message_delta",
    "stream_event/message_stop",
    "user/tool_result",
    "result/success",
];

/// True if a frame is a delta of a block, by far the most frequent kind.
pub fn is_delta(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"stream_event","event":{"type":"content_block_delta""#)
}

/// The corpus, from the file if it matches these parameters, otherwise generated.
pub fn load(root: &Path) -> Result<Vec<u8>, Failure> {
    let recordings = recordings(&root.join("../../crates/protocol/tests/fixtures/corpus"))?;
    let key = format!(
        "version {VERSION}, seed {SEED}, {BYTES_MIN} bytes, recordings {:016x}, text {:016x}\n",
        fingerprint(recordings.as_bytes()),
        Source::fingerprint(),
    );
    let folder = root.join("corpus");
    let (frames, parameters) = (folder.join("frames.ndjson"), folder.join("frames.key"));
    if fs::read_to_string(&parameters).is_ok_and(|found| found == key) {
        return Ok(fs::read(frames)?);
    }
    let made = Generator::new(&recordings)?.run();
    fs::create_dir_all(&folder)?;
    fs::write(frames, &made)?;
    // Rename last, so that an interrupted run leaves no file that looks complete.
    fs::write(parameters, key)?;
    Ok(made.into_bytes())
}

/// Count and bytes of every kind, largest first.
pub fn composition(corpus: &[u8]) -> String {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut frames, mut bytes) = (0, 0);
    for line in corpus.split_inclusive(|byte| *byte == b'\n') {
        let name = std::str::from_utf8(line).ok().and_then(kind).unwrap_or_default();
        let entry = kinds.entry(name).or_default();
        *entry = (entry.0 + 1, entry.1 + line.len());
        (frames, bytes) = (frames + 1, bytes + line.len());
    }
    let mut rows: Vec<_> = kinds.into_iter().collect();
    rows.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
    let mut out = format!("corpus: {frames} frames, {bytes} bytes, mean {}\n", bytes / frames.max(1));
    for (name, (count, size)) in rows {
        let (by_count, by_bytes) = (percent(count, frames), percent(size, bytes));
        // Writing into a String cannot fail.
        let _ = writeln!(out, "  {name:52} {count:8} frames {by_count:6.2} %  {by_bytes:6.2} % of bytes");
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "shares are shown with two decimals")]
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// All recorded lines, ordered by file name.
fn recordings(folder: &Path) -> Result<String, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    for scene in fs::read_dir(folder)? {
        for file in fs::read_dir(scene?.path())? {
            let path = file?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("stdout") && name.ends_with(".ndjson") {
                files.push(path);
            }
        }
    }
    files.sort();
    let texts: Result<Vec<String>, _> = files.iter().map(fs::read_to_string).collect();
    Ok(texts?.join("\n"))
}

struct Generator {
    kinds: BTreeMap<String, Vec<Template>>,
    /// Occasional kinds.
    others: Vec<String>,
    source: Source,
    random: Random,
    out: String,
}

impl Generator {
    fn new(recordings: &str) -> Result<Self, Failure> {
        let mut kinds: BTreeMap<String, Vec<Template>> = BTreeMap::new();
        for line in recordings.lines() {
            // Lines with lone surrogates are left out, since `serde_json::Value` rejects them.
            let Some(kind) = kind(line) else { continue };
            let template = Template::new(line, holes(&kind));
            kinds.entry(kind).or_default().push(template);
        }
        if let Some(missing) = PLACED.iter().find(|kind| !kinds.contains_key(**kind)) {
            return Err(format!("no recorded frame of kind `{missing}`").into());
        }
        let others = kinds.keys().filter(|kind| !PLACED.contains(&kind.as_str())).cloned().collect();
        Ok(Generator { kinds, others, source: Source::new(), random: Random::new(SEED), out: String::new() })
    }

    fn run(mut self) -> String {
        while self.out.len() < BYTES_MIN {
            let mut ids = Ids::new(&mut self.random);
            self.emit("system/init", &ids, &[]);
            for _ in 0..self.random.between(5, 25) {
                ids.next_message(&mut self.random);
                self.turn(&ids);
            }
            let answer = json(&self.source.code(&mut self.random, 600));
            self.emit("result/success", &ids, &[&answer]);
        }
        self.out
    }

    fn turn(&mut self, ids: &Ids) {
        self.emit("system/status", ids, &[]);
        self.emit("stream_event/message_start", ids, &[]);
        self.emit("stream_event/content_block_start/text", ids, &["\"\""]);
        let mut answer = String::new();
        for _ in 0..self.random.between(20, 190) {
            let piece = self.source.tokens(&mut self.random);
            self.emit(TEXT_DELTA, ids, &[&json(&piece)]);
            answer.push_str(&piece);
        }
        self.emit("assistant/text", ids, &[&json(&answer)]);
        self.emit("stream_event/content_block_stop", ids, &[]);
        self.tool(ids);
        for _ in 0..2 {
            if self.random.percent(50) {
                let kind = self.random.pick(&self.others).clone();
                self.emit(&kind, ids, &[]);
            }
        }
    }

    fn tool(&mut self, ids: &Ids) {
        self.emit("stream_event/content_block_start/tool_use", ids, &[]);
        let bytes = self.random.between(40, 1500);
        let content = json(&self.source.code(&mut self.random, bytes));
        let input = format!(r#"{{"file_path":"/srv/app/src/part_{bytes}.rs","content":{content}}}"#);
        let mut rest = input.as_str();
        while !rest.is_empty() {
            let characters = self.random.between(4, 24);
            let end = rest.char_indices().nth(characters).map_or(rest.len(), |(at, _)| at);
            self.emit(JSON_DELTA, ids, &[&json(&rest[..end])]);
            rest = &rest[end..];
        }
        self.emit("assistant/tool_use", ids, &[&input]);
        self.emit("stream_event/content_block_stop", ids, &[]);
        self.emit("stream_event/message_delta", ids, &[]);
        self.emit("stream_event/message_stop", ids, &[]);
        let bytes = self.random.log_normal(8.3, 1.5, 60, 900_000);
        let output = json(&self.source.code(&mut self.random, bytes));
        self.emit("user/tool_result", ids, &[&output]);
    }

    fn emit(&mut self, kind: &str, ids: &Ids, texts: &[&str]) {
        let template = self.random.pick(&self.kinds[kind]);
        template.fill(&mut self.out, &mut self.random, ids, texts);
    }
}

/// Paths of the varied texts in a kind. A tool's output is in the frame twice, as recorded.
fn holes(kind: &str) -> &'static [&'static [&'static str]] {
    match kind {
        TEXT_DELTA => &[&["event", "delta", "text"]],
        JSON_DELTA => &[&["event", "delta", "partial_json"]],
        "assistant/text" => &[&["message", "content", "0", "text"]],
        "assistant/tool_use" => &[&["message", "content", "0", "input"]],
        "result/success" => &[&["result"]],
        "user/tool_result" => &[
            &["message", "content", "0", "content"],
            &["message", "content", "0", "content", "0", "text"],
            &["tool_use_result", "stdout"],
            &["tool_use_result", "file", "content"],
            &["tool_use_result", "0", "text"],
        ],
        _ => &[],
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
