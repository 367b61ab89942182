//! Splitting into lines: faults F1, F2, F6, F7, F15, F16.

use tidings_protocol::FrameRef;
use tidings_protocol::ndjson::{LINE_BYTES_MAX, Line, OVERSIZED_HEAD_BYTES, Splitter};

use crate::robustness::split;

#[test]
fn f1_a_line_over_the_cap_is_one_event_and_reading_goes_on() {
    let mut splitter = Splitter::default();
    let mut seen = Vec::new();
    let mut largest = 0;
    let mut push = |bytes: &[u8]| {
        splitter.push(bytes);
        while let Some(line) = splitter.next() {
            match line {
                Line::Json(bytes) => seen.push(format!("json {}", bytes.len())),
                Line::Oversized { len, head } => {
                    assert!(head.starts_with(b"{\"big\":\"xxx") && head.len() == OVERSIZED_HEAD_BYTES);
                    seen.push(format!("oversized {len}"));
                }
                other => panic!("{other:?}"),
            }
        }
        largest = largest.max(splitter.buffered());
    };
    push(b"{\"a\":1}\n{\"big\":\"");
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..70 {
        push(&megabyte);
    }
    push(b"\"}\n{\"b\":2}\n");
    assert_eq!(seen, ["json 8", &format!("oversized {}", (70 << 20) + 11), "json 8"]);
    assert!(largest <= LINE_BYTES_MAX + (8 << 20), "{largest} bytes were held");
}

#[test]
fn f2_the_cap_counts_per_line_not_per_session() {
    let line = format!("{{\"pad\":\"{}\"}}\n", "x".repeat(1000));
    let mut splitter = Splitter::new(1 << 20);
    let mut whole = 0;
    for _ in 0..50_000 {
        splitter.push(line.as_bytes());
        while let Some(Line::Json(_)) = splitter.next() {
            whole += 1;
        }
    }
    assert_eq!(whole, 50_000);
}

#[test]
fn f6_only_lf_ends_a_line() {
    let line = "{\"type\":\"x\",\"t\":\"a\u{2028}b\u{2029}c\u{85}d\"}\n".to_owned();
    assert_eq!(split(line.as_bytes(), 7, 1 << 20).len(), 1);
    assert_eq!(FrameRef::decode(line.as_bytes()).unwrap().name(), "x");
    // Vertical tab and form feed do not end lines either, though inside a string they break the JSON.
    assert_eq!(split(b"{\"a\":\"\x0b\x0c\"}\n", 3, 1 << 20).len(), 1);
}

#[test]
fn f7_text_between_frames_is_noise_and_costs_no_frame() {
    let stream =
        b"Welcome!\n{\"type\":\"user\"}\n[debug] x\nnull\n[1]\n42\n\"s\"\n{\"type\":\"result\"}\nbye";
    let kinds: Vec<_> = split(stream, 5, 1 << 20).iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, ["noise", "json", "noise", "noise", "noise", "noise", "noise", "json", "noise"]);
}

#[test]
fn f15_frames_are_the_same_at_every_split_point() {
    let stream = "{\"t\":\"héllo 🚀 \\ud83d\"}\r\n\n  \nnoise ✓\n{\"u\":\"日本\"}";
    let whole = split(stream.as_bytes(), stream.len(), 1 << 20);
    assert_eq!(whole.len(), 5);
    for at in 0..=stream.len() {
        let mut splitter = Splitter::default();
        let mut lines = Vec::new();
        for piece in [&stream.as_bytes()[..at], &stream.as_bytes()[at..]] {
            splitter.push(piece);
            while let Some(Line::Json(line) | Line::Noise(line) | Line::Blank(line)) = splitter.next() {
                lines.push(line.to_vec());
            }
        }
        if let Some(Line::Json(line)) = splitter.finish() {
            lines.push(line.to_vec());
        }
        let expected: Vec<_> = whole.iter().map(|(_, line)| line.clone()).collect();
        assert_eq!(lines, expected, "split at {at}");
    }
    assert_eq!(split(stream.as_bytes(), 1, 1 << 20), whole);
}

#[test]
fn f16_crlf_bom_blank_lines_and_a_missing_last_line_end_are_tolerated() {
    let variants = [
        "{\"type\":\"user\"}\n{\"type\":\"result\"}\n",
        "{\"type\":\"user\"}\r\n{\"type\":\"result\"}\r\n",
        "\u{feff}{\"type\":\"user\"}\n{\"type\":\"result\"}\n",
        "\n\n{\"type\":\"user\"}\n \t\r\n{\"type\":\"result\"}\n\n",
        "{\"type\":\"user\"}\n{\"type\":\"result\"}",
        "  {\"type\":\"user\"}  \n\t{\"type\":\"result\"}\n",
    ];
    for variant in variants {
        let lines = split(variant.as_bytes(), 4, 1 << 20);
        let names: Vec<_> = lines
            .iter()
            .filter(|(kind, _)| *kind == "json")
            .map(|(_, line)| FrameRef::decode(line).unwrap().name().into_owned())
            .collect();
        assert_eq!(names, ["user", "result"], "{variant:?}");
        // Nothing of the stream is lost: the lines concatenate to it.
        let whole: Vec<u8> = lines.into_iter().flat_map(|(_, line)| line).collect();
        assert_eq!(whole, variant.as_bytes());
    }
}
