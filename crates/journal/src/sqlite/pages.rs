//! Pages of an `SQLite` file, read without its trees.

use std::io::{self, Read as _};
use std::path::Path;

use rusqlite::types::Value;
use tidings_base::files;

use crate::JournalError;
use crate::limits::SALVAGED_BYTES_MAX;

/// Type of a page with the rows of a table.
const TABLE_LEAF: u8 = 0x0d;
/// Length of the header of the file, before the first page's own.
const FILE_HEADER: usize = 100;

/// All pages of a file.
pub(super) struct Pages {
    bytes: Vec<u8>,
    page_bytes: usize,
}

/// Takes a row: its number and its columns.
pub(super) type TakeRow<'t> = &'t mut dyn FnMut(i64, Vec<Value>) -> Result<(), JournalError>;

impl Pages {
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        files::open(path)?.take(SALVAGED_BYTES_MAX).read_to_end(&mut bytes)?;
        let size = bytes.get(16..18).map_or(0, |size| usize::from(size[0]) << 8 | usize::from(size[1]));
        let page_bytes = if (512..=32768).contains(&size) && size.is_power_of_two() { size } else { 4096 };
        Ok(Pages { bytes, page_bytes })
    }

    /// Calls `take` with each row that has this number of columns.
    pub(super) fn rows(&self, columns: usize, take: TakeRow<'_>) -> Result<(), JournalError> {
        for (page, place) in self.bytes.chunks_exact(self.page_bytes).zip(0..) {
            let header = if place == 0 { FILE_HEADER } else { 0 };
            if page.get(header) != Some(&TABLE_LEAF) {
                continue;
            }
            let cells = short(page, header + 3);
            for cell in 0..cells {
                let row = self.row(page, short(page, header + 8 + 2 * cell));
                if let Some((number, values)) = row.filter(|(_, values)| values.len() == columns) {
                    take(number, values)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the row at an offset of a page; none if there is no row.
    fn row(&self, page: &[u8], at: usize) -> Option<(i64, Vec<Value>)> {
        let mut cell = page.get(at..).filter(|_| at > 0)?;
        let length = usize::try_from(varint(&mut cell)?).ok()?;
        let number = varint(&mut cell)?;
        let payload = self.payload(cell, length)?;
        Some((number, values(&payload)?))
    }

    /// The bytes of a row: those in its page, and those in a chain of overflow pages.
    fn payload(&self, cell: &[u8], length: usize) -> Option<Vec<u8>> {
        let usable = self.page_bytes;
        if length <= usable - 35 {
            return cell.get(..length).map(<[u8]>::to_vec);
        }
        if length > self.bytes.len() {
            return None;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let fitting = least + (length - least) % (usable - 4);
        let local = if fitting <= usable - 35 { fitting } else { least };
        let mut payload = cell.get(..local)?.to_vec();
        let mut next = long(cell, local)?;
        while payload.len() < length {
            let start = next.checked_sub(1)?.checked_mul(usable)?;
            let page = self.bytes.get(start..start + usable)?;
            let left = (length - payload.len()).min(usable - 4);
            payload.extend_from_slice(page.get(4..4 + left)?);
            next = long(page, 0)?;
        }
        Some(payload)
    }
}

/// The columns of a record.
fn values(payload: &[u8]) -> Option<Vec<Value>> {
    let mut header = payload;
    let length = usize::try_from(varint(&mut header)?).ok()?;
    let mut body = payload.get(length..)?;
    let mut header = payload.get(payload.len() - header.len()..length)?;
    let mut values = Vec::new();
    while !header.is_empty() {
        let kind = usize::try_from(varint(&mut header)?).ok()?;
        let bytes = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => (kind - 12) / 2,
        };
        let (value, rest) = body.split_at_checked(bytes)?;
        body = rest;
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(integer(value)),
            7 => Value::Real(f64::from_be_bytes(*value.first_chunk()?)),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            _ if kind % 2 == 0 => Value::Blob(value.to_vec()),
            _ => Value::Text(String::from_utf8(value.to_vec()).ok()?),
        });
    }
    Some(values)
}

/// A signed number of up to eight bytes.
fn integer(bytes: &[u8]) -> i64 {
    let start = if bytes.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(start, |number, byte| number << 8 | i64::from(*byte))
}

/// Takes a number of variable length off the front.
fn varint(bytes: &mut &[u8]) -> Option<i64> {
    let mut number = 0_u64;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 {
            return Some((number << 8 | u64::from(*byte)).cast_signed());
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(number.cast_signed());
        }
    }
    None
}

fn short(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 2).map_or(0, |short| usize::from(short[0]) << 8 | usize::from(short[1]))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let number = u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?);
    usize::try_from(number).ok()
}
