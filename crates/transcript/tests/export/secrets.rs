//! Exports with secrets redacted.

use tidings_transcript::export::{Format, Options};
use tidings_transcript::redact::Redactor;

use super::made::{ID, answer, call, json, prompt, result, root, text_block};
use super::{full, only_session, text, write};

// Users who shared a session pushed the keys in its transcript to public repositories.
#[test]
fn f123_no_format_lets_a_secret_through() {
    let token = ["ghp", "_", "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"].concat();
    let key = ["AKIA", "Q3EGRIFL5XN2WZ7T"].concat();
    // Escapes in the middle of a secret hide it from a search over the bytes of the file.
    let hidden = json(&format!("clone with {token}")).replace("_0aB", "\\u005f0\\u0061B");
    let long = format!("{} {token}", "x".repeat(180));
    let root = root(&[
        format!(
            r#"{{"type":"custom-title","customTitle":{},"sessionId":"{ID}"}}"#,
            json(&format!("About {key}"))
        ),
        prompt("u1", None, 0, &hidden),
        answer("a1", "u1", 1, &call("t1", "Bash", &format!(r#"{{"command":{}}}"#, json(&long)))),
        result(
            "r1",
            "a1",
            2,
            "t1",
            &json(&format!("export AWS={key}\n{token}")),
            &format!(r#"{{"stdout":{},"persistedOutputPath":"b.txt"}}"#, json(&token)),
        ),
        answer("a2", "r1", 3, &text_block(&format!("Your token is {token}"))),
        format!("{{\"type\":\"user\",\"uuid\":\"torn\",\"message\":\"{token}"),
    ]);
    root.write(&format!("-p/{ID}/tool-results/b.txt"), &format!("{token} in a file\n"));
    let files = only_session(root.path());
    for format in [text(), Format::Markdown, Format::Html, Format::Json, Format::JsonLines, Format::Lines] {
        for options in [Options::default(), full()] {
            let open = write(&files, format, &options, None);
            assert!(open.contains(&token), "the test must have something to find");
            let mut redactor = Redactor::new();
            let redacted = write(&files, format, &options, Some(&mut redactor));
            assert!(!redacted.contains(&token) && !redacted.contains(&key), "{redacted}");
            // Not even the rest of one after a line was cut.
            assert!(!redacted.contains("ghp_0aB"), "{redacted}");
            assert!(redacted.contains("[redacted: github-token #1]"), "{redacted}");
            assert!(!redacted.contains("github-token #2"), "one secret has one number: {redacted}");
            assert!(
                redactor.counts().any(|(family, _)| family == "aws-access-key")
                    || matches!(format, Format::JsonLines)
            );
        }
    }
    for line in write(&files, Format::Lines, &Options::default(), Some(&mut Redactor::new())).lines().take(5)
    {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn lines_without_secrets_keep_their_bytes_also_when_damaged() {
    let root = root(&[prompt("u1", None, 0, "\"go\"")]);
    let files = only_session(root.path());
    let path = &files.main.as_ref().unwrap().path;
    let mut bytes = std::fs::read(path).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"message\":\"\xff\xfe\"}\n\n{\"type\":\"us");
    std::fs::write(path, &bytes).unwrap();
    let files = only_session(root.path());
    let session = tidings_transcript::session::Session::open(&files).unwrap();
    let mut out = Vec::new();
    let mut redactor = Redactor::new();
    tidings_transcript::export::export(
        &session,
        &files,
        Format::Lines,
        &Options::default(),
        Some(&mut redactor),
        &mut out,
    )
    .unwrap();
    assert_eq!(out, bytes);
}

#[test]
fn c22_a_nested_secret_reaches_neither_the_title_nor_the_heading() {
    let secret = "q7w8e9r0t1y2u3";
    for (parent, child) in [("credentials", "client_secret"), ("token", "access_token")] {
        let root = root(&[
            prompt("u1", None, 0, &json(&format!("{parent}:\n  {child}: {secret}"))),
            answer("a1", "u1", 1, &text_block("Stored.")),
        ]);
        let files = only_session(root.path());
        for format in [text(), Format::Markdown, Format::Html, Format::Json, Format::JsonLines, Format::Lines]
        {
            for options in [Options::default(), full()] {
                let redacted = write(&files, format, &options, Some(&mut Redactor::new()));
                assert!(!redacted.contains(secret), "{redacted}");
            }
        }
    }
}

// The title comes first in a document, and the name of the secret may come last.
#[test]
fn c23_a_secret_found_once_is_removed_from_the_whole_document() {
    let secret = "Tr0ub4dor-and-3";
    let root = root(&[
        format!(r#"{{"type":"custom-title","customTitle":"About {secret}","sessionId":"{ID}"}}"#),
        prompt("u1", None, 0, &json(&format!("Why does {secret} fail?"))),
        answer("a1", "u1", 1, &call("t1", "Bash", &format!(r#"{{"command":"try {secret}"}}"#))),
        result("r1", "a1", 2, "t1", &json("VHIwdWI0ZG9yLWFuZC0z"), "{}"),
        answer("a2", "r1", 3, &text_block(&format!("<password>{secret}</password>"))),
    ]);
    let files = only_session(root.path());
    for format in [text(), Format::Markdown, Format::Html, Format::Json, Format::JsonLines, Format::Lines] {
        for options in [Options::default(), full()] {
            let redacted = write(&files, format, &options, Some(&mut Redactor::new()));
            assert!(!redacted.contains(secret), "{redacted}");
            assert!(!redacted.contains("VHIwdWI0"), "{redacted}");
            assert!(!redacted.contains("xml-secret #2"), "one secret has one number: {redacted}");
        }
    }
}
