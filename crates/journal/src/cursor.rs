//! Position in a session's events, `epoch:seq`.

use std::fmt;
use std::str::FromStr;

use super::{ErrorKind, Handle, JournalError};
use crate::limits::SEQ_MAX;

/// The run of a session's sequence numbers that a [`Cursor`] belongs to.
///
/// It changes when published numbers may have been lost and given to other events. It differs from session to
/// session, so that a cursor of one is never valid for another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(u64);

impl Epoch {
    /// An epoch from a random number, which the caller provides.
    pub fn from_random(number: u64) -> Self {
        Epoch(number)
    }

    /// The epoch of one session, from that of the journal. Handles are never reused, so a session that was
    /// deleted and created again has another epoch as well.
    pub(crate) fn of_session(self, handle: Handle) -> Self {
        // The mixing function of SplitMix64: a bijection, so that no two handles share an epoch.
        let mut mixed = self.0 ^ handle.number().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Epoch(mixed ^ (mixed >> 31))
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The signed number that `SQLite` stores.
    pub(crate) fn to_stored(self) -> i64 {
        self.0.cast_signed()
    }

    pub(crate) fn from_stored(number: i64) -> Self {
        Epoch(number.cast_unsigned())
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epoch({self})")
    }
}

/// A position in a session: after the event with this number, in this epoch. Written as `epoch:seq`.
///
/// ```
/// use tidings_journal::Cursor;
///
/// let cursor: Cursor = "00c0ffee00c0ffee:42".parse()?;
/// assert_eq!(cursor.seq, 42);
/// assert_eq!(cursor.to_string(), "00c0ffee00c0ffee:42");
/// # Ok::<(), tidings_journal::JournalError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The epoch.
    pub epoch: Epoch,
    /// The number of an event; the first one of a session is 1, and 0 is before all of them.
    pub seq: u64,
}

impl Cursor {
    /// A cursor.
    pub fn new(epoch: Epoch, seq: u64) -> Self {
        Cursor { epoch, seq }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.seq)
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cursor({self})")
    }
}

impl FromStr for Cursor {
    type Err = JournalError;

    /// Accepts exactly the printed form, so that one position has one spelling.
    fn from_str(text: &str) -> Result<Self, JournalError> {
        let refused = || {
            let shown: String = text.chars().take(40).collect();
            let hint = "give back what the server sent, or nothing to start again";
            JournalError::new(ErrorKind::Invalid, format!("Not a cursor: `{}`", shown.escape_debug()), hint)
        };
        let (epoch, seq) = text.split_once(':').ok_or_else(refused)?;
        let is_hex = epoch.len() == 16 && epoch.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let is_number = seq.bytes().all(|b| b.is_ascii_digit()) && (seq == "0" || !seq.starts_with('0'));
        if !is_hex || !is_number {
            return Err(refused());
        }
        let epoch = u64::from_str_radix(epoch, 16).map_err(|_| refused())?;
        let seq: u64 = seq.parse().map_err(|_| refused())?;
        if seq > SEQ_MAX {
            return Err(refused());
        }
        Ok(Cursor { epoch: Epoch(epoch), seq })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_has_one_spelling() {
        let refused = [
            "",
            ":",
            "1:1",
            "00c0ffee00c0ffee",
            "00c0ffee00c0ffee:",
            "00C0ffee00c0ffee:1",
            "00c0ffee00c0ffee:+1",
            "00c0ffee00c0ffee:01",
            "00c0ffee00c0ffee: 1",
            "00c0ffee00c0ffee:1:1",
            "+0c0ffee00c0ffee:1",
            "00c0ffee00c0ffee:99999999999999999999",
            "00c0ffee00c0ffee:1099511627776",
        ];
        for text in refused {
            assert_eq!(text.parse::<Cursor>().unwrap_err().kind(), ErrorKind::Invalid, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(epoch: u64, seq in 0..=SEQ_MAX) {
            let cursor = Cursor::new(Epoch(epoch), seq);
            prop_assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        }

        #[test]
        fn no_text_brings_the_parser_down(text in ".{0,60}") {
            if let Ok(cursor) = text.parse::<Cursor>() {
                prop_assert_eq!(cursor.to_string(), text);
            }
        }

        #[test]
        fn f99_sessions_do_not_share_an_epoch(epoch: u64, a in 1..1000u64, b in 1..1000u64) {
            let of = |n| Epoch(epoch).of_session(Handle::new(n));
            prop_assert_eq!(of(a) == of(b), a == b);
        }
    }
}
