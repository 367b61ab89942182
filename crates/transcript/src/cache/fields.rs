//! Encoding of cached records: numbers and byte strings.

/// Reads and writes the fields of an encoded record: numbers of variable length, and byte strings.
///
/// Input is not trusted: everything that does not decode is `None`.
///
/// ```
/// use tidings_transcript::cache::Fields;
///
/// let mut facts = Vec::new();
/// Fields::write_number(&mut facts, 300);
/// Fields::write_bytes(&mut facts, b"Bash");
/// let mut fields = Fields::new(&facts);
/// assert_eq!((fields.number(), fields.bytes()), (Some(300), Some(&b"Bash"[..])));
/// assert!(fields.is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// A reader of the fields in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Fields(bytes)
    }

    /// Appends a number.
    #[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
    pub fn write_number(out: &mut Vec<u8>, mut number: u64) {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }

    /// Appends bytes with their length in front.
    pub fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
        Self::write_number(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        // Most numbers are small.
        match self.0 {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.0 = rest;
                Some(u64::from(*byte))
            }
            _ => self.long_number(),
        }
    }

    #[inline]
    fn long_number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        let mut bytes = self.0.iter();
        while shift < u64::BITS {
            let byte = *bytes.next()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                self.0 = bytes.as_slice();
                return Some(number);
            }
            shift += 7;
        }
        None
    }

    /// The next bytes, as [`Fields::write_bytes`] wrote them.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next `N` bytes, without a length in front.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(bytes)
    }

    /// Returns true once everything was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that were not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_and_bytes_come_back(
            numbers in prop::collection::vec(any::<u64>(), 0..20),
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut out = Vec::new();
            for number in &numbers {
                Fields::write_number(&mut out, *number);
            }
            Fields::write_bytes(&mut out, &bytes);
            let mut fields = Fields::new(&out);
            for number in &numbers {
                prop_assert_eq!(fields.number(), Some(*number));
            }
            prop_assert_eq!(fields.bytes(), Some(&bytes[..]));
            prop_assert!(fields.is_empty());
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut fields = Fields::new(&bytes);
            while fields.number().is_some() && fields.bytes().is_some() {}
        }
    }
}
