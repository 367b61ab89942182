//! Patterns with `*` and `?`.

/// Whether a text matches a pattern: `*` stands for any text, `?` for one character, and a backslash takes the meaning
/// of what follows it away.
///
/// ```
/// use tidings_agent::permissions::{glob_matches, literal};
///
/// assert!(glob_matches("*.example.com", "docs.example.com"));
/// assert!(!glob_matches("*.example.com", "example.com"));
/// assert!(glob_matches(&literal("a*b"), "a*b") && !glob_matches(&literal("a*b"), "axb"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<Part> = parts(pattern).collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where to go on if what follows the last `*` does not fit.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(Part::Any) => {
                retry = Some((p, t));
                p += 1;
            }
            Some(Part::One) => {
                p += 1;
                t += 1;
            }
            Some(Part::Char(c)) if *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    p = star + 1;
                    t = from + 1;
                    retry = Some((star, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|part| *part == Part::Any)
}

/// The pattern that matches exactly this text.
pub fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// The one text that a pattern matches, if it is only one.
pub(super) fn only_text(pattern: &str) -> Option<String> {
    parts(pattern).map(|part| if let Part::Char(c) = part { Some(c) } else { None }).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Char(char),
}

fn parts(pattern: &str) -> impl Iterator<Item = Part> {
    let mut chars = pattern.chars();
    std::iter::from_fn(move || {
        Some(match chars.next()? {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::Char(chars.next().unwrap_or('\\')),
            c => Part::Char(c),
        })
    })
}
