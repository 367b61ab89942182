//! A recorded frame with placeholders.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::random::Random;

/// A recorded frame whose ids and some texts are replaced each time.
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

enum Piece {
    Literal(String),
    Session,
    Message,
    Tool,
    Uuid,
    /// The n-th of the given texts.
    Text(usize),
}

/// Ids shared by frames.
pub(crate) struct Ids {
    pub(crate) session: String,
    pub(crate) message: String,
    pub(crate) tool: String,
}

impl Ids {
    pub(crate) fn new(random: &mut Random) -> Self {
        let mut ids = Ids { session: uuid(random), message: String::new(), tool: String::new() };
        ids.next_message(random);
        ids
    }

    /// Starts the next answer of the model: a new message with a new call.
    pub(crate) fn next_message(&mut self, random: &mut Random) {
        self.message = format!("msg_01{}", token(random));
        self.tool = format!("toolu_01{}", token(random));
    }
}

impl Template {
    /// Makes placeholders at those paths that the line has, numbered in the given order.
    pub(crate) fn new(line: &str, paths: &[&[&str]]) -> Self {
        let session = find(line, &["session_id"]).map_or("", |span| line[span].trim_matches('"'));
        let mut holes: Vec<(Range<usize>, usize)> =
            paths.iter().enumerate().filter_map(|(index, path)| Some((find(line, path)?, index))).collect();
        holes.sort_by_key(|(span, _)| span.start);
        let mut template = Template { pieces: Vec::new() };
        let mut at = 0;
        for (span, index) in holes {
            template.literal(&line[at..span.start], session);
            template.pieces.push(Piece::Text(index));
            at = span.end;
        }
        template.literal(&line[at..], session);
        template
    }

    /// Appends a frame and its line end. `texts` are already JSON.
    pub(crate) fn fill(&self, out: &mut String, random: &mut Random, ids: &Ids, texts: &[&str]) {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Session => out.push_str(&ids.session),
                Piece::Message => out.push_str(&ids.message),
                Piece::Tool => out.push_str(&ids.tool),
                Piece::Uuid => out.push_str(&uuid(random)),
                Piece::Text(index) => out.push_str(texts.get(*index).or(texts.last()).unwrap_or(&"\"\"")),
            }
        }
        out.push('\n');
    }

    /// Adds text in which only ids change.
    fn literal(&mut self, text: &str, session: &str) {
        let (mut plain_from, mut at) = (0, 0);
        while at < text.len() {
            let Some((length, piece)) = text.get(at..).and_then(|rest| id(rest, session)) else {
                at += 1;
                continue;
            };
            self.pieces.push(Piece::Literal(text[plain_from..at].to_owned()));
            self.pieces.push(piece);
            at += length;
            plain_from = at;
        }
        self.pieces.push(Piece::Literal(text[plain_from..].to_owned()));
    }
}

/// Range of the value at `path` in the line; a number steps into a list.
///
/// Uses `serde_json`, so that the measured code does not produce its own input.
fn find(line: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut text = line;
    for step in path {
        let next: &RawValue = match step.parse::<usize>() {
            Ok(index) => serde_json::from_str::<Vec<&RawValue>>(text).ok()?.get(index)?,
            Err(_) => serde_json::from_str::<BTreeMap<String, &RawValue>>(text).ok()?.get(*step)?,
        };
        text = next.get();
    }
    // Only strings and objects can be replaced; `null` stays `null`.
    matches!(text.as_bytes().first(), Some(b'"' | b'{')).then_some(())?;
    let start = text.as_ptr().addr() - line.as_ptr().addr();
    Some(start..start + text.len())
}

/// The id at the start of `text`.
fn id(text: &str, session: &str) -> Option<(usize, Piece)> {
    const UUID: usize = 36;
    if !session.is_empty() && text.starts_with(session) {
        return Some((session.len(), Piece::Session));
    }
    for (prefix, piece) in [("msg_01", Piece::Message), ("toolu_01", Piece::Tool)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            return Some((prefix.len() + length, piece));
        }
    }
    let is_uuid = text.len() >= UUID
        && text.bytes().take(UUID).enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_uuid.then_some((UUID, Piece::Uuid))
}

/// Name for statistics of frames of this shape; `None` if `serde_json` cannot read the line.
pub(crate) fn kind(line: &str) -> Option<String> {
    let frame: Value = serde_json::from_str(line).ok()?;
    let text = |pointer: &str| frame.pointer(pointer).and_then(Value::as_str);
    let name = text("/type")?;
    let detail = match name {
        "stream_event" => {
            let inner = text("/event/delta/type").or(text("/event/content_block/type"));
            let event = text("/event/type").unwrap_or_default();
            inner.map_or(event.to_owned(), |inner| format!("{event}/{inner}"))
        }
        "assistant" | "user" => text("/message/content/0/type").unwrap_or("plain").to_owned(),
        _ => {
            let subtype = text("/subtype").or(text("/request/subtype")).or(text("/response/subtype"));
            subtype.unwrap_or_default().to_owned()
        }
    };
    Some(if detail.is_empty() { name.to_owned() } else { format!("{name}/{detail}") })
}

fn uuid(random: &mut Random) -> String {
    let digits = format!("{:016x}{:016x}", random.word(), random.word());
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    parts.join("-")
}

/// Random part of an API id.
fn token(random: &mut Random) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789";
    (0..22).map(|_| char::from(*random.pick(LETTERS))).collect()
}
