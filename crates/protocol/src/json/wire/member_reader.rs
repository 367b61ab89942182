//! Reads the members of an object into typed fields, and keeps the rest.

use super::{Misfit, Reading, Wire};
use crate::json::{Cursor, Extra, Text};

/// Reads the members of an object into its typed fields. Everything else goes to `extra`, in the order of the
/// text.
///
/// Its methods are generic over the type of a field and not over that of the object, so that an object with
/// many fields compiles quickly.
pub(crate) struct MemberReader<'r, 'a> {
    cursor: &'r mut Cursor<'a>,
    reading: &'r mut Reading,
    /// Keys that the caller has already read.
    consumed: &'r [&'r str],
    /// Offset of the current key.
    key_at: usize,
    /// Indexes of the required fields that were read.
    found: Found,
    extra: Extra,
}

/// A typed field: its key, and whether the key must be present.
pub(crate) type FieldRule = (&'static str, bool);

/// The required fields of an object that were read.
#[derive(Default)]
struct Found {
    /// A bit for the index of each.
    bits: u128,
    /// The first one declared whose value did not fit.
    misfit: Option<(u32, Misfit)>,
}

/// The result of reading one value.
enum ReadValue<T> {
    Null,
    Fits(T),
    Misfit(Misfit),
}

impl<'r, 'a> MemberReader<'r, 'a> {
    pub(crate) fn new(cursor: &'r mut Cursor<'a>, reading: &'r mut Reading, consumed: &'r [&'r str]) -> Self {
        let (found, extra) = (Found::default(), Extra::default());
        MemberReader { cursor, reading, consumed, key_at: 0, found, extra }
    }

    /// The next key that the caller has not read before.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Option<Text<'a>> {
        loop {
            let key = self.cursor.next_key()?;
            if self.consumed.is_empty() || !self.consumed.contains(&&*key.get()) {
                self.key_at = self.cursor.key_at();
                return Some(key);
            }
            self.reading.taken += 1;
            self.cursor.skip();
        }
    }

    /// Keeps a member without a typed field.
    pub(crate) fn unknown(&mut self) {
        self.cursor.skip();
        self.keep();
    }

    /// Reads the value of a key that must be present.
    pub(crate) fn required<T: Wire>(&mut self, rules: &'static [FieldRule], key: &str, field: &mut T) {
        let read = self.read(key);
        let Some(index) = rules.iter().position(|rule| rule.0 == key).and_then(|at| u32::try_from(at).ok())
        else {
            return;
        };
        match read {
            ReadValue::Fits(value) => {
                *field = value;
                self.found.bits |= 1 << index;
            }
            ReadValue::Null => {
                let found = "null".to_owned();
                self.found.refuse(index, Misfit { path: key.to_owned(), expected: "a value", found });
            }
            ReadValue::Misfit(misfit) => self.found.refuse(index, misfit),
        }
    }

    /// Reads the value of a key that may be absent.
    pub(crate) fn optional<T: Wire>(&mut self, key: &str, field: &mut Option<T>) {
        *field = match self.read(key) {
            ReadValue::Fits(value) => Some(value),
            ReadValue::Null => {
                self.keep();
                None
            }
            ReadValue::Misfit(misfit) => {
                self.reading.refused.push(misfit);
                self.keep();
                None
            }
        };
    }

    /// Reads the value of a key whose absence means the default.
    pub(crate) fn defaulted<T: Wire + Default + PartialEq>(&mut self, key: &str, field: &mut T) {
        let mut read = None;
        self.optional(key, &mut read);
        let fits = read.is_some();
        *field = read.unwrap_or_default();
        if fits && super::is_default(field) {
            self.keep();
        }
    }

    /// Ends the object. Of several required keys that are missing or do not fit, the error is about the first
    /// one declared.
    pub(crate) fn finish(self, rules: &'static [FieldRule]) -> Result<Extra, Misfit> {
        let Found { bits, misfit } = self.found;
        let absent =
            (0..).zip(rules).find(|(index, (_, is_required))| *is_required && bits & (1 << index) == 0);
        match (absent, misfit) {
            (None, _) => Ok(self.extra),
            (Some((absent, _)), Some((index, misfit))) if index == absent => Err(misfit),
            (Some((_, (key, _))), _) => Err(Misfit::missing(key)),
        }
    }

    /// Keeps the current member, whose value was read.
    fn keep(&mut self) {
        self.extra.keep(self.cursor.since(self.key_at));
    }

    #[inline]
    fn read<T: Wire>(&mut self, key: &str) -> ReadValue<T> {
        let start = self.cursor.at();
        if self.cursor.peek() == b'n' && !T::TAKES_NULL {
            self.cursor.skip();
            return ReadValue::Null;
        }
        let before = self.reading.refused.len();
        match T::read(self.cursor, self.reading) {
            Ok(value) => {
                for refused in &mut self.reading.refused[before..] {
                    *refused = refused.clone().within(key);
                }
                ReadValue::Fits(value)
            }
            Err(misfit) => {
                self.reading.refused.truncate(before);
                self.cursor.rewind(start);
                self.cursor.skip();
                ReadValue::Misfit(misfit.within(key))
            }
        }
    }
}

impl Found {
    /// The value of a key did not fit; of duplicate keys the last counts.
    #[cold]
    fn refuse(&mut self, index: u32, misfit: Misfit) {
        self.bits &= !(1 << index);
        if self.misfit.as_ref().is_none_or(|(first, _)| index <= *first) {
            self.misfit = Some((index, misfit));
        }
    }
}
