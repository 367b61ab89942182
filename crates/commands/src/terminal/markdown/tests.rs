//! Tests of Markdown in the terminal, whole and in deltas.

use proptest::prelude::*;

use super::*;
use crate::terminal::line::Line;

const PAGE: &str = "\
# The plan

First **bold**, then *slanted* and ~~gone~~, with `code` and a [link](https://example.org) that goes on until it wraps.
A line that\\
breaks hard.

- one
- two with more words than fit into the columns that there are
  - nested **deep**
    still nested

1. first
2. second

   a paragraph of the second
- [x] done
- [ ] open

> quoted words
> go on
>
> and on

```rust
fn main() {
    println!(\"*not slanted*\");
}
```

| name | what it is |
|---|---|
| a | a thing of many words that does not fit |
| 項目 | `code` |

---

<b>html</b> ![picture](a.png) <https://example.org>
";

fn shown(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text().trim_end().to_owned() + "\n").collect()
}

#[test]
fn markdown_reads_well() {
    insta::assert_snapshot!("wide", shown(&render(PAGE, 60)));
    insta::assert_snapshot!("narrow", shown(&render(PAGE, 24)));
    let ansi: String =
        render(PAGE, 60).iter().take(5).map(|line| line.ansi().replace('\x1b', "␛") + "\n").collect();
    insta::assert_snapshot!("styled", ansi);
}

#[test]
fn a_stream_ends_up_as_the_whole() {
    for size in [1, 3, 7, 50, 10_000] {
        let mut stream = MarkdownStream::default();
        let mut lines = Vec::new();
        for piece in pieces(PAGE, size) {
            lines.extend(stream.push(&piece, 60));
        }
        lines.extend(stream.finish(60));
        assert_eq!(shown(&lines), shown(&render(PAGE, 60)), "pieces of {size}");
    }
}

#[test]
fn code_leaves_line_by_line_and_the_rest_waits() {
    let mut stream = MarkdownStream::default();
    assert_eq!(shown(&stream.push("Words that", 40)), "");
    assert_eq!(shown(&stream.tail(40)), "Words that\n");
    assert_eq!(shown(&stream.push(" end.\n\n```sh\n", 40)), "Words that end.\n\n");
    assert_eq!(shown(&stream.push("ls\ncd", 40)), "    ls\n");
    assert_eq!(shown(&stream.tail(40)), "    cd\n");
    assert_eq!(shown(&stream.push(" x\n```\n", 40)), "    cd x\n");
    assert_eq!(shown(&stream.tail(40)), "");
    assert_eq!(shown(&stream.push("After", 40)), "");
    assert_eq!(shown(&stream.finish(40)), "\nAfter\n");
}

#[test]
fn hostile_nesting_is_no_trouble() {
    for text in
        [">".repeat(5_000), "- ".repeat(5_000), "*".repeat(5_000), "[".repeat(5_000), "|".repeat(5_000)]
    {
        let mut stream = MarkdownStream::default();
        let mut lines = stream.push(&text, 40);
        lines.extend(stream.finish(40));
        assert!(lines.len() < 10_000);
    }
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

proptest! {
    #[test]
    fn no_text_steers_the_terminal(text in "(\\PC|\n|\x1b\\[31m|\u{9b}|\u{202e}|```|\\||- |> |# ){0,60}", size in 1_usize..9) {
        let mut stream = MarkdownStream::default();
        let mut lines = Vec::new();
        for piece in pieces(&text, size) {
            lines.extend(stream.push(&piece, 30));
            lines.extend(stream.tail(30));
        }
        lines.extend(stream.finish(30));
        for line in lines {
            prop_assert!(!line.text().chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", line);
        }
    }
}
