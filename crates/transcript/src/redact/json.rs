use std::borrow::Cow;

use memchr::{memchr2, memmem};
use tidings_protocol::json::{Raw, write_string};

use super::{FAMILIES, PATTERNS, Redactor, find};

/// Strings of this length and more that hold nothing but base64 are pictures or other binary data.
const BLOB_BYTES_MIN: usize = 1024;

/// No pattern fits a shorter text, and most strings of a session are shorter.
const SECRET_BYTES_MIN: usize = 8;

impl Redactor {
    /// A JSON text without the secrets in its strings. What was valid JSON stays valid JSON; a damaged line is gone
    /// through as far as its strings can be made out, and then once more as plain text.
    pub fn redact_json<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        if is_clean(json) {
            return Cow::Borrowed(json);
        }
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        let mut before = Before::default();
        while let Some(string) = next_string(json, at) {
            // A name speaks of its own value only, which may be a number.
            if json[at..string.open].trim() != ":" {
                before.name = None;
            }
            at = string.after;
            let text = decode(&json[string.open..string.after]);
            let is_key = json[string.after..].trim_start().starts_with(':');
            if let Some(redacted) = self.redact_string(&text, &before) {
                out.push_str(&json[copied..string.open]);
                write_string(&redacted, &mut out);
                copied = string.after;
            }
            before.pass(&text, is_key);
        }
        let redacted = if copied == 0 {
            Cow::Borrowed(json)
        } else {
            out.push_str(&json[copied..]);
            Cow::Owned(out)
        };
        if Raw::parse(json).is_ok() { redacted } else { Cow::Owned(self.redact(&redacted).into_owned()) }
    }

    /// The string without its secrets, if it has any.
    fn redact_string(&mut self, text: &str, before: &Before) -> Option<String> {
        if is_blob(text) || (text.len() < SECRET_BYTES_MIN && before.name.is_none()) {
            return None;
        }
        if before.in_key_block {
            let line = text.trim_start_matches(['+', '-', ' ']).trim_end();
            if line.len() >= 16 && line.bytes().all(is_base64) {
                return Some(self.replaced("private-key", text));
            }
        }
        if let Some(name) = &before.name {
            return self.redact_value(name, text);
        }
        self.without(text, find(text))
    }

    /// A name and its value are two strings here; joined they read as the table expects them.
    fn redact_value(&mut self, name: &str, text: &str) -> Option<String> {
        let joined = format!("{name}=\"{text}\"");
        let value = name.len() + 2..joined.len() - 1;
        let mut secrets = find(&joined);
        secrets.retain_mut(|secret| {
            // The name was a string of its own and has been gone through.
            secret.at.start = secret.at.start.max(value.start);
            secret.at.end = secret.at.end.min(value.end);
            !secret.at.is_empty()
        });
        let redacted = self.without(&joined, secrets)?;
        Some(redacted[value.start..redacted.len() - 1].to_owned())
    }

    fn replaced(&mut self, name: &str, text: &str) -> String {
        let mut out = String::new();
        if let Some(family) = FAMILIES.iter().position(|family| family.name == name) {
            self.replace(family, text, &mut out);
        }
        out
    }
}

/// Whether nothing in a line can be a secret. Most lines are such, and one pass over their bytes tells.
///
/// No hint needs a character that JSON must escape, so that what is hidden by escapes is hidden by needless ones.
fn is_clean(json: &str) -> bool {
    let has_needless =
        ["\\u", "\\/"].iter().any(|escape| memmem::find(json.as_bytes(), escape.as_bytes()).is_some());
    !has_needless && !PATTERNS.hints.is_match(json)
}

/// What the strings before tell about the next one.
#[derive(Default)]
struct Before {
    /// The key, if the last string was one and its name may matter.
    name: Option<String>,
    /// A private key has begun and not ended: lists of lines hold such keys line by line.
    in_key_block: bool,
}

impl Before {
    fn pass(&mut self, text: &str, is_key: bool) {
        self.name = (is_key && names_a_secret(text)).then(|| text.to_owned());
        if let Some(begin) = text.rfind("PRIVATE KEY") {
            self.in_key_block = text[..begin].rfind("-----BEGIN") > text[..begin].rfind("-----END");
        }
    }
}

/// Whether the value of this key is worth a look together with its name.
fn names_a_secret(name: &str) -> bool {
    const PARTS: &[&str] = &["pass", "pwd", "secret", "token", "key", "auth", "credential"];
    // A long key is no name of anything, and one with quotes in it would read as something else.
    let plain =
        name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte));
    let lower = name.to_ascii_lowercase();
    plain && PARTS.iter().any(|part| lower.contains(part))
}

struct StringAt {
    open: usize,
    after: usize,
}

/// The next string from `at` on, with its quotes. One that does not end is no string.
fn next_string(json: &str, at: usize) -> Option<StringAt> {
    let bytes = json.as_bytes();
    let open = at + memchr::memchr(b'"', &bytes[at..])?;
    let mut from = open + 1;
    loop {
        let found = from + memchr2(b'"', b'\\', bytes.get(from..)?)?;
        if bytes[found] == b'"' {
            return Some(StringAt { open, after: found + 1 });
        }
        from = found + 2;
    }
}

fn decode(string: &str) -> Cow<'_, str> {
    let inner = &string[1..string.len() - 1];
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    match Raw::parse(string).ok().and_then(Raw::text) {
        Some(text) => text.get(),
        None => Cow::Borrowed(inner),
    }
}

fn is_blob(text: &str) -> bool {
    text.len() >= BLOB_BYTES_MIN && text.bytes().all(is_base64)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte)
}
