//! Text encodings that are not UTF-8.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

/// Number of bytes that are inspected.
const HEAD_BYTES: u64 = 512;

/// Hint for a file in UTF-16.
pub(crate) const UTF_16_HINT: &str =
    "session files are UTF-8; convert a copy: `iconv -f UTF-16 -t UTF-8 FILE > COPY`, then use the copy";

/// Returns true for text in UTF-16, as redirections in PowerShell write it. Rewinds the file.
pub(crate) fn is_utf_16(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.rewind()?;
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(looks_like_utf_16(&head))
}

/// Detects a byte order mark, or ASCII with a NUL in every second byte.
fn looks_like_utf_16(head: &[u8]) -> bool {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let (pairs, _) = head.as_chunks::<2>();
    let little = |pair: &[u8; 2]| pair[0] != 0 && pair[1] == 0;
    let big = |pair: &[u8; 2]| pair[0] == 0 && pair[1] != 0;
    let most = |class: &dyn Fn(&[u8; 2]) -> bool| {
        pairs.len() >= 4 && pairs.iter().filter(|pair| class(pair)).count() * 4 >= pairs.len() * 3
    };
    most(&little) || most(&big)
}

#[cfg(test)]
mod tests {
    use super::looks_like_utf_16;

    #[test]
    fn c6_utf_16_is_told_from_utf_8_and_from_nul_bytes() {
        let text = r#"{"type":"user","message":"Grüße, 你好"}"#;
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked: Vec<u8> = [&[0xff, 0xfe][..], &little].concat();
        for head in [&little, &big, &marked] {
            assert!(looks_like_utf_16(head), "{head:?}");
        }
        for head in [text.as_bytes(), b"", &[0; 512], b"{\0\0\0\0\0\0\0", b"{\"a\":1}\n\0\0\0\0\0\0\0\0"] {
            assert!(!looks_like_utf_16(head), "{head:?}");
        }
    }
}
