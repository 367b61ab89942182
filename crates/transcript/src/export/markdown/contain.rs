//! Keeps text inside its place in a Markdown page, whatever is in it.

use super::super::safe::safe_text;

/// Markdown from a session as a block of its own: HTML in it is text, and a fence that it leaves open is closed.
///
/// Code stays as it is: what stands between fences or backticks is no HTML anyway.
pub(super) fn contained(text: &str) -> String {
    let text = safe_text(text);
    let mut out = String::with_capacity(text.len() + 16);
    let mut open: Option<Fence> = None;
    for line in text.trim_end().lines() {
        let begins = Fence::of(line);
        match (&open, begins) {
            (None, Some(fence)) => {
                open = Some(fence);
                out.push_str(line);
            }
            (None, None) => push_without_html(line, &mut out),
            (Some(fence), Some(other)) if other.closes(fence) => {
                open = None;
                out.push_str(line);
            }
            (Some(_), _) => out.push_str(line),
        }
        out.push('\n');
    }
    if let Some(fence) = open {
        out.extend(std::iter::repeat_n(fence.mark, fence.length));
        out.push('\n');
    }
    out
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

struct Fence {
    mark: char,
    length: usize,
    /// Whether something follows the marks.
    has_info: bool,
}

impl Fence {
    /// The fence that a line is. Those inside of quotations and lists count too: taking one fence too many for open
    /// only adds a line, and one too few would let text out.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_start_matches([' ', '>', '\t', '-', '*', '+']);
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = line.trim_start_matches(mark);
        let length = line.len() - rest.len();
        // Backticks after the marks make it code in a line.
        let is_fence = length >= 3 && !(mark == '`' && rest.contains('`'));
        is_fence.then(|| Fence { mark, length, has_info: !rest.trim().is_empty() })
    }

    fn closes(&self, open: &Fence) -> bool {
        self.mark == open.mark && self.length >= open.length && !self.has_info
    }
}

/// Copies a line; what could be a tag, a comment or a declaration of HTML becomes text, but not in code.
fn push_without_html(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find(['`', '<']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('<') {
            let is_html =
                after.starts_with(|next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'));
            out.push_str(if is_html { "&lt;" } else { "<" });
            rest = after;
            continue;
        }
        let marks = rest.len() - rest.trim_start_matches('`').len();
        let code = code_length(rest, marks).unwrap_or(marks);
        out.push_str(&rest[..code]);
        rest = &rest[code..];
    }
    out.push_str(rest);
}

/// How long the code is that `text` begins with, its marks included.
fn code_length(text: &str, marks: usize) -> Option<usize> {
    let mut at = marks;
    loop {
        at += text[at..].find('`')?;
        let run = text[at..].len() - text[at..].trim_start_matches('`').len();
        at += run;
        if run == marks {
            return Some(at);
        }
    }
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

    proptest! {
        #[test]
        fn no_text_gets_out(text in "[`~<>!/a\\n -]{0,80}") {
            let page = format!("{}\nEND\n", contained(&text));
            // What follows is neither code nor part of an HTML block.
            let again = contained(&page);
            prop_assert_eq!(again, page);
        }
    }
}
