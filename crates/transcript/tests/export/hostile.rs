//! Hostile contents of sessions.

use proptest::prelude::*;
use tidings_transcript::export::{Format, Options};

use super::made::{answer, call, json, prompt, result, root, text_block};
use super::{balance, full, only_session, text, write};
use crate::test_root::TestRoot;

const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "</details></main><script>alert(1)</script>",
    "</pre></code><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "[click](javascript:alert(1)) ![p](https://evil.example/pixel) <a href=javascript:alert(1)>x</a>",
    "[x]: javascript:alert(1)\n\n[x] [x][x]",
    "```\n</code></pre><script>alert(1)</script>",
    "~~~~\n````\n```",
    "<!-- open\n<details>\n<![CDATA[ <?php",
    "\u{1b}[2J\u{1b}]8;;https://evil.example\u{7}x\u{1b}]8;;\u{7}\u{9b}1A\rover",
    "\u{202e}gpj.exe\u{2066}\u{200f}",
    "&lt;script&gt; &#60;script&#62; &amp;",
    "| a | b |\n|---|---|\n| <b> | `|` |",
    "> > > > - - - # ## ### <h1>",
    "<style>*{display:none}</style><base href=//evil.example>",
    "\u{0}\u{2028}\u{2029}\u{feff}",
];

/// A session with `text` in every place where text can stand.
fn session_of(text: &str) -> TestRoot {
    let it = json(text);
    let kept = format!(
        r#"{{"filePath":{it},"oldString":{it},"newString":"b","structuredPatch":[{{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":[{},"+b"]}}]}}"#,
        json(&format!("-{text}"))
    );
    root(&[
        format!(r#"{{"type":"custom-title","customTitle":{it},"sessionId":"x"}}"#),
        prompt("u1", None, 0, &it)
            .replace("\"cwd\":\"/p\"", &format!("\"cwd\":{it},\"slug\":{it}"))
            .replace("\"gitBranch\":\"main\"", &format!("\"gitBranch\":{it}")),
        answer("a1", "u1", 1, &text_block(text)).replace("\"claude-test\"", &it),
        answer("a2", "a1", 2, &format!(r#"{{"type":"thinking","thinking":{it},"signature":"s"}}"#)),
        answer("a3", "a2", 3, &call("t1", text, &format!("{{{it}:{it}}}"))),
        result("r1", "a3", 4, "t1", &it, &it),
        answer(
            "a4",
            "r1",
            5,
            &call("t2", "Edit", &format!(r#"{{"file_path":{it},"old_string":{it},"new_string":"b"}}"#)),
        ),
        result(
            "r2",
            "a4",
            6,
            "t2",
            &format!(
                r#"[{{"type":"text","text":{it}}},{{"type":"image","source":{{"type":"base64","media_type":{it},"data":{it}}}}},{{"type":{it}}}]"#
            ),
            &kept,
        ),
        prompt(
            "u2",
            Some("r2"),
            7,
            &json(&format!("<command-name>{text}</command-name><command-args>{text}</command-args>")),
        ),
        format!(r#"{{"type":{it},"uuid":"x1","parentUuid":"u2","sessionId":{it},"timestamp":{it}}}"#),
        format!(
            r#"{{"type":"system","subtype":{it},"content":{it},"uuid":"x2","parentUuid":"x1","sessionId":"x","timestamp":"2026-11-14T10:00:09.000Z"}}"#
        ),
        answer("a5", "x2", 10, &text_block("THE END")),
    ])
}

fn check(said: &str) -> Result<(), TestCaseError> {
    let root = session_of(said);
    let files = only_session(root.path());
    for options in [Options::default(), full()] {
        let page = write(&files, Format::Html, &options, None);
        prop_assert_eq!(balance::complaints(&page), Vec::<String>::new(), "{}", page);
        let shown = write(&files, text(), &options, None);
        for page in [&page, &shown, &write(&files, Format::Markdown, &options, None)] {
            let steers = |c: char| {
                (c.is_control() && c != '\n' && c != '\t')
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            prop_assert!(!page.contains(steers), "{:?}", page);
            prop_assert!(page.contains("THE END"));
        }
        let markdown = write(&files, Format::Markdown, &options, None);
        let html = {
            let mut html = String::new();
            pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&markdown));
            html
        };
        // The text after the hostile text is still a separate paragraph, and the only tags are those that we
        // write.
        prop_assert!(html.contains("<p>THE END</p>"), "{}", html);
        for tag in ["<script", "<img", "<svg", "<style", "<base", "<h1>\n", "href=\"javascript"] {
            prop_assert!(!html.contains(tag), "{}", html);
        }
        prop_assert_eq!(html.matches("<details>").count(), html.matches("</details>").count(), "{}", html);
        for line in write(&files, Format::JsonLines, &options, None).lines() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok());
        }
    }
    Ok(())
}

#[test]
fn f121_f122_no_text_gets_out_of_its_place() {
    for text in HOSTILE {
        check(text).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn f121_no_mixture_gets_out_of_its_place(parts in prop::collection::vec(prop::sample::select(HOSTILE), 1..4), space in "[ \\n`<>-]{0,4}") {
        check(&parts.join(&space))?;
    }
}
