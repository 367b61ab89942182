//! What one line tells about an API response.

use std::borrow::Cow;

use memchr::memmem;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::key::Key;
use super::time::Millis;
use super::tokens::Usage;
use crate::blocks::Buffer;
use crate::reader::{Content, Reader};

/// Every line with usage holds this; text can hold it too, so that it only makes a line worth reading.
pub(super) const MARK: &[u8] = b"\"usage\"";

/// One sighting of a response.
#[derive(Debug)]
pub(super) struct Sighting<'a> {
    pub(super) key: Key,
    pub(super) claim: Claim,
    pub(super) session: Cow<'a, str>,
    pub(super) cwd: Cow<'a, str>,
    pub(super) model: Cow<'a, str>,
    pub(super) usage: Usage,
}

/// How good a claim a line has to say when and in which session a response was made; the least is the best.
///
/// Lines of the conversation come before those of sub-agents, which repeat them in side questions, and both before
/// progress. Then copies come after what they were made from. Then the earliest counts, and a known time before none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) teller: Teller,
    pub(super) copied: bool,
    pub(super) time: Millis,
}

/// Who tells of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Teller {
    Conversation,
    SubAgent,
    Progress,
}

/// Shows `see` every response in a line; whole entries in a damaged line count too.
pub(super) fn read(line: &[u8], spare: &mut Buffer, mut see: impl FnMut(Sighting<'_>)) {
    match EntryRef::decode(line) {
        Ok(entry) => sighting(&entry).into_iter().for_each(see),
        Err(_) => salvaged(line, spare, &mut see),
    }
}

#[cold]
fn salvaged(line: &[u8], spare: &mut Buffer, see: &mut dyn FnMut(Sighting<'_>)) {
    let mut reader = Reader::new(line, spare);
    // Reading from memory does not fail.
    while let Ok(Some(line)) = reader.next() {
        match &line.content {
            Content::Entry(entry) => sighting(entry).into_iter().for_each(&mut *see),
            Content::Damaged(damage) => {
                for saved in &damage.salvaged {
                    sighting(&saved.entry.as_ref()).into_iter().for_each(&mut *see);
                }
            }
            Content::Blank => {}
        }
    }
}

fn sighting<'a>(entry: &EntryRef<'a>) -> Option<Sighting<'a>> {
    match entry.kind() {
        EntryKind::Assistant => {
            let said = entry.said();
            let teller = if entry.is_sidechain() { Teller::SubAgent } else { Teller::Conversation };
            let ended = said.stop_reason.is_some_and(|reason| !reason.is_null());
            let usage = Usage { ended, ..usage(said.usage?)? };
            response(entry, said.message_id, said.model, usage, teller)
        }
        EntryKind::Progress => {
            let message = entry.get("data")?.get("message")?;
            // Either the message of the API or a whole entry around it.
            let message = message.get("message").filter(|inner| inner.is_object()).unwrap_or(message);
            let text = |key| message.get(key).and_then(Raw::text);
            response(entry, text("id"), text("model"), usage(message.get("usage")?)?, Teller::Progress)
        }
        _ => None,
    }
}

fn response<'a>(
    entry: &EntryRef<'a>,
    id: Option<Text<'a>>,
    model: Option<Text<'a>>,
    usage: Usage,
    teller: Teller,
) -> Option<Sighting<'a>> {
    let model = model.map(Text::get).unwrap_or_default();
    if model == "<synthetic>" || is_set(entry, "isApiErrorMessage") {
        return None;
    }
    let claim = Claim { teller, copied: has(entry, "forkedFrom"), time: Millis::read(entry.timestamp()) };
    Some(Sighting {
        key: Key::of(id.map(Text::get).as_deref(), entry),
        claim,
        session: entry.session_id().or_else(|| text(entry, "session_id")).unwrap_or_default(),
        cwd: entry.cwd().unwrap_or_default(),
        model,
        usage,
    })
}

fn usage(usage: Raw<'_>) -> Option<Usage> {
    usage.is_object().then(|| Usage::read(usage))
}

fn text<'a>(entry: &EntryRef<'a>, key: &str) -> Option<Cow<'a, str>> {
    entry.get(key)?.text().map(Text::get)
}

fn is_set(entry: &EntryRef<'_>, key: &str) -> bool {
    has(entry, key) && entry.get(key).and_then(Raw::bool) == Some(true)
}

/// Whether the entry has a key that few have: looking for its bytes is cheaper than walking through all keys.
fn has(entry: &EntryRef<'_>, key: &str) -> bool {
    memmem::find(entry.raw(), key.as_bytes()).is_some()
        && entry.get(key).is_some_and(|value| !value.is_null())
}
