//! Markdown from a session as inert HTML.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::escape::escaped;
use crate::export::sanitize::{is_safe_link, safe_text};
use crate::limits::MARKDOWN_BYTES_MAX;

/// Appends the text as HTML. Raw HTML in it is shown as text, links lead to web pages and mail only, and
/// external images are not fetched, since that would reveal the reader to their server.
pub(super) fn push(text: &str, out: &mut String) {
    if text.len() > MARKDOWN_BYTES_MAX {
        out.push_str("<pre>");
        super::escape::text(text, out);
        out.push_str("</pre>");
        return;
    }
    let safe = safe_text(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // For each open link, true if its end has to be written.
    let mut links: Vec<bool> = Vec::new();
    let events = Parser::new_ext(&safe, options).map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Link { dest_url, .. }) => {
            let is_safe = is_safe_link(&dest_url);
            links.push(is_safe);
            raw(if is_safe {
                format!("<a href=\"{}\" rel=\"noreferrer noopener\">", escaped(&dest_url))
            } else {
                String::new()
            })
        }
        Event::End(TagEnd::Link) => {
            raw(if links.pop() == Some(true) { "</a>".to_owned() } else { String::new() })
        }
        Event::Start(Tag::Image { dest_url, .. }) => {
            raw(format!("<span class=\"picture\" title=\"{}\">[picture: ", escaped(&dest_url)))
        }
        Event::End(TagEnd::Image) => raw("]</span>".to_owned()),
        // The page has headings of its own above these.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::SoftBreak => Event::HardBreak,
        other => other,
    });
    html::push_html(out, events);
}

fn raw<'e>(html: String) -> Event<'e> {
    Event::InlineHtml(CowStr::from(html))
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut out = String::new();
        push(text, &mut out);
        out
    }

    #[test]
    fn f121_markdown_cannot_script() {
        for (text, expected) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n"),
            ("[a](javascript:alert(1))", "<p>a</p>\n"),
            ("[a](JaVaScRiPt:alert(1))", "<p>a</p>\n"),
            ("[a](data:text/html,x)", "<p>a</p>\n"),
            ("[a](vbscript:x) [b](file:///etc/passwd) [c](//evil)", "<p>a b c</p>\n"),
            (
                "[a](https://example.com/?\"onclick=\"x)",
                "<p><a href=\"https://example.com/?&quot;onclick=&quot;x\" rel=\"noreferrer noopener\">a</a></p>\n",
            ),
            (
                "<https://example.com>",
                "<p><a href=\"https://example.com\" rel=\"noreferrer noopener\">https://example.com</a></p>\n",
            ),
            (
                "![x](https://example.com/pixel.png)",
                "<p><span class=\"picture\" title=\"https://example.com/pixel.png\">[picture: x]</span></p>\n",
            ),
            ("# Big {#id .class onclick=x}", "<h3>Big {#id .class onclick=x}</h3>\n"),
            (
                "```x\"><script>\n</code></pre><b>\n```",
                "<pre><code class=\"language-x&quot;&gt;&lt;script&gt;\">&lt;/code&gt;&lt;/pre&gt;&lt;b&gt;\n</code></pre>\n",
            ),
            ("a\u{202e}b\u{1b}[31mc", "<p>a\u{fffd}bc</p>\n"),
        ] {
            assert_eq!(html(text), expected);
        }
    }

    #[test]
    fn f121_an_obfuscated_scheme_is_no_link() {
        for text in [
            "[a](java\tscript:alert(1))",
            "[a](&#106;avascript:alert(1))",
            "[a](\u{1}javascript:alert(1))",
            "[a]( javascript:alert(1) )",
        ] {
            assert!(!html(text).contains("<a "), "{text:?} gave {}", html(text));
        }
    }
}
