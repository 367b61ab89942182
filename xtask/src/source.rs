//! Rust source as seen by the checks: without comments, without literals and, on request, without tests.
//!
//! Not a parser.
//! Blanked text keeps its length and its line ends, so that positions stay valid for messages.

/// Replaces comments and the contents of literals with spaces.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = inert_end(bytes, at);
        blank(&mut out, at..end);
        at = end.max(at + 1);
    }
    // Only whole comments and literals were blanked, so no character was cut in half.
    String::from_utf8_lossy(&out).into_owned()
}

/// Blanks items under `#[cfg(test)]` in code from [`code`].
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    if code.contains("#![cfg(test)]") {
        let all = 0..out.len();
        blank(&mut out, all);
    }
    for marker in ["#[cfg(test)]", "#[cfg(all(test"] {
        for (at, _) in code.match_indices(marker) {
            let end = item_end(code.as_bytes(), at + marker.len());
            blank(&mut out, at..end);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Line number and pattern of every hit on a whole word; one hit per line is enough to act on.
pub(crate) fn hits<'p>(code: &str, patterns: &[&'p str]) -> Vec<(usize, &'p str)> {
    let first = |line: &str| patterns.iter().copied().find(|pattern| has_word(line, pattern));
    let numbered = code.lines().zip(1..);
    numbered.filter_map(|(line, number)| Some((number, first(line)?))).collect()
}

/// True for generated files, whose size and attributes are not checked.
pub(crate) fn is_generated(text: &str) -> bool {
    let marks = ["@generated", "This file was generated"];
    text.lines().take(20).any(|line| marks.iter().any(|mark| line.contains(mark)))
}

/// True if the path holds tests, examples or benches rather than shipped code.
pub(crate) fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "examples" | "benches"))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_ident = |c: char| c.is_alphanumeric() || c == '_';
    let opens = word.starts_with(is_ident);
    let closes = word.ends_with(is_ident);
    line.match_indices(word).any(|(at, _)| {
        let before = opens && line[..at].ends_with(is_ident);
        let after = closes && line[at + word.len()..].starts_with(is_ident);
        !before && !after
    })
}

fn blank(out: &mut [u8], range: std::ops::Range<usize>) {
    for byte in &mut out[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// End of the comment or literal that begins at `at`; `at` itself if none does.
fn inert_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let in_word = at > 0 && is_word(bytes[at - 1]);
    let length = match rest {
        [b'/', b'/', ..] => find(rest, b"\n").unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => quoted(rest, b'"'),
        [b'\'', ..] => char_literal(rest),
        [b'r' | b'b' | b'c', ..] if !in_word => raw_string(rest),
        _ => 0,
    };
    at + length.min(rest.len())
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while at < rest.len() && depth > 0 {
        let step = match &rest[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
    }
    at
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// A lifetime begins like a character literal but never closes after one character.
fn char_literal(rest: &[u8]) -> usize {
    if rest.get(1) == Some(&b'\\') {
        return quoted(rest, b'\'');
    }
    let width = rest.get(1..).and_then(|tail| tail.utf8_chunks().next()?.valid().chars().next());
    let close = 1 + width.map_or(1, char::len_utf8);
    if rest.get(close) == Some(&b'\'') { close + 1 } else { 0 }
}

/// `r"…"`, `r#"…"#`, `br#"…"#`: they have no escapes and end with the same number of hashes.
fn raw_string(rest: &[u8]) -> usize {
    let prefix = usize::from(rest[0] != b'r');
    if rest.get(prefix) != Some(&b'r') {
        return 0;
    }
    let hashes = rest[prefix + 1..].iter().take_while(|&&byte| byte == b'#').count();
    let open = prefix + 1 + hashes;
    if rest.get(open) != Some(&b'"') {
        return 0;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    find(&rest[open + 1..], &close).map_or(rest.len(), |at| open + 1 + at + close.len())
}

/// End of the item after an attribute: its closing brace, or the semicolon of an item without a body.
pub(crate) fn item_end(code: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests;
