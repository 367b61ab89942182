//! Distinguishes secrets from ordinary words in the same positions.

use super::encodings::base64_decoded;

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
    !text.is_empty()
        && !text.starts_with(['-', '$', '<', '[', '{', '/', '~', '@', '\\'])
        && !is_stand_in(text)
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

/// The value of an element that is named like a secret.
pub(super) fn xml_value(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    yaml_value(text) && (has_digit || !text.contains(char::is_whitespace))
}

/// The value of a cookie: settings such as `theme=dark` and attributes such as `Path=/` are not secret.
pub(super) fn cookie_value(text: &str) -> bool {
    let has = |class: fn(&u8) -> bool| text.bytes().any(|byte| class(&byte));
    let both_cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    !placeholder(text) && !path_or_code(text) && (has(u8::is_ascii_digit) || both_cases || text.len() >= 16)
}

/// Base64 of a user and a password, as in `Basic` headers and in Docker's configuration.
pub(super) fn encoded_login(text: &str) -> bool {
    let decoded = base64_decoded(text).and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|login| {
        login.split_once(':').is_some_and(|(user, password)| !user.is_empty() && !password.is_empty())
            && !login.contains(char::is_control)
    })
}

/// The words of a wallet: prose has words that the list of such words does not contain.
pub(super) fn mnemonic(text: &str) -> bool {
    const OTHERS: &[&str] = &[
        "and", "are", "been", "but", "for", "from", "has", "its", "not", "our", "the", "their", "was",
        "were", "which", "with", "would",
    ];
    let words = text.split(|letter: char| !letter.is_ascii_lowercase()).filter(|word| word.len() >= 3);
    let mut count = 0;
    for word in words {
        if OTHERS.contains(&word) {
            return false;
        }
        count += 1;
    }
    count >= 12
}

/// A line of a password file of `PostgreSQL`: the position is proof, but addresses and times look alike.
pub(super) fn pgpass(text: &str) -> bool {
    password(text) && !text.starts_with(['/', ':']) && !text.contains("::")
}

/// A random-looking value of a signature or a key in an address.
pub(super) fn url_key(text: &str) -> bool {
    key(text) && !text.contains("..")
}

/// Returns true if a key of this name may hold a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    const PARTS: &[&str] = &[
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "auth",
        "credential",
        "cookie",
        "mnemonic",
        "seed",
        "phrase",
        "dsn",
        "psk",
        "bearer",
        "wallet",
    ];
    let lower = name.to_ascii_lowercase();
    PARTS.iter().any(|part| lower.contains(part))
}

/// Returns true if a key of this name holds a password.
pub(super) fn names_a_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["password", "passwd", "passphrase", "passcode", "pwd"].iter().any(|end| lower.ends_with(end))
}

/// Returns true if a value begins with a name of its own: `client_secret=…`.
pub(super) fn nests_a_name(text: &str, names: fn(&str) -> bool) -> bool {
    let Some((name, value)) = text.split_once([':', '=']) else { return false };
    // Padding at the end of a key is not a sign.
    !value.trim_end_matches('=').is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
        && name.bytes().filter(u8::is_ascii_digit).count() <= 2
        && names(name)
}

/// Returns true for a secret that no other text contains by chance, so that it is replaced wherever it
/// stands.
pub(super) fn is_distinctive(text: &str) -> bool {
    let has = |class: fn(&u8) -> bool| text.bytes().any(|byte| class(&byte));
    let letters = has(u8::is_ascii_alphabetic);
    let both_cases = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let others = text.bytes().any(|byte| !byte.is_ascii_alphanumeric());
    // Words and numbers have few kinds of characters, and need more of them.
    let length_min = match (has(u8::is_ascii_digit), letters || !text.is_ascii()) {
        (true, true) => 8,
        (false, true) if both_cases || others => 12,
        (false, true) => 20,
        (true, false) if others => 12,
        _ => 16,
    };
    text.len() >= length_min && entropy(text) > 2.0 && !iso_time(text)
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
