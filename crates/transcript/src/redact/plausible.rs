//! Distinguishes secrets from ordinary words in the same positions.

/// Accepts everything: the pattern alone is proof enough.
pub(super) fn any(_: &str) -> bool {
    true
}

/// A random-looking key: it has digits, and letters of both cases or many different characters.
///
/// `sk-learn-contrib-extras` begins like a key and is not one.
pub(super) fn key(text: &str) -> bool {
    let has = |class: fn(&u8) -> bool| text.bytes().any(|byte| class(&byte));
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) || entropy(text) > 3.0)
        && !placeholder(text)
}

/// A random-looking key with a prefix that no word has: it may consist of letters only, unless it is short
/// words joined by hyphens.
pub(super) fn marked_key(text: &str) -> bool {
    let body = text.split_once(['-', '_']).map_or(text, |(_, body)| body);
    let has = |class: fn(&u8) -> bool| body.bytes().any(|byte| class(&byte));
    let one_word = !body.contains(['-', '_']);
    let both_cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    key(text) || ((one_word || both_cases) && entropy(body) > 3.0 && !placeholder(text))
}

/// A value without quotes after a name such as `token`: common in code, so it must look random.
pub(super) fn bare_value(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    letters > 0 && digits > 0 && entropy(text) >= 2.8 && !placeholder(text) && !path_or_code(text)
}

/// A value in quotes after such a name, or in an environment file.
pub(super) fn quoted_value(text: &str) -> bool {
    !placeholder(text)
        && !path_or_code(text)
        && !text.bytes().all(|byte| byte.is_ascii_digit())
        && distinct(text) >= 4
}

/// A password in a position where only a password can stand.
pub(super) fn password(text: &str) -> bool {
    !placeholder(text)
}

/// A password on a command line.
pub(super) fn typed(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['-', '$', '<', '[', '{', '/', '~', '@']) && !is_stand_in(text)
}

/// The value of a YAML key that is named like a password. Types and fields of code occur there too.
pub(super) fn yaml_value(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "str",
        "text",
        "bytes",
        "bool",
        "boolean",
        "int",
        "integer",
        "number",
        "any",
        "object",
        "varchar",
        "required",
        "optional",
        "hidden",
        "secretstr",
        "incorrect",
        "invalid",
        "wrong",
        "missing",
        "no",
        "yes",
        "off",
        "on",
        "unknown",
        "ok",
    ];
    let is_code = path_or_code(text)
        || text.contains(['<', '=', '?'])
        || text.starts_with('-')
        || text.ends_with([',', ';', '{', '(', '|', '>']);
    !is_code && !WORDS.contains(&text.to_ascii_lowercase().as_str()) && !is_stand_in(text)
}

/// A placeholder. In a position where only a password can stand, a short password may have few different
/// letters.
fn is_stand_in(text: &str) -> bool {
    placeholder(text)
        && (distinct(text) > 2 || text.starts_with(['$', '%', '*', '.', '<']) || text.contains("xx"))
}

/// Words that are written in place of a secret.
fn placeholder(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "example",
        "changeme",
        "change_me",
        "change-me",
        "placeholder",
        "your-",
        "your_",
        "yourpassword",
        "yourtoken",
        "password",
        "passwd",
        "redacted",
        "xxxx",
        "dummy",
        "insert",
        "replace",
        "undefined",
        "<",
        "${",
        "{{",
        "%(",
        "$(",
        "process.env",
        "os.environ",
        "env.",
        "getenv",
        "...",
        "***",
        "•••",
        "…",
    ];
    let lower = text.to_ascii_lowercase();
    matches!(
        lower.as_str(),
        "secret"
            | "token"
            | "pass"
            | "user"
            | "username"
            | "string"
            | "none"
            | "null"
            | "true"
            | "false"
            | "pw"
            | "pwd"
    ) || text.starts_with('$')
        || (text.starts_with('%') && text.ends_with('%'))
        || WORDS.iter().any(|word| lower.contains(word))
        || distinct(text) <= 2
}

/// A path, an address, a call or a field: code about a secret, not a secret.
fn path_or_code(text: &str) -> bool {
    text.starts_with(['/', '.', '~', '@', '#', '&', '*', '(', '[', '{'])
        || text.contains("://")
        || text.contains("::")
        || text.contains('(')
        || text.contains("->")
        || dotted_names(text)
        || iso_time(text)
}

/// `config.auth.token`: identifiers joined by dots.
fn dotted_names(text: &str) -> bool {
    text.contains('.')
        && text.split('.').all(|name| {
            !name.is_empty()
                && !name.starts_with(|first: char| first.is_ascii_digit())
                && name.bytes().filter(u8::is_ascii_digit).count() <= 2
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}

/// `2026-11-14T…`: the expiry of a token is not a secret.
fn iso_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn distinct(text: &str) -> usize {
    let mut seen = [false; 256];
    for byte in text.bytes() {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

/// Entropy in bits per byte.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    // Secrets are short; the beginning of a longer text is a sufficient sample.
    let bytes = &text.as_bytes()[..text.len().min(1024)];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|part| -part * part.log2())
        .sum()
}
