//! Transcripts of a store as files.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidings_protocol::json::{Json, Raw};

use crate::error::{Error, ErrorKind};

/// The type of an entry that stands for the file of facts beside a sub-agent's transcript.
pub(super) const AGENT_METADATA: &str = "agent_metadata";

/// Runs file operations on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|source| {
        Error::new(ErrorKind::Storage, "The operation on session files was aborted", "").caused_by(source)
    })?
}

/// Options of a file that only the user can read.
pub(super) fn open_private() -> OpenOptions {
    let mut open = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    open
}

/// Writes a private file.
pub(super) fn write_private(path: &Path, contents: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    open_private().write(true).create(true).truncate(true).open(path)?.write_all(contents)
}

/// Writes entries as lines.
pub(super) fn write_entries(out: &mut impl Write, entries: &[Json]) -> io::Result<()> {
    entries.iter().try_for_each(|entry| writeln!(out, "{}", line_of(entry)))
}

/// An entry as one line. Stores may add line ends and change the order of keys; the readers of session files
/// know notes without a `uuid` by their first key.
fn line_of(entry: &Json) -> String {
    let raw = entry.raw();
    let text = raw.as_str();
    let first = raw.members().next().map(|(key, _)| key.get());
    let kind =
        raw.get("type").filter(|_| first.is_some_and(|key| key != "type") && raw.get("uuid").is_none());
    let line = kind.map_or_else(|| text.to_owned(), |kind| with_type(Some(kind.as_str()), raw));
    // Within a string they are escaped.
    line.replace(['\n', '\r'], " ")
}

/// An object with another type as its first key, or with none.
pub(super) fn with_type(kind: Option<&str>, object: Raw<'_>) -> String {
    let mut text = "{".to_owned();
    if let Some(kind) = kind {
        text.push_str("\"type\":");
        text.push_str(kind);
    }
    for (key, value) in object.members().filter(|(key, _)| key.get() != "type") {
        text.push_str(if text.len() > 1 { ",\"" } else { "\"" });
        text.push_str(key.escaped());
        text.push_str("\":");
        text.push_str(value.as_str());
    }
    text.push('}');
    text
}

/// The entries of a file. Damaged lines are left out, as Claude Code leaves them out.
pub(super) fn entries_of(bytes: &[u8]) -> Vec<Json> {
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.filter(|line| !line.trim().is_empty()).filter_map(|line| Json::parse(line.trim()).ok()).collect()
}

/// The transcripts below the folder of a session, by their subpaths, in the order of the names.
pub(super) fn transcripts_below(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut left = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = left.pop() {
        let Ok(files) = std::fs::read_dir(folder) else { continue };
        for file in files.flatten() {
            let Ok(name) = file.file_name().into_string() else { continue };
            let Ok(kind) = file.file_type() else { continue };
            if kind.is_dir() {
                left.push((format!("{prefix}{name}/"), file.path()));
            } else if let Some(name) = name.strip_suffix(".jsonl").filter(|_| kind.is_file()) {
                found.push((format!("{prefix}{name}"), file.path()));
            }
        }
    }
    found.sort();
    found
}

/// Writes the transcript of a sub-agent, and its facts beside it.
pub(super) fn write_subagent(file: &Path, entries: &[Json]) -> io::Result<()> {
    let is_metadata = |entry: &&Json| {
        entry.raw().get("type").and_then(Raw::text).is_some_and(|kind| kind.get() == AGENT_METADATA)
    };
    let transcript: Vec<Json> = entries.iter().filter(|entry| !is_metadata(entry)).cloned().collect();
    if !transcript.is_empty() {
        write_transcript(file, &transcript)?;
    }
    // The last one counts.
    if let Some(metadata) = entries.iter().rfind(is_metadata) {
        let facts = with_type(None, metadata.raw());
        write_private(&file.with_extension("meta.json"), facts.as_bytes())?;
    }
    Ok(())
}

/// Writes a transcript.
pub(super) fn write_transcript(file: &Path, entries: &[Json]) -> io::Result<()> {
    let mut lines = Vec::new();
    write_entries(&mut lines, entries)?;
    write_private(file, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        line_of(&Json::parse(text).unwrap())
    }

    #[test]
    fn an_entry_is_one_line_and_a_note_begins_with_its_type() {
        assert_eq!(
            line(r#"{"parentUuid":null,"type":"user","uuid":"a"}"#),
            r#"{"parentUuid":null,"type":"user","uuid":"a"}"#
        );
        assert_eq!(line("{\n \"tag\": \"x\\n\",\n \"type\": \"tag\"}"), r#"{"type":"tag","tag":"x\n"}"#);
        assert_eq!(line("{\"type\":\"tag\",\n\"tag\":\"\"}"), r#"{"type":"tag", "tag":""}"#);
    }
}
