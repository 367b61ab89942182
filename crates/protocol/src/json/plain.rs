//! Plain runs of strings: the bytes before a quote, a backslash or a raw control character.

/// Length in bytes above which a vector search pays off.
const SHORT_RUN: usize = 64;

/// Index of the first special byte from `at` on, or the end.
#[inline]
pub(super) fn plain_run(bytes: &[u8], at: usize) -> usize {
    let end = short_run(bytes, at);
    if end < at + SHORT_RUN { end } else { long_run(bytes, end) }
}

/// Same as [`plain_run`], but a run that is not short ends a few bytes after [`SHORT_RUN`], special byte or
/// not.
#[cfg(target_arch = "x86_64")]
#[inline]
fn short_run(bytes: &[u8], at: usize) -> usize {
    // SAFETY: SSE2 belongs to every x86-64 processor; the function itself is safe code.
    #[expect(unsafe_code, reason = "calling code for a processor feature, even one that is always there")]
    unsafe {
        sse2::short_run(bytes, at)
    }
}

/// Same as [`plain_run`], but a run that is not short ends a few bytes after [`SHORT_RUN`], special byte or
/// not.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn short_run(bytes: &[u8], at: usize) -> usize {
    by_eight(bytes, at)
}

/// Sixteen bytes at a time.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_max_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };

    #[target_feature(enable = "sse2")]
    #[inline]
    #[expect(clippy::cast_possible_wrap, reason = "only the bits matter")]
    pub(super) fn short_run(bytes: &[u8], mut at: usize) -> usize {
        let long = at + super::SHORT_RUN;
        let (quote, slash) = (_mm_set1_epi8(b'"' as i8), _mm_set1_epi8(b'\\' as i8));
        let control = _mm_set1_epi8(0x1f);
        while let Some(sixteen) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            let (low, high) = sixteen.split_at(8);
            let half = |half: &[u8]| half.first_chunk::<8>().map_or(0, |half| i64::from_le_bytes(*half));
            let sixteen = _mm_set_epi64x(half(high), half(low));
            let special = _mm_or_si128(
                _mm_or_si128(_mm_cmpeq_epi8(sixteen, quote), _mm_cmpeq_epi8(sixteen, slash)),
                _mm_cmpeq_epi8(_mm_max_epu8(sixteen, control), control),
            );
            let hits = _mm_movemask_epi8(special);
            if hits != 0 {
                return at + hits.trailing_zeros() as usize;
            }
            at += 16;
            if at >= long {
                return at;
            }
        }
        super::by_eight(bytes, at)
    }
}

/// End of a string in checked text whose inside begins at `start`, and whether it has escapes, if known.
///
/// Checked text need not be scanned byte by byte again: in a long string only quotes matter.
#[inline]
pub(super) fn string_end(bytes: &[u8], start: usize) -> (usize, Option<bool>) {
    let long = start + SHORT_RUN;
    let mut at = start;
    let mut escaped = false;
    while at < long {
        at = short_run(bytes, at);
        match bytes.get(at) {
            Some(b'\\') => {
                escaped = true;
                at += 2;
            }
            Some(b'"') | None => return (at.min(bytes.len()), Some(escaped)),
            // The run continues.
            Some(_) => break,
        }
    }
    (closing_quote(bytes, at), escaped.then_some(true))
}

/// First unescaped quote from `at` on. `at` must not be inside an escape.
#[inline(never)]
fn closing_quote(bytes: &[u8], at: usize) -> usize {
    let mut from = at;
    while let Some(found) = bytes.get(from..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let quote = from + found;
        let slashes = bytes[at..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            return quote;
        }
        from = quote + 1;
    }
    bytes.len()
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
const QUOTE: u64 = 0x22;
const SLASH: u64 = 0x5c;

/// Scans eight bytes at a time, in one register.
#[inline]
fn by_eight(bytes: &[u8], mut at: usize) -> usize {
    let long = at + SHORT_RUN;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = word ^ (ONES * QUOTE);
        let quote = quote.wrapping_sub(ONES) & !quote;
        let slash = word ^ (ONES * SLASH);
        let slash = slash.wrapping_sub(ONES) & !slash;
        let hits = (control | quote | slash) & HIGHS;
        if hits != 0 {
            // The lowest hit is exact; borrows can only add false hits above it.
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at >= long {
            return at;
        }
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// Same for a possibly long run: vector search for the two marks, then one pass for control characters.
#[inline(never)]
fn long_run(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
    let run = &rest[..length];
    // A sum over all bytes becomes vector code, a search that may stop early does not.
    let controls: usize = run.iter().map(|byte| usize::from(*byte < 0x20)).sum();
    if controls == 0 { at + length } else { at + run.iter().position(|byte| *byte < 0x20).unwrap_or(length) }
}

#[cfg(test)]
mod tests {
    use super::{SHORT_RUN, by_eight, long_run, plain_run, string_end};

    /// The path for other processors, to the end of the run.
    fn without_sse2(bytes: &[u8], at: usize) -> usize {
        let end = by_eight(bytes, at);
        if end < at + SHORT_RUN { end } else { long_run(bytes, end) }
    }

    #[test]
    fn every_length_and_every_special_byte_at_every_place_is_found() {
        for length in 0..200 {
            let mut bytes = vec![b'x'; length];
            assert_eq!((plain_run(&bytes, 0), without_sse2(&bytes, 0)), (length, length));
            for at in 0..length {
                for special in [b'"', b'\\', 0, 0x1f] {
                    bytes[at] = special;
                    assert_eq!((plain_run(&bytes, 0), without_sse2(&bytes, 0)), (at, at));
                    bytes[at] = b'x';
                }
                // Neighbours of the special bytes are plain.
                for plain in [b'!', b'#', b'[', b']', 0x20, 0x7f, 0x80, 0xff] {
                    bytes[at] = plain;
                    assert_eq!((plain_run(&bytes, 0), without_sse2(&bytes, 0)), (length, length));
                    bytes[at] = b'x';
                }
            }
        }
    }

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        for length in 0..200 {
            for at in 0..length {
                // Escapes of one to four bytes, so that quotes come after odd and even rows of backslashes.
                for escape in ["\\n", "\\\"", "\\\\", "\\\\\\\"", "\\u0022"] {
                    let text = format!("{}{escape}{}\"rest\"", "x".repeat(at), "y".repeat(length - at));
                    let end = length + escape.len();
                    let (found, escaped) = string_end(text.as_bytes(), 0);
                    assert_eq!(found, end, "{text}");
                    assert_ne!(escaped, Some(false));
                }
            }
            let plain = format!("{}\"", "x".repeat(length));
            assert_eq!(string_end(plain.as_bytes(), 0).0, length);
            assert_ne!(string_end(plain.as_bytes(), 0).1, Some(true));
        }
    }
}
