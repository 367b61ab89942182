use std::borrow::Cow;

use memchr::{memchr2, memmem};
use tidings_protocol::json::{Raw, write_string};

use super::{FAMILIES, PATTERNS, Redactor, find};

/// Minimum length of pure base64 strings that count as images or other binary data.
const BLOB_BYTES_MIN: usize = 1024;

/// No pattern matches a shorter text, and most strings of a session are shorter.
const SECRET_BYTES_MIN: usize = 8;

impl Redactor {
    /// A JSON text with the secrets in its strings replaced. Valid JSON stays valid; in a damaged line the
    /// recognisable strings are redacted, and then the whole line as plain text.
    pub fn redact_json<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        if is_clean(json) {
            return Cow::Borrowed(json);
        }
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        let mut before = StringContext::default();
        while let Some(string) = next_string(json, at) {
            // A name applies to its own value only, which may be a number.
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

    /// The string with its secrets replaced, if it has any.
    fn redact_string(&mut self, text: &str, before: &StringContext) -> Option<String> {
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

    /// Redacts a value with its name: they are two strings here, and joined they match the patterns of the
    /// table.
    fn redact_value(&mut self, name: &str, text: &str) -> Option<String> {
        let joined = format!("{name}=\"{text}\"");
        let value = name.len() + 2..joined.len() - 1;
        let mut secrets = find(&joined);
        secrets.retain_mut(|secret| {
            // The name was redacted as a string of its own.
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

/// Returns true if a line cannot contain a secret. Most lines cannot, and one pass over their bytes shows it.
///
/// No hint needs a character that JSON must escape, so only needless escapes can hide one.
fn is_clean(json: &str) -> bool {
    let has_needless =
        ["\\u", "\\/"].iter().any(|escape| memmem::find(json.as_bytes(), escape.as_bytes()).is_some());
    !has_needless && !PATTERNS.hints.is_match(json)
}

/// Context from the preceding strings.
#[derive(Default)]
struct StringContext {
    /// The key, if the last string was one and its name may indicate a secret.
    name: Option<String>,
    /// True inside of a private key: lists of lines hold such keys line by line.
    in_key_block: bool,
}

impl StringContext {
    fn pass(&mut self, text: &str, is_key: bool) {
        self.name = (is_key && names_a_secret(text)).then(|| text.to_owned());
        if let Some(begin) = text.rfind("PRIVATE KEY") {
            self.in_key_block = text[..begin].rfind("-----BEGIN") > text[..begin].rfind("-----END");
        }
    }
}

/// Returns true if the value of this key is examined together with its name.
fn names_a_secret(name: &str) -> bool {
    const PARTS: &[&str] = &["pass", "pwd", "secret", "token", "key", "auth", "credential"];
    // A long key is not a name, and one with quotes in it would change the meaning.
    let plain =
        name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte));
    let lower = name.to_ascii_lowercase();
    plain && PARTS.iter().any(|part| lower.contains(part))
}

struct StringAt {
    open: usize,
    after: usize,
}

/// The next string from `at` on, with its quotes; an unterminated one does not count.
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
