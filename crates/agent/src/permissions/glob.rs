//! Patterns with `*` and `?`.

/// True if a text matches a pattern: `*` matches any text, `?` one character, and a backslash quotes the next
/// character.
///
/// ```
/// use tidings_agent::permissions::{glob_matches, literal};
///
/// assert!(glob_matches("*.example.com", "docs.example.com"));
/// assert!(!glob_matches("*.example.com", "example.com"));
/// assert!(glob_matches(&literal("a*b"), "a*b") && !glob_matches(&literal("a*b"), "axb"));
/// ```
pub fn matches(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).matches(text)
}

/// Patterns for paths, prepared for many matches.
pub(crate) struct PathPatterns<'a> {
    /// Patterns for the last part of a path: those without `/`.
    names: Vec<Pattern<'a>>,
    /// Patterns for whole paths. A pattern for everything in a folder matches the folder too.
    paths: Vec<Pattern<'a>>,
}

impl<'a> PathPatterns<'a> {
    pub(crate) fn new(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let (paths, names): (Vec<&str>, Vec<&str>) =
            patterns.into_iter().partition(|pattern| pattern.contains('/'));
        let prepared = |patterns: Vec<&'a str>| patterns.into_iter().map(Pattern::new).collect();
        PathPatterns { names: prepared(names), paths: prepared(paths) }
    }

    /// True if a path matches one of the patterns.
    pub(crate) fn match_path(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let folder = format!("{path}/");
        // A star at the end also matches the slash.
        let matches_path = |pattern: &Pattern<'_>| {
            pattern.matches(&folder) || (!pattern.ends_with_star() && pattern.matches(path))
        };
        self.names.iter().any(|pattern| pattern.matches(name)) || self.paths.iter().any(matches_path)
    }
}

enum Pattern<'a> {
    /// Stars only at the ends: most patterns are such, and are matched often.
    Plain { from_start: bool, middle: &'a str, to_end: bool },
    /// Any other.
    Tokens(Vec<GlobToken>),
}

impl<'a> Pattern<'a> {
    fn new(pattern: &'a str) -> Self {
        let (from_start, rest) = pattern.strip_prefix('*').map_or((true, pattern), |rest| (false, rest));
        let (to_end, middle) = rest.strip_suffix('*').map_or((true, rest), |rest| (false, rest));
        if middle.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'\\')) {
            Pattern::Tokens(tokens(pattern).collect())
        } else {
            Pattern::Plain { from_start, middle, to_end }
        }
    }

    fn ends_with_star(&self) -> bool {
        match self {
            Pattern::Plain { to_end, .. } => !to_end,
            Pattern::Tokens(tokens) => tokens.last() == Some(&GlobToken::Any),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Plain { from_start: true, middle, to_end: true } => text == *middle,
            Pattern::Plain { from_start: true, middle, to_end: false } => text.starts_with(middle),
            Pattern::Plain { from_start: false, middle, to_end: true } => text.ends_with(middle),
            Pattern::Plain { from_start: false, middle, to_end: false } => text.contains(middle),
            Pattern::Tokens(tokens) => tokens_match(tokens, text),
        }
    }
}

fn tokens_match(pattern: &[GlobToken], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Position to continue from if the rest after the last `*` does not match.
    let mut retry = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(GlobToken::Any) => {
                retry = Some((p, t));
                p += 1;
            }
            Some(GlobToken::One) => {
                p += 1;
                t += 1;
            }
            Some(GlobToken::Char(c)) if *c == text[t] => {
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
    pattern[p..].iter().all(|part| *part == GlobToken::Any)
}

/// True if some text matches both patterns. In the first one `[…]` matches anything, which is more than in a
/// shell.
pub(super) fn overlap(shell: &str, pattern: &str) -> bool {
    let shell = match (shell.find('['), shell.rfind(']')) {
        (Some(open), Some(close)) if open < close => format!("{}*{}", &shell[..open], &shell[close + 1..]),
        _ => shell.to_owned(),
    };
    let (left, right): (Vec<GlobToken>, Vec<GlobToken>) =
        (tokens(&shell).collect(), tokens(pattern).collect());
    // Dynamic programming from the ends: `here[other]` tells if the rest of `left` from `at` and the rest of
    // `right` from `other` have a text in common; `behind` is the same for `at + 1`.
    let mut behind = vec![false; right.len() + 1];
    for at in (0..=left.len()).rev() {
        let mut here = vec![false; right.len() + 1];
        for other in (0..=right.len()).rev() {
            here[other] = match (left.get(at), right.get(other)) {
                (None, None) => true,
                (Some(GlobToken::Any), other_part) => {
                    behind[other] || (other_part.is_some() && here[other + 1])
                }
                (part, Some(GlobToken::Any)) => here[other + 1] || (part.is_some() && behind[other]),
                (Some(GlobToken::Char(a)), Some(GlobToken::Char(b))) => a == b && behind[other + 1],
                (Some(_), Some(_)) => behind[other + 1],
                _ => false,
            };
        }
        behind = here;
    }
    behind[0]
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

/// The text that a pattern matches, if there is only one.
pub(super) fn only_text(pattern: &str) -> Option<String> {
    tokens(pattern).map(|part| if let GlobToken::Char(c) = part { Some(c) } else { None }).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GlobToken {
    Any,
    One,
    Char(char),
}

fn tokens(pattern: &str) -> impl Iterator<Item = GlobToken> {
    let mut chars = pattern.chars();
    std::iter::from_fn(move || {
        Some(match chars.next()? {
            '*' => GlobToken::Any,
            '?' => GlobToken::One,
            '\\' => GlobToken::Char(chars.next().unwrap_or('\\')),
            c => GlobToken::Char(c),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_patterns_overlap_if_one_text_matches_both() {
        for (shell, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "abd", false),
            ("a*", "*c", true),
            ("a?", "abc", false),
            ("a??", "ab*", true),
            ("*", "*x*", true),
            ("", "*", true),
            ("", "?", false),
            ("[ab]c", "bc", true),
            ("s[a-z]cret.txt", "*secret*", true),
            ("*.rs", "*.env", false),
            ("id*", "id_rsa*", true),
            ("x*", "id_rsa*", false),
            ("*", "", true),
        ] {
            assert_eq!(overlap(shell, pattern), expected, "{shell} and {pattern}");
        }
    }
}
