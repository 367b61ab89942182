//! How far a string runs before something special comes: a quote, a backslash or a raw control character.

/// A run longer than this is worth the call of a vector search.
const SHORT_RUN: usize = 64;

/// Index of the first special byte from `at` on, or the end.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn plain_run(bytes: &[u8], at: usize) -> usize {
    // SAFETY: SSE2 belongs to every x86-64 processor; the function itself is safe code.
    #[expect(unsafe_code, reason = "calling code for a processor feature, even one that is always there")]
    unsafe {
        sse2::plain_run(bytes, at)
    }
}

/// Index of the first special byte from `at` on, or the end.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn plain_run(bytes: &[u8], at: usize) -> usize {
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
    pub(super) fn plain_run(bytes: &[u8], mut at: usize) -> usize {
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
                return super::long_run(bytes, at);
            }
        }
        super::by_eight(bytes, at)
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
const QUOTE: u64 = 0x22;
const SLASH: u64 = 0x5c;

/// Eight bytes at a time, in one register.
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
            // The lowest hit is exact; borrows can only invent hits above it.
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
        if at >= long {
            return long_run(bytes, at);
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

/// The same for what may be a long run: vector search for the two marks, then one look for control characters.
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
    use super::{by_eight, plain_run};

    #[test]
    fn every_length_and_every_special_byte_at_every_place_is_found() {
        for length in 0..200 {
            let mut bytes = vec![b'x'; length];
            assert_eq!((plain_run(&bytes, 0), by_eight(&bytes, 0)), (length, length));
            for at in 0..length {
                for special in [b'"', b'\\', 0, 0x1f] {
                    bytes[at] = special;
                    assert_eq!((plain_run(&bytes, 0), by_eight(&bytes, 0)), (at, at));
                    bytes[at] = b'x';
                }
                // Neighbours of the special bytes are plain.
                for plain in [b'!', b'#', b'[', b']', 0x20, 0x7f, 0x80, 0xff] {
                    bytes[at] = plain;
                    assert_eq!((plain_run(&bytes, 0), by_eight(&bytes, 0)), (length, length));
                    bytes[at] = b'x';
                }
            }
        }
    }
}
