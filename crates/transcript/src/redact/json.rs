//! Redaction of JSON, with keys and neighbouring strings as context.

use std::borrow::Cow;

use memchr::{memchr2, memmem};
use tidings_protocol::json::{Raw, write_string};

use super::find::{PATTERNS, Secret, find, merge};
use super::plausible::{names_a_password, names_a_secret, yaml_value};
use super::{FAMILIES, Redactor};

/// Minimum length of pure base64 strings that count as images or other binary data.
const BLOB_BYTES_MIN: usize = 1024;

/// No pattern matches a shorter text, and most strings of a session are shorter.
const SECRET_BYTES_MIN: usize = 8;

/// Beginning of a PEM block in base64: it is text, however long.
const ENCODED_PEM: &str = "LS0tLS1CRUdJTi";

/// Shortest value of a key such as `password`.
const PASSWORD_BYTES_MIN: usize = 3;

/// Keys whose values link the entries of a session. A known secret in them is a coincidence, and replacing it
/// would take the session apart.
const LINKS: &[&str] = &[
    "id",
    "leafUuid",
    "messageId",
    "parentUuid",
    "promptId",
    "requestId",
    "role",
    "session_id",
    "sessionId",
    "timestamp",
    "tool_use_id",
    "toolUseID",
    "type",
    "uuid",
];

impl Redactor {
    /// A JSON text with the secrets in its strings replaced. Valid JSON stays valid; in a damaged line the
    /// recognisable strings are redacted, and then the whole line as plain text.
    pub fn redact_json<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        if is_clean(json) && self.known.is_absent(json) {
            return Cow::Borrowed(json);
        }
        let mut out = String::new();
        let mut copied = 0;
        each_string(json, |string, text, before| {
            let mut secrets = secrets_in_string(text, before);
            self.remember(text, &secrets, before);
            if before.role != ValueRole::Link && !is_blob(text) {
                self.known.find(text, &mut secrets);
            }
            if let Some(redacted) = self.without(text, merge(secrets)) {
                out.push_str(&json[copied..string.open]);
                write_string(&redacted, &mut out);
                copied = string.after;
            }
        });
        let redacted = if copied == 0 {
            Cow::Borrowed(json)
        } else {
            out.push_str(&json[copied..]);
            Cow::Owned(out)
        };
        if Raw::parse(json).is_ok() { redacted } else { Cow::Owned(self.redact(&redacted).into_owned()) }
    }

    /// Collects the secrets of a JSON text, so that they are replaced in every text from now on.
    pub fn learn_json(&mut self, json: &str) {
        if is_clean(json) {
            return;
        }
        each_string(json, |_, text, before| {
            self.remember(text, &secrets_in_string(text, before), before);
        });
        if Raw::parse(json).is_err() {
            self.learn(json);
        }
    }

    /// The lines of a key in a list have no marks of their own, and may be anything else elsewhere.
    fn remember(&mut self, text: &str, secrets: &[Secret], before: &StringContext) {
        for secret in secrets.iter().filter(|_| !before.in_key_block) {
            self.known.add(text, secret);
        }
    }
}

/// Calls back for every string with its decoded text and its context.
fn each_string(json: &str, mut visit: impl FnMut(&StringAt, &str, &StringContext)) {
    let mut at = 0;
    let mut before = StringContext::default();
    while let Some(string) = next_string(json, at) {
        before.enter(&json[at..string.open]);
        at = string.after;
        let text = decode(&json[string.open..string.after]);
        visit(&string, &text, &before);
        before.pass(&text, json[string.after..].trim_start().starts_with(':'));
    }
}

/// The secrets of a string that its text or its context shows.
fn secrets_in_string(text: &str, before: &StringContext) -> Vec<Secret> {
    if before.in_key_block {
        let line = text.trim_start_matches(['+', '-', ' ']).trim_end();
        if line.len() >= 16 && line.bytes().all(is_base64) {
            return whole("private-key", text).into_iter().collect();
        }
    }
    if let Some(name) = &before.name {
        return secrets_in_value(name, text);
    }
    if is_blob(text) || text.len() < SECRET_BYTES_MIN {
        return Vec::new();
    }
    find(text)
}

/// The secrets of a value with its name: they are two strings here, and joined they match the patterns of the
/// table.
fn secrets_in_value(name: &str, text: &str) -> Vec<Secret> {
    let joined = format!("{name}=\"{text}\"");
    let value = name.len() + 2..joined.len() - 1;
    let is_one_line = !text.contains('\n');
    let mut secrets = find(&joined);
    secrets.retain_mut(|secret| {
        // The name was redacted as a string of its own.
        secret.at.start = secret.at.start.max(value.start) - value.start;
        secret.at.end = secret.at.end.min(value.end).saturating_sub(value.start);
        // The value ends where its string ends, whatever characters it has.
        if secret.at.start == 0 && is_one_line && !secret.at.is_empty() {
            secret.at.end = text.len();
        }
        !secret.at.is_empty()
    });
    let is_password = names_a_password(name)
        && is_one_line
        && text.len() >= PASSWORD_BYTES_MIN
        && !text.contains(char::is_whitespace)
        && yaml_value(text);
    if is_password && secrets.is_empty() {
        secrets.extend(whole("password", text));
    }
    merge(secrets)
}

/// A text that is a secret as a whole.
fn whole(name: &str, text: &str) -> Option<Secret> {
    let family = FAMILIES.iter().position(|family| family.name == name)?;
    Some(Secret { family, at: 0..text.len(), hash: None })
}

/// Returns true if a line cannot contain a secret. Most lines cannot, and one pass over their bytes shows it.
///
/// No hint needs a character that JSON must escape, so only needless escapes can hide one.
fn is_clean(json: &str) -> bool {
    let has_needless =
        ["\\u", "\\/"].iter().any(|escape| memmem::find(json.as_bytes(), escape.as_bytes()).is_some());
    !has_needless && !PATTERNS.hints.is_match(json)
}

/// The use of a value, which its key shows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ValueRole {
    /// It links the entries of a session.
    Link,
    /// It is the name of another value: `{"name":"DB_PASSWORD","value":"…"}`.
    Label,
    #[default]
    Other,
}

impl ValueRole {
    fn of_key(key: &str) -> Self {
        match key {
            "name" | "Name" | "key" | "Key" | "variable" | "header" => ValueRole::Label,
            key if LINKS.contains(&key) => ValueRole::Link,
            _ => ValueRole::Other,
        }
    }
}

/// Context from the preceding strings.
#[derive(Default)]
struct StringContext {
    /// The key, if the last string was one and its name may indicate a secret. It stays for all strings of a
    /// list.
    name: Option<String>,
    /// The use of the value of the last key.
    role: ValueRole,
    /// The name of the value that follows under a key of its own.
    label: Option<String>,
    /// True inside of a list whose key is `name`.
    in_list: bool,
    /// True inside of a private key: lists of lines hold such keys line by line.
    in_key_block: bool,
}

impl StringContext {
    /// Passes the text between two strings.
    fn enter(&mut self, between: &str) {
        let mut signs = between.bytes().filter(|byte| !byte.is_ascii_whitespace());
        let (first, second, third) = (signs.next(), signs.next(), signs.next());
        // A name applies to its own value only, which may be a number.
        match (first, second, third) {
            (Some(b':'), None, _) => self.in_list = false,
            (Some(b':'), Some(b'['), None) => self.in_list = true,
            (Some(b','), None, _) if self.in_list => {}
            _ => (self.name, self.in_list) = (None, false),
        }
        if first != Some(b':') || second.is_some() {
            self.role = ValueRole::Other;
        }
        if between.contains(['{', '}']) {
            self.label = None;
        }
    }

    fn pass(&mut self, text: &str, is_key: bool) {
        if is_key {
            self.name = if matches!(text, "value" | "Value" | "default") {
                self.label.take()
            } else {
                may_name_a_secret(text).then(|| text.to_owned())
            };
            self.role = ValueRole::of_key(text);
            self.in_list = false;
        } else {
            if self.role == ValueRole::Label && may_name_a_secret(text) {
                self.label = Some(text.to_owned());
            }
            self.role = ValueRole::Other;
            if !self.in_list {
                self.name = None;
            }
        }
        if let Some(begin) = text.rfind("PRIVATE KEY") {
            self.in_key_block = text[..begin].rfind("-----BEGIN") > text[..begin].rfind("-----END");
        }
    }
}

/// Returns true if the value of this key is examined together with its name.
fn may_name_a_secret(name: &str) -> bool {
    // A long key is not a name, and one with quotes in it would change the meaning.
    name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-. /:".contains(&byte))
        && names_a_secret(name)
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
    text.len() >= BLOB_BYTES_MIN && !text.starts_with(ENCODED_PEM) && text.bytes().all(is_base64)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte)
}
