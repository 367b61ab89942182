use super::{Misfit, Reading, Wire};
use crate::json::{Cursor, Extra};

/// State of one key of an object. The text is the whole member, kept if the typed field cannot hold it.
pub(crate) enum Slot<'a, T> {
    Absent,
    Null(&'a str),
    Fits(T, &'a str),
    Misfit(Misfit, &'a str),
}

impl<'a, T: Wire> Slot<'a, T> {
    /// Reads the value of the key at offset `key_at`.
    #[inline]
    pub(crate) fn take(cursor: &mut Cursor<'a>, reading: &mut Reading, key: &str, key_at: usize) -> Self {
        let start = cursor.at();
        if cursor.peek() == b'n' && !T::TAKES_NULL {
            cursor.skip();
            return Slot::Null(cursor.since(key_at));
        }
        let before = reading.refused.len();
        match T::read(cursor, reading) {
            Ok(value) => {
                if reading.refused.len() > before {
                    for refused in &mut reading.refused[before..] {
                        *refused = refused.clone().within(key);
                    }
                }
                Slot::Fits(value, cursor.since(key_at))
            }
            Err(misfit) => {
                reading.refused.truncate(before);
                cursor.rewind(start);
                cursor.skip();
                Slot::Misfit(misfit.within(key), cursor.since(key_at))
            }
        }
    }

    pub(crate) fn required(self, key: &'static str) -> Result<T, Misfit> {
        match self {
            Slot::Fits(value, _) => Ok(value),
            Slot::Absent => Err(Misfit::missing(key)),
            Slot::Null(_) => {
                Err(Misfit { path: key.to_owned(), expected: "a value", found: "null".to_owned() })
            }
            Slot::Misfit(misfit, _) => Err(misfit),
        }
    }

    pub(crate) fn optional(self, reading: &mut Reading, extra: &mut Extra) -> Option<T> {
        match self {
            Slot::Fits(value, _) => Some(value),
            Slot::Absent => None,
            Slot::Null(member) => {
                extra.keep(member);
                None
            }
            Slot::Misfit(misfit, member) => {
                reading.refused.push(misfit);
                extra.keep(member);
                None
            }
        }
    }

    pub(crate) fn or_default(self, reading: &mut Reading, extra: &mut Extra) -> T
    where
        T: Default + PartialEq,
    {
        match self {
            Slot::Fits(value, member) => {
                if value == T::default() {
                    extra.keep(member);
                }
                value
            }
            other => other.optional(reading, extra).unwrap_or_default(),
        }
    }
}
