//! The audit log of decisions: changed, removed and inserted lines are detected.

use jiff::Timestamp;
use ring::hmac;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tidings_base::hex::hex;

use super::{ErrorKind, JournalError};

/// A decision to log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditDraft {
    /// Time of the decision.
    pub at: Timestamp,
    /// Author of the decision: a user, a rule or a grant.
    pub who: String,
    /// The device.
    pub device: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The ask.
    pub ask: Option<String>,
    /// The decision.
    pub decision: String,
    /// The rule that decided; or the rules that a user added with the decision.
    pub rule: Option<String>,
    /// Reach of the decision: `once`, `session` or `always`.
    pub scope: Option<String>,
    /// The digest of the request.
    pub digest: Option<String>,
    /// The digest of the input that runs in its place, if a user changed it.
    pub changed: Option<String>,
    /// Time that the ask had waited.
    pub latency_ms: Option<u64>,
}

/// A line of the log. An export is these, as JSON, one per line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its number; the first is 1.
    pub number: u64,
    /// Time of the decision, in microseconds since 1970.
    pub at_us: i64,
    /// Author of the decision.
    pub who: String,
    /// The device.
    pub device: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The ask.
    pub ask: Option<String>,
    /// The decision.
    pub decision: String,
    /// The rule that decided, or the rules that were added.
    pub rule: Option<String>,
    /// Reach of the decision. Lines of earlier versions do not have it.
    pub scope: Option<String>,
    /// The digest of the request.
    pub digest: Option<String>,
    /// The digest of the input that runs in its place.
    pub changed: Option<String>,
    /// Time that the ask had waited.
    pub latency_ms: Option<u64>,
    /// SHA-256 over the line before and everything above, in hexadecimal; then, if the log has a key, a dot
    /// and the HMAC-SHA-256 of that.
    pub hash: String,
}

/// The key of an audit log. It exposes a log that was rewritten and hashed anew without the key.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditKey {
    key: [u8; 32],
    /// The first line that must be sealed. Lines before it were written by earlier versions.
    from: u64,
}

/// First line of a key file.
const KEY_HEAD: &str = "tidings audit key, version 1";

impl AuditKey {
    /// A key for the lines from this number on.
    pub fn new(key: [u8; 32], from: u64) -> Self {
        AuditKey { key, from }
    }

    /// Parses a key file; none if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != KEY_HEAD {
            return None;
        }
        let digits = lines.next()?.as_bytes();
        let mut key = [0; 32];
        if digits.len() != 2 * key.len() {
            return None;
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        let from = lines.next()?.strip_prefix("from line ")?.parse().ok()?;
        Some(AuditKey { key, from })
    }

    /// The contents of the key file.
    pub fn text(&self) -> String {
        format!("{KEY_HEAD}\n{}\nfrom line {}\n", hex(&self.key), self.from)
    }

    /// The number of the first line that must be sealed.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// A hash with its seal.
    pub(crate) fn sealed(&self, hash: &str) -> String {
        format!("{hash}.{}", self.seal(hash))
    }

    fn seal(&self, hash: &str) -> String {
        hex(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.key), hash.as_bytes()).as_ref())
    }

    /// True if the line is sealed with this key, or comes before the first that must be.
    fn accepts(&self, entry: &AuditEntry) -> bool {
        let (hash, seal) = entry.hash_and_seal();
        let expected = self.seal(hash);
        match seal {
            Some(seal) => bool::from(seal.as_bytes().ct_eq(expected.as_bytes())),
            None => entry.number < self.from,
        }
    }
}

/// The key is not shown.
impl std::fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditKey").field("from", &self.from).finish_non_exhaustive()
    }
}

/// The hash before the first line.
pub const AUDIT_START: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A line that does not follow from the one before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Line {line} of the audit log does not follow from the one before it")]
pub struct Broken {
    /// The line among those given, from 1.
    pub line: u64,
}

/// Checks that entries follow from each other, and returns the number and hash of the last.
///
/// `before` is the number and hash that the first of them follows: `(0, AUDIT_START)` for a whole log. A log
/// that was truncated is a valid shorter log, so store the last hash elsewhere and compare.
pub fn verify_audit<'a>(
    before: (u64, &str),
    entries: impl IntoIterator<Item = &'a AuditEntry>,
) -> Result<(u64, String), Broken> {
    let (mut number, mut hash) = (before.0, before.1.to_owned());
    for (entry, line) in entries.into_iter().zip(1..) {
        let follows =
            number.checked_add(1) == Some(entry.number) && entry.hash_and_seal().0 == entry.hashed(&hash);
        if !follows {
            return Err(Broken { line });
        }
        number = entry.number;
        hash.clone_from(&entry.hash);
    }
    Ok((number, hash))
}

/// Like [`verify_audit`], and also checks that each line is sealed from the first line of the key on.
pub fn verify_sealed_audit<'a>(
    before: (u64, &str),
    entries: impl IntoIterator<Item = &'a AuditEntry>,
    key: &AuditKey,
) -> Result<(u64, String), Broken> {
    let mut last = (before.0, before.1.to_owned());
    for (entry, line) in entries.into_iter().zip(1..) {
        last = verify_audit((last.0, &last.1), [entry]).map_err(|_| Broken { line })?;
        if !key.accepts(entry) {
            return Err(Broken { line });
        }
    }
    Ok(last)
}

impl AuditDraft {
    /// A decision with nothing but a time, an author and an outcome.
    pub fn new(at: Timestamp, who: impl Into<String>, decision: impl Into<String>) -> Self {
        AuditDraft {
            at,
            who: who.into(),
            device: None,
            session: None,
            ask: None,
            decision: decision.into(),
            rule: None,
            scope: None,
            digest: None,
            changed: None,
            latency_ms: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), JournalError> {
        let optional =
            [&self.device, &self.session, &self.ask, &self.rule, &self.scope, &self.digest, &self.changed];
        let texts = [&self.who, &self.decision].into_iter().chain(optional.into_iter().flatten());
        texts.map(String::as_str).try_for_each(super::session::check_text)?;
        if self.latency_ms.is_some_and(|ms| i64::try_from(ms).is_err()) {
            return Err(JournalError::new(ErrorKind::Invalid, "The latency is out of range", ""));
        }
        Ok(())
    }

    /// Adds the digest of the ask and the time that it had waited.
    pub(crate) fn about(&self, digest: Option<String>, opened_at: Timestamp) -> AuditDraft {
        let waited = self.at.as_millisecond().saturating_sub(opened_at.as_millisecond());
        AuditDraft {
            digest: self.digest.clone().or(digest),
            latency_ms: self.latency_ms.or_else(|| u64::try_from(waited).ok()),
            ..self.clone()
        }
    }

    /// The line for this decision after the line with the hash `before`.
    pub(crate) fn chained(&self, number: u64, before: &str) -> AuditEntry {
        let mut entry = AuditEntry {
            number,
            at_us: self.at.as_microsecond(),
            who: self.who.clone(),
            device: self.device.clone(),
            session: self.session.clone(),
            ask: self.ask.clone(),
            decision: self.decision.clone(),
            rule: self.rule.clone(),
            scope: self.scope.clone(),
            digest: self.digest.clone(),
            changed: self.changed.clone(),
            latency_ms: self.latency_ms,
            hash: String::new(),
        };
        entry.hash = entry.hashed(before);
        entry
    }
}

impl AuditEntry {
    /// True if the line has a seal, which only the key can check.
    pub fn is_sealed(&self) -> bool {
        self.hash_and_seal().1.is_some()
    }

    fn hash_and_seal(&self) -> (&str, Option<&str>) {
        self.hash.split_once('.').map_or((self.hash.as_str(), None), |(hash, seal)| (hash, Some(seal)))
    }

    /// The hash that this line must have. Each part is preceded by its length, so that no two lines hash
    /// alike.
    fn hashed(&self, before: &str) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: Option<&[u8]>| {
            hash.update(text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            hash.update(text.unwrap_or_default());
        };
        part(Some(before.as_bytes()));
        part(Some(&self.number.to_le_bytes()));
        part(Some(&self.at_us.to_le_bytes()));
        part(Some(self.who.as_bytes()));
        part(Some(self.decision.as_bytes()));
        for text in [&self.device, &self.session, &self.ask, &self.rule, &self.digest] {
            part(text.as_deref().map(str::as_bytes));
        }
        part(self.latency_ms.map(u64::to_le_bytes).as_ref().map(<[u8; 8]>::as_slice));
        // Lines from before these two fields existed hash as they did.
        if self.scope.is_some() || self.changed.is_some() {
            for text in [&self.scope, &self.changed] {
                part(text.as_deref().map(str::as_bytes));
            }
        }
        hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, before: &str, who: &str, key: Option<&AuditKey>) -> AuditEntry {
        let draft = AuditDraft::new(Timestamp::UNIX_EPOCH, who, "allowed");
        let mut entry = draft.chained(number, before);
        entry.hash = key.map_or_else(|| entry.hash.clone(), |key| key.sealed(&entry.hash));
        entry
    }

    fn log(whos: &[&str], key: impl Fn(u64) -> Option<AuditKey>) -> Vec<AuditEntry> {
        let mut lines: Vec<AuditEntry> = Vec::new();
        for (who, number) in whos.iter().zip(1..) {
            let before = lines.last().map_or(AUDIT_START, |line| line.hash.as_str()).to_owned();
            lines.push(line(number, &before, who, key(number).as_ref()));
        }
        lines
    }

    /// A log that was rewritten and hashed anew follows from its first line to its last; only the key shows
    /// it.
    #[test]
    fn k12_a_log_that_was_rewritten_without_the_key_is_told_from_the_real_one() {
        let start = (0, AUDIT_START);
        let key = AuditKey::new([7; 32], 3);
        let sealed = |number| Some(key.clone()).filter(|key| number >= key.from());
        let real = log(&["ada", "ada", "ada", "ada"], sealed);
        assert_eq!(verify_audit(start, &real).unwrap().0, 4, "the chain needs no key");
        assert_eq!(
            verify_sealed_audit(start, &real, &key).unwrap().0,
            4,
            "lines before the key still verify"
        );
        let other = AuditKey::new([8; 32], 3);
        let rewritten = [
            (log(&["ada", "ada", "eve", "ada"], |_| None), 3),
            (log(&["ada", "ada", "eve", "ada"], |number| sealed(number).and(Some(other.clone()))), 3),
            (log(&["ada", "ada", "ada", "eve"], |number| sealed(number).filter(|_| number == 3)), 4),
            // The first lines have no seal of their own, but the first sealed line is chained to them.
            (log(&["eve", "ada", "ada", "ada"], |_| None), 3),
        ];
        for (log, line) in rewritten {
            assert!(verify_audit(start, &log).is_ok(), "without the key it looks right");
            assert_eq!(verify_sealed_audit(start, &log, &key).unwrap_err().line, line);
        }
        assert_eq!(AuditKey::parse(&key.text()), Some(key));
        for text in ["", "key", "tidings audit key, version 1\n00\nfrom line 1\n"] {
            assert_eq!(AuditKey::parse(text), None);
        }
    }

    /// An export of the first version, which recorded neither the reach of a decision nor the changed input.
    #[test]
    fn t15_lines_of_earlier_versions_still_follow_from_each_other() {
        let first = r#"{"number":1,"at_us":0,"who":"ada","device":null,"session":"s","ask":"toolu_1","decision":"allowed","rule":null,"digest":"d","latency_ms":3,"hash":"82fbb40add5cf29a896b6b3b15cc2e718e78b3c9703fcd844c8462e48954ee46"}"#;
        let first: AuditEntry = serde_json::from_str(first).unwrap();
        assert_eq!(verify_audit((0, AUDIT_START), [&first]).unwrap().0, 1);
        let draft = AuditDraft {
            session: Some("s".to_owned()),
            ask: Some("toolu_2".to_owned()),
            scope: Some("always".to_owned()),
            ..AuditDraft::new(Timestamp::UNIX_EPOCH, "ada", "allowed")
        };
        let second = draft.chained(2, &first.hash);
        assert_eq!(verify_audit((0, AUDIT_START), [&first, &second]).unwrap().0, 2);
        for hide in [
            |line: &mut AuditEntry| line.scope = None,
            |line: &mut AuditEntry| {
                line.changed = line.scope.take();
            },
        ] {
            let mut other = second.clone();
            hide(&mut other);
            assert_eq!(verify_audit((0, AUDIT_START), [&first, &other]).unwrap_err().line, 2);
        }
    }
}
