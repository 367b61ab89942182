//! Invisible and misleading characters.

/// True if a character is invisible, reorders others, or looks like a space without being one.
///
/// Newline and tab are not hidden.
///
/// ```
/// use tidings_agent::permissions::is_hidden;
///
/// assert!(is_hidden('\u{202e}') && is_hidden('\u{200b}') && is_hidden('\r') && is_hidden('\u{a0}'));
/// assert!(!is_hidden('a') && !is_hidden('ä') && !is_hidden('\n'));
/// ```
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | ' ' => false,
        c if c.is_control() || c.is_whitespace() => true,
        // Unicode's default ignorable characters, and the marks that change the writing direction.
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// The text on one line with hidden characters escaped, limited to `chars_max` characters.
pub(crate) fn visible(text: &str, chars_max: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(chars_max));
    for (at, c) in text.chars().enumerate() {
        if at >= chars_max {
            shown.push_str("… (");
            shown.push_str(&text.chars().count().to_string());
            shown.push_str(" characters)");
            break;
        }
        match c {
            '\n' => shown.push('⏎'),
            '\t' => shown.push(' '),
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}
