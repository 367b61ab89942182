//! The responses in one file, and their encoding in the cache.

use super::key::{KeyMap, ResponseKey};
use super::line::{Claim, Sighting, SightingSource};
use super::names::{TextId, TextTable};
use super::time::Millis;
use super::tokens::Usage;
use crate::cache::{Fields, Kind};

/// The kind of cached data; a change to the counting or the encoding needs a new version.
pub(super) const USAGE: Kind = Kind::new("usage", 1);

/// One response, merged from all of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LedgerRow {
    pub(super) key: ResponseKey,
    pub(super) claim: Claim,
    pub(super) session: TextId,
    pub(super) cwd: TextId,
    pub(super) model: TextId,
    pub(super) usage: Usage,
}

impl LedgerRow {
    /// Merges another occurrence of the same response. Among equal claims the first one wins.
    pub(super) fn merge(&mut self, other: &LedgerRow) {
        self.usage.take_larger(&other.usage);
        let (best, rest) = if other.claim < self.claim { (*other, *self) } else { (*self, *other) };
        let either = |best: TextId, rest: TextId| if best == TextId::EMPTY { rest } else { best };
        self.claim = best.claim;
        self.session = either(best.session, rest.session);
        self.cwd = either(best.cwd, rest.cwd);
        self.model = either(best.model, rest.model);
    }
}

/// The responses of one file, each once.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) list: Vec<LedgerRow>,
    pub(super) names: TextTable,
    /// Number of lines that are too long to read and may contain usage.
    pub(super) oversized: u64,
    by_key: KeyMap<usize>,
}

impl Rows {
    pub(super) fn see(&mut self, seen: &Sighting<'_>) {
        let row = LedgerRow {
            key: seen.key,
            claim: seen.claim,
            session: self.names.get_or_add(&seen.session),
            cwd: self.names.get_or_add(&seen.cwd),
            model: self.names.get_or_add(&seen.model),
            usage: seen.usage,
        };
        // Lines of one response mostly follow one another.
        if let Some(last) = self.list.last_mut().filter(|last| last.key == row.key) {
            return last.merge(&row);
        }
        if self.by_key.len() < self.list.len() {
            self.by_key = self.list.iter().enumerate().map(|(at, row)| (row.key, at)).collect();
        }
        let at = *self.by_key.entry(row.key).or_insert(self.list.len());
        match self.list.get_mut(at) {
            Some(known) => known.merge(&row),
            None => self.list.push(row),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.list.len() * 48);
        Fields::write_number(&mut out, self.oversized);
        Fields::write_number(&mut out, self.names.len() as u64);
        for name in self.names.iter() {
            Fields::write_bytes(&mut out, name.as_bytes());
        }
        Fields::write_number(&mut out, self.list.len() as u64);
        let mut before = 0i64;
        for row in &self.list {
            out.extend_from_slice(&row.key.0.to_le_bytes());
            let Claim { source, copied, time } = row.claim;
            let Usage { fast, ended, .. } = row.usage;
            let flags = [copied, fast, ended].map(u8::from);
            out.push(source as u8 | flags[0] << 2 | flags[1] << 3 | flags[2] << 4);
            // Times differ little from row to row.
            Fields::write_number(&mut out, zigzag(time.0.wrapping_sub(before)));
            before = time.0;
            for name in [row.session, row.cwd, row.model] {
                Fields::write_number(&mut out, u64::from(name.0));
            }
            for number in row.usage.numbers() {
                Fields::write_number(&mut out, number);
            }
        }
        out
    }

    /// `None` if the bytes are not what [`Rows::encode`] writes.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(bytes);
        let oversized = fields.number()?;
        let mut texts = Vec::new();
        for _ in 0..fields.number()? {
            texts.push(std::str::from_utf8(fields.bytes()?).ok()?.into());
        }
        let names = TextTable::from_texts(texts)?;
        let count = usize::try_from(fields.number()?).ok()?;
        // A row is at least as long as its key, so a wrong count does not allocate more memory than the file
        // has bytes.
        let mut list = Vec::with_capacity(count.min(bytes.len() / 16));
        let mut before = 0i64;
        for _ in 0..count {
            let key = ResponseKey(u128::from_le_bytes(*fields.array::<16>()?));
            let [flags] = *fields.array::<1>()?;
            let time = before.wrapping_add(unzigzag(fields.number()?));
            before = time;
            let source = match flags & 3 {
                0 => SightingSource::Conversation,
                1 => SightingSource::SubAgent,
                2 => SightingSource::Progress,
                _ => return None,
            };
            let mut name =
                || Some(TextId(u32::try_from(fields.number()?).ok()?)).filter(|name| names.has(*name));
            let (session, cwd, model) = (name()?, name()?, name()?);
            let mut numbers = [0; Usage::NUMBERS];
            for number in &mut numbers {
                *number = fields.number()?;
            }
            let claim = Claim { source, copied: flags & 4 != 0, time: Millis(time) };
            let (fast, ended) = (flags & 8 != 0, flags & 16 != 0);
            let usage = Usage { fast, ended, ..Usage::from_numbers(numbers) };
            list.push(LedgerRow { key, claim, session, cwd, model, usage });
        }
        fields.is_empty().then_some(Rows { list, names, oversized, by_key: KeyMap::default() })
    }
}

/// Maps small numbers of either sign to small numbers.
#[expect(clippy::cast_sign_loss, reason = "only the bits matter")]
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

#[expect(clippy::cast_possible_wrap, reason = "only the bits matter")]
fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
