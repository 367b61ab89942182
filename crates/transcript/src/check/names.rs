//! Names as small numbers, so that long ones cost no memory.

use std::collections::HashMap;
use std::sync::Arc;

/// Interns names as small numbers, so that the memory per line does not grow with the length of its names.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    /// Nearly all names are uuids, which fit into 128 bits.
    uuids: HashMap<u128, NameId>,
    others: HashMap<Arc<str>, NameId>,
    list: Vec<Spelling>,
}

/// A name interned by [`NameTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NameId(u32);

#[derive(Debug)]
enum Spelling {
    Uuid(u128),
    Other(Arc<str>),
}

impl NameTable {
    pub(crate) fn of(&mut self, text: &str) -> NameId {
        if let Some(known) = self.find(text) {
            return known;
        }
        // Files with 2³² names do not fit on a disk.
        let name = NameId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        if let Some(number) = uuid(text) {
            self.uuids.insert(number, name);
            self.list.push(Spelling::Uuid(number));
        } else {
            let text: Arc<str> = text.into();
            self.others.insert(Arc::clone(&text), name);
            self.list.push(Spelling::Other(text));
        }
        name
    }

    /// The number of a name, if it was interned.
    pub(crate) fn find(&self, text: &str) -> Option<NameId> {
        match uuid(text) {
            Some(number) => self.uuids.get(&number),
            None => self.others.get(text),
        }
        .copied()
    }

    /// The name as it was spelled.
    pub(crate) fn text(&self, name: NameId) -> String {
        match self.list.get(name.index()) {
            Some(Spelling::Uuid(number)) => format_uuid(*number),
            Some(Spelling::Other(text)) => text.as_ref().to_owned(),
            None => String::new(),
        }
    }
}

impl NameId {
    /// Index into a list with one item per name.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A uuid in its usual spelling.
pub(crate) fn format_uuid(uuid: u128) -> String {
    let digits = format!("{uuid:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// The number of a uuid in its usual spelling. Any other spelling is another name.
pub(crate) fn uuid(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let digit = match (at, byte) {
            (8 | 13 | 18 | 23, b'-') => continue,
            (8 | 13 | 18 | 23, _) => return None,
            (_, b'0'..=b'9') => byte - b'0',
            (_, b'a'..=b'f') => byte - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u128::from(digit);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_a_number_one_name() {
        let names =
            ["", "u-1", "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000A"];
        let mut known = NameTable::default();
        let numbers: Vec<NameId> = names.iter().map(|name| known.of(name)).collect();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(known.of(name), numbers[at]);
            assert_eq!(known.find(name), Some(numbers[at]));
            assert_eq!(numbers[at].index(), at);
            assert_eq!(known.text(numbers[at]), *name);
        }
        assert_eq!(known.find("u-2"), None);
        assert_eq!(
            uuid("12345678-9abc-def0-1234-56789abcdef0"),
            Some(0x1234_5678_9abc_def0_1234_5678_9abc_def0)
        );
    }
}
