//! The response data in one line.

use std::borrow::Cow;

use memchr::memchr;
use tidings_protocol::entry::{EntryKind, EntryRef};
use tidings_protocol::json::{Raw, Text};

use super::key::ResponseKey;
use super::time::Millis;
use super::tokens::Usage;
use super::walk::{self, Members};
use crate::blocks::Buffer;
use crate::reader::{Content, Reader};

/// Every line with usage contains this; text may contain it too, so it only selects lines to read.
pub(super) const MARK: &[u8] = b"\"usage\"";

/// One occurrence of a response.
#[derive(Debug)]
pub(super) struct Sighting<'a> {
    pub(super) key: ResponseKey,
    pub(super) claim: Claim,
    pub(super) session: Cow<'a, str>,
    pub(super) cwd: Cow<'a, str>,
    pub(super) model: Cow<'a, str>,
    pub(super) usage: Usage,
}

/// The rank of a line's claim to determine the time and session of a response; the smallest wins.
///
/// Lines of the conversation come before those of sub-agents, which repeat them in side questions, and both
/// before progress. Copies come after their originals. Then the earliest counts, and a known time before an
/// unknown one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) source: SightingSource,
    pub(super) copied: bool,
    pub(super) time: Millis,
}

/// The kind of line that reports a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SightingSource {
    Conversation,
    SubAgent,
    Progress,
}

/// Reads response data from lines.
#[derive(Debug, Default)]
pub(super) struct UsageReader {
    /// For damaged lines.
    spare: Buffer,
    /// The last usage as bytes and parsed: lines of one response mostly repeat it.
    last: (Vec<u8>, Usage),
}

impl UsageReader {
    /// Calls `see` for every response in a line, including those in whole entries of a damaged line.
    pub(super) fn read(&mut self, line: &[u8], mut see: impl FnMut(Sighting<'_>)) {
        match walk::line(line).ok_or(Irregular).and_then(|members| self.read_quickly(line, &members)) {
            Ok(sighting) => sighting.into_iter().for_each(see),
            Err(Irregular) => self.read_fully(line, &mut see),
        }
    }

    /// The result of a quick walk: a response, or none.
    fn read_quickly<'a>(
        &mut self,
        line: &'a [u8],
        members: &Members<'a>,
    ) -> Result<Option<Sighting<'a>>, Irregular> {
        if members.kind != Some(b"\"assistant\"") {
            // Only progress lines report responses too, and a type may be written with escapes.
            let plain = |kind: &[u8]| memchr(b'\\', kind).is_none() && kind != b"\"progress\"";
            return if members.kind.is_some_and(plain) { Ok(None) } else { Err(Irregular) };
        }
        let usage = members.usage.filter(|usage| members.message && usage.starts_with(b"{"));
        let (Some(usage), model) = (usage, text(members.model)?) else { return Ok(None) };
        if model == "<synthetic>" || members.api_error == Some(b"true") {
            return Ok(None);
        }
        let is_set = |value: Option<&[u8]>| value.is_some_and(|value| value != b"null");
        let source = if members.sidechain == Some(b"true") {
            SightingSource::SubAgent
        } else {
            SightingSource::Conversation
        };
        let key = match (&*text(members.id)?, &*text(members.uuid)?) {
            ("", "") => ResponseKey::of_line(line.trim_ascii()),
            ("", uuid) => ResponseKey::of_uuid(uuid),
            (id, _) => ResponseKey::of_message(id),
        };
        let session = match text(members.session)? {
            session if session.is_empty() => text(members.session_snake)?,
            session => session,
        };
        let time = match members.timestamp {
            // A number is written without quotes.
            Some(number) if !number.starts_with(b"\"") => {
                std::str::from_utf8(number).or(Err(Irregular))?.into()
            }
            written => text(written)?,
        };
        Ok(Some(Sighting {
            key,
            claim: Claim { source, copied: is_set(members.forked_from), time: Millis::read(Some(time)) },
            session,
            cwd: text(members.cwd)?,
            model,
            usage: Usage { ended: is_set(members.stop_reason), ..self.usage(usage)? },
        }))
    }

    fn usage(&mut self, written: &[u8]) -> Result<Usage, Irregular> {
        if self.last.0 != written {
            let text = std::str::from_utf8(written).or(Err(Irregular))?;
            self.last.1 = Usage::read(Raw::parse(text).or(Err(Irregular))?);
            self.last.0.clear();
            self.last.0.extend_from_slice(written);
        }
        Ok(self.last.1)
    }

    /// The slow path, for lines that are damaged or unusual.
    #[cold]
    fn read_fully(&mut self, line: &[u8], see: &mut dyn FnMut(Sighting<'_>)) {
        let mut reader = Reader::new(line, &mut self.spare);
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
}

/// The line is not regular: it needs the full check.
#[derive(Debug)]
struct Irregular;

/// The text of a value; empty if it is missing or not a string.
fn text(value: Option<&[u8]>) -> Result<Cow<'_, str>, Irregular> {
    let Some(value) = value.filter(|value| value.starts_with(b"\"")) else { return Ok(Cow::Borrowed("")) };
    let value = std::str::from_utf8(value).or(Err(Irregular))?;
    if memchr(b'\\', value.as_bytes()).is_some() {
        return Raw::parse(value).ok().and_then(Raw::text).map(Text::get).ok_or(Irregular);
    }
    value.get(1..value.len() - 1).map(Cow::Borrowed).ok_or(Irregular)
}

fn sighting<'a>(entry: &EntryRef<'a>) -> Option<Sighting<'a>> {
    match entry.kind() {
        EntryKind::Assistant => {
            let said = entry.message_view();
            let source =
                if entry.is_sidechain() { SightingSource::SubAgent } else { SightingSource::Conversation };
            let ended = said.stop_reason.is_some_and(|reason| !reason.is_null());
            let usage = Usage { ended, ..usage(said.usage?)? };
            response(entry, said.message_id, said.model, usage, source)
        }
        EntryKind::Progress => {
            let message = entry.get("data")?.get("message")?;
            // Either the API's message, or a whole entry around it.
            let message = message.get("message").filter(|inner| inner.is_object()).unwrap_or(message);
            let text = |key| message.get(key).and_then(Raw::text);
            response(
                entry,
                text("id"),
                text("model"),
                usage(message.get("usage")?)?,
                SightingSource::Progress,
            )
        }
        _ => None,
    }
}

fn response<'a>(
    entry: &EntryRef<'a>,
    id: Option<Text<'a>>,
    model: Option<Text<'a>>,
    usage: Usage,
    source: SightingSource,
) -> Option<Sighting<'a>> {
    let model = model.map(Text::get).unwrap_or_default();
    let api_error = entry.get("isApiErrorMessage").and_then(Raw::bool) == Some(true);
    if model == "<synthetic>" || api_error {
        return None;
    }
    let copied = entry.get("forkedFrom").is_some_and(|from| !from.is_null());
    let snake = || entry.get("session_id")?.text().map(Text::get);
    Some(Sighting {
        key: ResponseKey::of(id.map(Text::get).as_deref(), entry),
        claim: Claim { source, copied, time: Millis::read(entry.timestamp()) },
        session: entry.session_id().filter(|id| !id.is_empty()).or_else(snake).unwrap_or_default(),
        cwd: entry.cwd().unwrap_or_default(),
        model,
        usage,
    })
}

fn usage(usage: Raw<'_>) -> Option<Usage> {
    usage.is_object().then(|| Usage::read(usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to read a line give the same result.
    #[test]
    fn a_walk_sees_what_a_check_sees() {
        let long = "x".repeat(300);
        let usage = r#"{"input_tokens":5,"output_tokens":7,"speed":"fast"}"#;
        let more = [
            "",
            r#","uuid":"u1""#,
            r#","timestamp":"2026-11-14T10:00:00.000Z","sessionId":"s","cwd":"/x""#,
            r#","timestamp":1794648600000,"session_id":"s2","cwd":"C:\\git\\é""#,
            r#","timestamp":null,"sessionId":"","session_id":"s3","cwd":7"#,
            r#","isSidechain":true,"forkedFrom":{"sessionId":"o"}"#,
            r#","forkedFrom":null,"isApiErrorMessage":false,"isSidechain":false"#,
            r#","isApiErrorMessage":true"#,
            r#","message":{"id":"second","usage":{"input_tokens":1}}"#,
            r#","message":"text""#,
            r#","type":"user""#,
            r#","type":"progress","data":{"message":{"id":"p","usage":{"input_tokens":3}}}"#,
            r#","type":"assist\u0061nt""#,
        ];
        let messages = [
            format!(r#"{{"id":"m1","model":"claude-opus-4-5","stop_reason":"end_turn","usage":{usage}}}"#),
            format!(r#"{{"content":[{{"text":"{long}\\\"usage\":"}}],"usage":{usage},"stop_reason":null}}"#),
            format!(r#"{{"id":"","model":"<synthetic>","usage":{usage}}}"#),
            format!(r#"{{"id":"m\n2","model":7,"usage":{usage}}}"#),
            r#"{"id":"m3","usage":null}"#.to_owned(),
            r#"{"id":"m4","usage":[]}"#.to_owned(),
            "null".to_owned(),
        ];
        for more in more {
            for message in &messages {
                let line = format!(r#"{{"type":"assistant","message":{message}{more}}}"#);
                let (mut walked, mut checked) = (Vec::new(), Vec::new());
                let mut eyes = UsageReader::default();
                eyes.read(line.as_bytes(), |seen| walked.push(format!("{seen:?}")));
                eyes.read_fully(line.as_bytes(), &mut |seen| checked.push(format!("{seen:?}")));
                assert_eq!(walked, checked, "{line}");
            }
        }
    }
}
