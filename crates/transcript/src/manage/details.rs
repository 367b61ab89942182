//! Details of a session from either end of its file.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use memchr::memchr;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::archived;
use super::ends::{EndBuffers, Ends};
use super::fields::Field;
use super::first_prompt::{Search, first_prompt};
use crate::blocks::Buffer;
use crate::limits::{HEAD_BYTES_MAX, SIDECAR_BYTES_MAX};
use crate::reader::{Content, Reader};

/// The details of a session that stand at either end of its file, without reading the part in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionDetails {
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Time of the last write.
    pub modified: SystemTime,
    /// Time of the first entry that has one.
    pub created: Option<Timestamp>,
    /// The user's title, or else the model's.
    pub title: Option<String>,
    /// The last typed prompt.
    pub last_prompt: Option<String>,
    /// The summary of a branch, written by older versions.
    pub summary: Option<String>,
    /// The first typed prompt, cut to 200 characters; or a slash command.
    pub first_prompt: Option<String>,
    /// The folder in which the session began.
    pub cwd: Option<String>,
    /// The last git branch.
    pub git_branch: Option<String>,
    /// The user's tag.
    pub tag: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// Archived state, if it was ever set; a later prompt resets it.
    pub archived: Option<bool>,
    /// True if the first line belongs to a sub-agent.
    pub is_sidechain: bool,
}

impl SessionDetails {
    /// Display name of the session: title, last prompt, summary, or first prompt.
    pub fn name(&self) -> Option<&str> {
        let ranked = [&self.title, &self.last_prompt, &self.summary, &self.first_prompt];
        ranked.into_iter().find_map(Option::as_deref)
    }
}

/// Reads the details of one file after the other in the same memory.
#[derive(Debug)]
pub struct SessionDetailsReader {
    ends: EndBuffers,
    more: Buffer,
    keys: DetailFields,
}

#[derive(Debug)]
struct DetailFields {
    custom_title: Field,
    ai_title: Field,
    last_prompt: Field,
    summary: Field,
    git_branch: Field,
    cwd: Field,
    timestamp: Field,
    tag: Field,
}

impl Default for SessionDetailsReader {
    fn default() -> Self {
        let keys = DetailFields {
            custom_title: Field::new("\"customTitle\""),
            ai_title: Field::new("\"aiTitle\""),
            last_prompt: Field::new("\"lastPrompt\""),
            summary: Field::new("\"summary\""),
            git_branch: Field::new("\"gitBranch\""),
            cwd: Field::new("\"cwd\""),
            timestamp: Field::new("\"timestamp\""),
            tag: Field::new("\"tag\""),
        };
        SessionDetailsReader { ends: EndBuffers::default(), more: Buffer::default(), keys }
    }
}

impl SessionDetailsReader {
    /// Reads the details of a session file; `None` if it is empty.
    pub fn read(&mut self, path: &Path) -> io::Result<Option<SessionDetails>> {
        let SessionDetailsReader { ends, more, keys } = self;
        let Some(mut ends) = ends.read(path)? else { return Ok(None) };
        let mut facts = keys.facts(&ends, path);
        let lacks = facts.first_prompt.is_none() || facts.cwd.is_none() || facts.created.is_none();
        if lacks && ends.goes_on() {
            // One line can be longer than the head: a list of tools, an image.
            read_missing_details(&mut ends, more, &mut facts)?;
        }
        Ok(Some(facts))
    }
}

impl DetailFields {
    fn facts(&self, ends: &Ends<'_>, path: &Path) -> SessionDetails {
        let Ends { head, tail, .. } = *ends;
        let last = |field: &Field| {
            let whole = std::ptr::eq(head, tail);
            filled(field.last(tail)).or_else(|| if whole { None } else { filled(field.last(head)) })
        };
        let title =
            last(&self.custom_title).or_else(|| custom_title_beside(path)).or_else(|| last(&self.ai_title));
        let last_prompt = filled(self.last_prompt.last(tail));
        // A rare key that needs a search through the whole tail: only when it would be shown.
        let summary =
            if title.is_none() && last_prompt.is_none() { filled(self.summary.last(tail)) } else { None };
        let first_line = &head[..memchr(b'\n', head).unwrap_or(head.len())];
        SessionDetails {
            bytes: ends.bytes,
            modified: ends.modified,
            created: self.timestamp.first(head).and_then(|text| text.parse().ok()),
            title,
            last_prompt,
            summary,
            first_prompt: first_prompt(head),
            cwd: filled(self.cwd.first(head)),
            git_branch: filled(self.git_branch.last(tail)).or_else(|| filled(self.git_branch.first(head))),
            tag: self.tag(tail),
            model: model(tail).or_else(|| model(head)),
            archived: archived::read(path).map(|mark| mark.archived && !prompted_after(mark.at, head, tail)),
            is_sidechain: is_set(first_line, "\"isSidechain\""),
        }
    }

    /// The last tag. The key alone also occurs in tool inputs, so the line must be a tag entry.
    fn tag(&self, tail: &[u8]) -> Option<String> {
        let is_tag = |line: &&[u8]| {
            let rest = line.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
            let rest = rest.and_then(|rest| rest.strip_prefix(b"\"type\"")).map(<[u8]>::trim_ascii_start);
            let kind = rest.and_then(|rest| rest.strip_prefix(b":")).map(<[u8]>::trim_ascii_start);
            kind.is_some_and(|kind| kind.starts_with(b"\"tag\""))
        };
        let line = tail.rsplit(|byte| *byte == b'\n').find(is_tag)?;
        filled(self.tag.last(line))
    }
}

/// The model that answered last. Tool inputs contain models too, so the key alone is not enough.
fn model(text: &[u8]) -> Option<String> {
    let answers = text.rsplit(|byte| *byte == b'\n').filter(|line| contains(line, "\"assistant\""));
    answers
        .filter_map(|line| EntryRef::decode(line).ok().filter(|entry| entry.kind() == EntryKind::Assistant))
        .filter_map(|entry| entry.model().map(Into::into))
        .find(|model: &String| model != "<synthetic>")
}

/// Returns true if a prompt was typed after a time.
fn prompted_after(time: Timestamp, head: &[u8], tail: &[u8]) -> bool {
    let typed = |line: &[u8]| {
        let mut search = Search::default();
        let is_prompt = search.line(line).is_some() || search.command.is_some();
        let at = || EntryRef::decode(line).ok()?.timestamp()?.parse::<Timestamp>().ok();
        is_prompt && at().is_some_and(|at| at > time)
    };
    [head, tail].iter().any(|text| text.split(|byte| *byte == b'\n').any(typed))
}

/// Reads details that are missing in the head from the lines after it.
fn read_missing_details(
    ends: &mut Ends<'_>,
    buffer: &mut Buffer,
    facts: &mut SessionDetails,
) -> io::Result<()> {
    ends.file.seek(SeekFrom::Start(0))?;
    let mut reader = Reader::new((&ends.file).take(HEAD_BYTES_MAX), buffer);
    let mut prompt = Search::default();
    while let Some(line) = reader.next()? {
        let Content::Entry(entry) = &line.content else { continue };
        if facts.cwd.is_none() {
            facts.cwd = filled(entry.cwd().map(Into::into));
        }
        if facts.created.is_none() {
            facts.created = entry.timestamp().and_then(|text| text.parse().ok());
        }
        if facts.first_prompt.is_none() {
            facts.first_prompt = prompt.line(line.bytes).or_else(|| {
                let typed = entry.kind() == EntryKind::Human && !entry.is_meta();
                if typed { prompt.entry(entry) } else { None }
            });
        }
        if facts.first_prompt.is_some() && facts.cwd.is_some() && facts.created.is_some() {
            return Ok(());
        }
    }
    facts.first_prompt = facts.first_prompt.take().or(prompt.command);
    Ok(())
}

/// `custom-title.json` in the session's folder: a title that may no longer be in the file's tail.
fn custom_title_beside(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = crate::open::regular(&path.with_extension("").join("custom-title.json")).ok()?;
    file.take(SIDECAR_BYTES_MAX).read_to_string(&mut text).ok()?;
    let title = Raw::parse(&text).ok()?.get("customTitle").and_then(Raw::text).map(Text::get)?;
    filled(Some(title.trim().to_owned()))
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// Returns true if a key, given in quotes, is true somewhere on a line.
pub(super) fn is_set(line: &[u8], key: &str) -> bool {
    memchr::memmem::find_iter(line, key.as_bytes()).any(|at| {
        let value = line[at + key.len()..].trim_ascii_start().strip_prefix(b":");
        value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    })
}

fn contains(line: &[u8], what: &str) -> bool {
    memchr::memmem::find(line, what.as_bytes()).is_some()
}
