//! A secret that was found once is replaced everywhere.

use super::*;

/// The text after another one revealed its secrets.
fn after(revealing: &str, text: &str) -> String {
    let mut redactor = Redactor::new();
    redactor.learn(revealing);
    redactor.redact(text).into_owned()
}

#[test]
fn c23_a_secret_is_removed_where_no_name_stands_beside_it() {
    for (revealing, text, expected) in [
        ("password: Tr0ub4dor&3", "try Tr0ub4dor&3 instead", "try [redacted: password #1] instead"),
        ("client_secret = \"q7w8-e9r0-t1y2\"", "(q7w8-e9r0-t1y2)", "([redacted: assigned-secret #1])"),
        (
            "sshpass -p s3cretpw99 ssh host",
            "s3cretpw99,s3cretpw99",
            "[redacted: password #1],[redacted: password #1]",
        ),
        // In JSON, in XML and in a URL.
        (
            "password: \"q7w8/e9r0\u{fc}&t1\"",
            "https://me@h/?p=q7w8%2Fe9r0%C3%BC%26t1 and q7w8/e9r0\u{fc}&amp;t1",
            "https://me@h/?p=[redacted: password #1] and [redacted: password #1]",
        ),
        ("postgres://app:p%40ssw0rd9@db/app", "PW p@ssw0rd9", "PW [redacted: database-url #1]"),
        // In base64, at each of the three positions.
        ("password: Tr0ub4dor&3", "a VHIwdWI0ZG9yJjM= b", "a [redacted: password #1] b"),
        ("password: Tr0ub4dor&3", "bTpUcjB1YjRkb3ImMw==", "[redacted: password #1]"),
        ("password: Tr0ub4dor&3", "x=OlRyMHViNGRvciYz", "x=[redacted: password #1]"),
        // The end of a title may be missing.
        ("password: Tr0ub4dor&3-and-more", "About Tr0ub4dor&3-an…", "About [redacted: password #1]"),
        // Short and everyday words stay, unless the same text stands before them.
        ("password: hunter", "the hunter and his dog", "the hunter and his dog"),
        ("password: hunter", "db: password: hunter port: 1", "db: password: [redacted: password #1] port: 1"),
        ("password: production", "deploy to production", "deploy to production"),
        ("PGPASSWORD=postgres psql", "the postgres server", "the postgres server"),
        ("password: abcd1234", "xabcd12345", "xabcd12345"),
    ] {
        assert_eq!(after(revealing, text), expected, "{revealing}");
    }
}

#[test]
fn c23_the_lines_of_a_key_are_removed_one_by_one() {
    let label = ["RSA PRIVATE", " KEY"].concat();
    let (first, second) = (plain(64), random(99, 64, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef0123456789"));
    let block = format!("-----BEGIN {label}-----\n{first}\n{second}\n-----END {label}-----\n");
    let redacted = after(&block, &format!("+{second}\n-----BEGIN CERTIFICATE-----"));
    assert_eq!(redacted, "+[redacted: private-key #1]\n-----BEGIN CERTIFICATE-----");
}

#[test]
fn c23_a_later_part_of_a_text_reveals_a_secret_of_an_earlier_part() {
    let redacted =
        Redactor::new().redact("I use q7w8-e9r0-t1y2.\nclient_secret: q7w8-e9r0-t1y2").into_owned();
    assert_eq!(
        redacted,
        "I use [redacted: assigned-secret #1].\nclient_secret: [redacted: assigned-secret #1]"
    );
}

#[test]
fn c23_a_secret_of_one_json_line_is_removed_from_another() {
    let mut redactor = Redactor::new();
    redactor.learn_json(r#"{"input":{"password":"Tr0ub\"4dor"}}"#);
    assert_eq!(
        redactor.redact_json(
            r#"{"title":"try Tr0ub\"4dor","Tr0ub\u00224dor":1,"x":"{\"a\":\"Tr0ub\\\"4dor\"}"}"#
        ),
        r#"{"title":"try [redacted: password #1]","[redacted: password #1]":1,"x":"{\"a\":\"[redacted: password #1]\"}"}"#
    );
    // The entries of a session keep their links.
    let id = "123e4567-e89b-12d3-a456-426614174000";
    redactor.learn(&format!("HEROKU_DSN={id}"));
    assert_eq!(
        redactor.redact_json(&format!(r#"{{"uuid":"{id}","text":"{id}"}}"#)),
        format!(r#"{{"uuid":"{id}","text":"[redacted: env-secret #1]"}}"#)
    );
}

#[test]
fn c23_the_kinds_that_are_looked_for_are_listed_once() {
    let kinds: Vec<&str> = Redactor::looked_for().collect();
    assert!(kinds.is_sorted() && kinds.len() > 100);
    for kind in ["cookie", "github-token", "mnemonic", "password", "sentry-dsn"] {
        assert_eq!(kinds.iter().filter(|name| **name == kind).count(), 1);
    }
    let mut redactor = Redactor::new();
    redactor.redact("password: hunter\nsshpass -p letmein ssh host");
    assert_eq!(redactor.counts().collect::<Vec<_>>(), [("password", 2)]);
}

#[test]
fn c23_a_log_does_not_contain_known_secrets() {
    let mut redactor = Redactor::new();
    redactor.learn("password: Tr0ub4dor&3");
    assert!(!format!("{redactor:?}").contains("Tr0ub4dor"));
}
