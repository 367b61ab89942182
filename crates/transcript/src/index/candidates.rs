//! The parts of files that a search must read.

use std::collections::HashMap;

use super::signature::{self, Signature};
use super::store::{COLUMNS, ROW, Store};
use crate::Error;
use crate::search::{LineRange, Literals};

/// The parts that may contain one of the literals, sorted, by file; `None` if the index cannot narrow the
/// search.
pub(super) fn parts(
    store: &Store,
    literals: &Literals,
) -> Result<Option<HashMap<i64, Vec<LineRange>>>, Error> {
    let wanted: Vec<Vec<usize>> =
        literals.any_of.iter().map(|literal| signature::buckets(literal, literals.case)).collect();
    if wanted.is_empty() || wanted.iter().any(Vec::is_empty) {
        return Ok(None);
    }
    let mut signatures = in_segments(store, &wanted)?;
    signatures.extend(in_young(store, &wanted)?);
    let mut parts: HashMap<i64, Vec<LineRange>> = HashMap::new();
    let read = |signature: i64, parts: &mut HashMap<i64, Vec<LineRange>>| {
        let sql = "SELECT file, start, stop, line FROM part WHERE signature = ?1";
        let mut select = store.connection.prepare_cached(sql)?;
        let mut rows = select.query([signature])?;
        while let Some(row) = rows.next()? {
            let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            let part = LineRange { bytes: number(1)?..number(2)?, line: number(3)? };
            parts.entry(row.get(0)?).or_default().push(part);
        }
        Ok(())
    };
    for signature in signatures {
        read(signature, &mut parts).map_err(|error| store.failed(&error))?;
    }
    for parts in parts.values_mut() {
        join(parts);
    }
    Ok(Some(parts))
}

/// Merges adjacent parts, so that they are read at once.
pub(super) fn join(parts: &mut Vec<LineRange>) {
    parts.sort_by_key(|part| part.bytes.start);
    parts.dedup_by(|next, part| {
        let follows = part.bytes.end == next.bytes.start;
        if follows {
            part.bytes.end = next.bytes.end;
        }
        follows
    });
}

fn in_segments(store: &Store, wanted: &[Vec<usize>]) -> Result<Vec<i64>, Error> {
    let mut found = Vec::new();
    for segment in 0..store.segments()? {
        let mut any = [0; ROW];
        for buckets in wanted {
            let mut all = [u8::MAX; ROW];
            for bucket in buckets {
                let row = store.row(segment, *bucket)?;
                all.iter_mut().zip(row).for_each(|(all, row)| *all &= row);
                if all == [0; ROW] {
                    break;
                }
            }
            any.iter_mut().zip(all).for_each(|(any, all)| *any |= all);
        }
        let columns = (0..COLUMNS).filter(|column| any[column / 8] & 1 << (column % 8) != 0);
        found.extend(columns.map(|column| number(segment * COLUMNS + column)));
    }
    Ok(found)
}

fn in_young(store: &Store, wanted: &[Vec<usize>]) -> Result<Vec<i64>, Error> {
    let first = store.segments()? * COLUMNS;
    let fits = |signature: &Signature| wanted.iter().any(|buckets| signature.has_all(buckets));
    let young = store.young()?.into_iter().enumerate();
    Ok(young.filter(|(_, (signature, _))| fits(signature)).map(|(at, _)| number(first + at)).collect())
}

fn number(signature: usize) -> i64 {
    i64::try_from(signature).unwrap_or(i64::MAX)
}
