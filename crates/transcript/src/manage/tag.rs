//! `tag_session` of the official SDKs.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;

use super::SessionFile;
use super::first_prompt::is_space;
use super::write::append;
use crate::{Error, ErrorKind};

/// `tag_session`: tags a session, or removes its tag. Returns the normalised tag.
pub fn tag_session(session: &SessionFile, tag: Option<&str>) -> Result<Option<String>, Error> {
    let cleaned = tag.map(|tag| cleaned(tag).trim_matches(is_space).to_owned());
    if cleaned.as_deref() == Some("") {
        return Err(Error::new(
            ErrorKind::Invalid,
            "The tag is empty",
            "give a word, or --clear to remove it",
        ));
    }
    let line = TagLine { kind: "tag", tag: cleaned.as_deref().unwrap_or(""), session: session.id.as_str() };
    append(session, &serde_json::to_string(&line).unwrap_or_default())?;
    Ok(cleaned)
}

/// The key order matters: the SDKs look for lines that begin with the type.
#[derive(Serialize)]
struct TagLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    tag: &'a str,
    #[serde(rename = "sessionId")]
    session: &'a str,
}

/// Composes characters and removes invisible ones, so that two tags that look the same are the same.
fn cleaned(tag: &str) -> String {
    const PASSES_MAX: usize = 10;
    let mut text = tag.to_owned();
    for _ in 0..PASSES_MAX {
        let composed: String = text.nfkc().collect();
        // Removing a character can make its neighbours combine, hence the next pass.
        let next: String = composed.chars().filter(|char| !is_unseen(*char)).collect();
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Characters for formatting, for private use, or unassigned.
static UNSEEN: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let class = regex_syntax::parse(r"[\p{Cf}\p{Co}\p{Cn}]").map(Hir::into_kind);
    match class {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        _ => unreachable!("the pattern is fixed and tested"),
    }
});

fn is_unseen(char: char) -> bool {
    let place = UNSEEN.ranges().partition_point(|range| range.end() < char);
    UNSEEN.ranges().get(place).is_some_and(|range| range.start() <= char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_composed_and_lose_invisible_characters() {
        for (tag, expected) in [
            ("plain", "plain"),
            ("e\u{301}t\u{e9}", "été"),
            ("ﬁne ①", "fine 1"),
            ("a\u{200b}b\u{202e}c\u{feff}", "abc"),
            ("\u{e000}private\u{f8ff}", "private"),
            ("\u{378}unassigned", "unassigned"),
            // Without the joiner between them the two characters become one.
            ("e\u{200d}\u{301}", "é"),
            ("🦀 ok", "🦀 ok"),
            ("\u{200b}", ""),
        ] {
            assert_eq!(cleaned(tag), expected, "{tag:?}");
        }
    }
}
