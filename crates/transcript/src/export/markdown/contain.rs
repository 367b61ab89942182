//! Keeps text inside its place in a Markdown page, whatever is in it.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::super::safe::safe_text;

/// How often HTML is looked for again. What was hidden by a tag shows once the tag is text; more than a few layers of
/// that are nobody's prose.
const LAYERS_MAX: usize = 8;

/// Markdown from a session as a block of its own: HTML in it is text, and a fence that it leaves open is closed.
///
/// Code stays as it is. What is code only a parser of Markdown can say: fences in lists, backticks over several lines,
/// marks that a backslash takes away.
pub(super) fn contained(text: &str) -> String {
    let mut text = safe_text(text).trim_end().to_owned();
    text.push('\n');
    for _ in 0..LAYERS_MAX {
        let tags = html_in(&text);
        if tags.is_empty() {
            return closed(text);
        }
        text = without_tags(&text, &tags);
    }
    let all = 0..text.len();
    closed(without_tags(&text, &[all]))
}

/// Where a parser sees HTML.
fn html_in(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new(text).into_offset_iter();
    let html = events.filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)));
    html.map(|(_, place)| place).filter(|place| text[place.clone()].contains('<')).collect()
}

/// The text with what begins a tag, a comment or a declaration at these places as text.
fn without_tags(text: &str, places: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len() + 4 * places.len());
    let mut copied = 0;
    for place in places {
        for (at, _) in text[place.clone()].match_indices('<') {
            let at = place.start + at;
            // Places may overlap where one is inside of another.
            if at >= copied {
                out.push_str(&text[copied..at]);
                out.push_str("&lt;");
                copied = at + 1;
            }
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The text with an end to the fence that it leaves open; as code, if that does not end it.
fn closed(mut text: String) -> String {
    if lets_others_follow(&text) {
        return text;
    }
    let fences = Parser::new(&text).into_offset_iter();
    let starts = fences.filter_map(|(event, place)| {
        matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))).then_some(place.start)
    });
    if let Some(start) = starts.last() {
        let marks = text[start..].trim_start();
        let mark = marks.chars().next().unwrap_or('`');
        let length = marks.chars().take_while(|other| *other == mark).count();
        let end: String = std::iter::repeat_n(mark, length).chain(['\n']).collect();
        text.push_str(&end);
    }
    if lets_others_follow(&text) { text } else { fence(&text, "") }
}

/// Whether what comes after the text is a paragraph of its own.
fn lets_others_follow(text: &str) -> bool {
    let probe = format!("{text}\nx\n");
    let at = text.len() + 1;
    let follows = |(event, place): (Event<'_>, Range<usize>)| {
        matches!(event, Event::Start(Tag::Paragraph)) && place.start == at
    };
    Parser::new(&probe).into_offset_iter().any(follows)
}

/// Text as code between fences that nothing in it can close.
pub(super) fn fence(text: &str, language: &str) -> String {
    let marks = "`".repeat(longest_run(text, '`').max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{marks}{language}\n{text}{end}{marks}\n")
}

/// One line as code.
pub(super) fn inline_code(text: &str) -> String {
    let text = super::safe_line(text);
    if text.is_empty() {
        return text;
    }
    let marks = "`".repeat(longest_run(&text, '`') + 1);
    // A backtick at an end would be taken for one of the marks.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// The text as a quotation.
pub(super) fn quoted(text: &str) -> String {
    text.trim_end().lines().fold(String::new(), |mut out, line| {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
        out
    })
}

/// Text inside an HTML element, where no Markdown is read.
pub(super) fn html_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in text.chars() {
        run = if character == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn html_becomes_text_outside_of_code() {
        for (text, expected) in [
            ("a < b", "a < b\n"),
            ("</details><script>x</script>", "&lt;/details>&lt;script>x&lt;/script>\n"),
            ("use `<b>` or ``<i>`x``", "use `<b>` or ``<i>`x``\n"),
            ("`open <b>", "`open &lt;b>\n"),
            ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>\n"),
            ("<!-- hidden", "&lt;!-- hidden\n"),
            ("````\n```\n<b>", "````\n```\n<b>\n````\n"),
            ("~~~\n```\n~~~ x", "~~~\n```\n~~~ x\n~~~\n"),
        ] {
            assert_eq!(contained(text), expected);
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fence("a", "sh"), "```sh\na\n```\n");
        assert_eq!(fence("a ```` b\n", ""), "`````\na ```` b\n`````\n");
        assert_eq!(inline_code("`a`"), "`` `a` ``");
        assert_eq!(quoted("a\n\nb\n"), "> a\n>\n> b\n");
    }

    /// F121: marks that only look like fences or code let nothing out.
    #[test]
    fn f121_what_only_looks_like_code_is_no_code() {
        for text in [
            "-```\n</code><script>x</script>",
            "`\n`<script>`",
            "\\`<script>`",
            "- a\n  ```\n<script>x</script>",
            "> ```\n<script>x</script>",
            "<a `<script>`",
        ] {
            let page = contained(text) + "\nEND\n";
            assert!(html_in(&page).is_empty(), "{page}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]
        #[test]
        fn no_text_gets_out(text in "[`~<>!/a\\\\\n |\t-]{0,80}") {
            let page = contained(&text);
            // What follows is neither code nor part of an HTML block, and nothing in it is HTML.
            prop_assert!(html_in(&page).is_empty(), "{}", page);
            prop_assert!(lets_others_follow(&page), "{}", page);
        }
    }
}
