//! Confines text to its container in a Markdown page, whatever it contains.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::super::sanitize::{is_safe_link, safe_text};
use crate::limits::MARKDOWN_LAYERS_MAX;

/// Markdown from a session as a separate block: HTML in it becomes text, and an open fence is closed. Images
/// become links, since fetching them would reveal the reader to their server, and unsafe links become text.
///
/// Code stays as it is. Only a Markdown parser can tell what is code: fences in lists, backticks over several
/// lines, marks escaped with a backslash.
pub(super) fn contained(text: &str) -> String {
    let mut text = safe_text(text).trim_end().to_owned();
    text.push('\n');
    for _ in 0..MARKDOWN_LAYERS_MAX {
        let marks = active_in(&text);
        if marks.is_empty() {
            return closed(text);
        }
        text = without_marks(&text, &marks);
    }
    fence(&text, "")
}

/// Offsets, in order, of constructs that would be more than text on the page: tags, images, unsafe links, and
/// link definitions, which would apply to the whole page, including messages of others.
fn active_in(text: &str) -> Vec<usize> {
    let parser = Parser::new(text);
    let meanings = parser.reference_definitions().iter();
    let meanings = meanings
        .filter_map(|(_, meaning)| text[meaning.span.clone()].find('[').map(|at| meaning.span.start + at));
    let mut marks: Vec<usize> = meanings.collect();
    for (event, place) in parser.into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let tags = text[place.clone()].match_indices('<');
                marks.extend(tags.map(|(at, _)| place.start + at));
            }
            Event::Start(Tag::Image { .. }) => marks.push(place.start),
            Event::Start(Tag::Link { dest_url, .. }) if !is_harmless_target(&dest_url) => {
                marks.push(place.start);
            }
            _ => {}
        }
    }
    marks.sort_unstable();
    // Constructs may be nested.
    marks.dedup();
    marks
}

/// Returns true for a path, or a link to a web page or mail.
fn is_harmless_target(url: &str) -> bool {
    let scheme = url.split(['/', '?', '#']).next().unwrap_or_default();
    !scheme.contains(':') || is_safe_link(url)
}

/// The text with the marks at these offsets escaped.
fn without_marks(text: &str, marks: &[usize]) -> String {
    let mut out = String::with_capacity(text.len() + 4 * marks.len());
    let mut copied = 0;
    for at in marks {
        out.push_str(&text[copied..*at]);
        copied = *at;
        if text[copied..].starts_with('<') {
            out.push_str("&lt;");
            copied += 1;
        } else {
            out.push('\\');
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The text with its open fence closed; as code, if that does not help.
fn closed(mut text: String) -> String {
    if ends_cleanly(&text) {
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
    if ends_cleanly(&text) { text } else { fence(&text, "") }
}

/// Returns true if text appended after it is a separate paragraph.
fn ends_cleanly(text: &str) -> bool {
    let probe = format!("{text}\nx\n");
    let at = text.len() + 1;
    let follows = |(event, place): (Event<'_>, Range<usize>)| {
        matches!(event, Event::Start(Tag::Paragraph)) && place.start == at
    };
    Parser::new(&probe).into_offset_iter().any(follows)
}

/// Text as code between fences that it cannot close.
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
    // A backtick at an end would be parsed as a delimiter.
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

/// Text inside an HTML element, where Markdown is not parsed.
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

    /// F121: an HTML page fetches no images and has no script links, and neither has a Markdown page.
    #[test]
    fn f121_pictures_become_links_and_dangerous_links_become_text() {
        for (text, expected) in [
            ("![](http://evil.example/p.png)", "\\![](http://evil.example/p.png)\n"),
            ("[![a](p.png)](https://a.example)", "[\\![a](p.png)](https://a.example)\n"),
            ("[x](javascript:alert(1))", "\\[x](javascript:alert(1))\n"),
            (
                "[x](&#106;avascript:alert(1)) <vbscript:x>",
                "\\[x](&#106;avascript:alert(1)) &lt;vbscript:x>\n",
            ),
            (
                "[x](data:text/html,x) [y](file:///etc/passwd)",
                "\\[x](data:text/html,x) \\[y](file:///etc/passwd)\n",
            ),
            (
                "[a](https://a.example) [b](src/b.rs#L1) <https://a.example/?q=a:b> [d](mailto:a@example.com)",
                "[a](https://a.example) [b](src/b.rs#L1) <https://a.example/?q=a:b> [d](mailto:a@example.com)\n",
            ),
            (
                "`![](http://x)` and\n\n    [x](javascript:y)",
                "`![](http://x)` and\n\n    [x](javascript:y)\n",
            ),
            // One message must not change the meaning of another.
            ("[x]: https://evil.example\n", "\\[x]: https://evil.example\n"),
            ("![x] [x][x]\n\n[x]: javascript:y", "\\![x] \\[x][x]\n\n\\[x]: javascript:y\n"),
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

    /// F121: marks that only look like fences or code let nothing escape.
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
            assert!(active_in(&page).is_empty(), "{page}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]
        #[test]
        fn no_text_gets_out(text in "[`~<>!/a\\\\\n |\t\\[\\]():-]{0,80}") {
            let page = contained(&text);
            // Text after it is neither code nor part of an HTML block, and nothing in it is more than text.
            prop_assert!(active_in(&page).is_empty(), "{}", page);
            prop_assert!(ends_cleanly(&page), "{}", page);
        }
    }
}
