//! `rename_session` of the official SDKs.

use serde::Serialize;

use super::SessionFile;
use super::first_prompt::is_space;
use super::write::append;
use crate::{Error, ErrorKind};

/// `rename_session`: sets the title of a session. The last title counts, so it can be changed any time.
pub fn rename_session(session: &SessionFile, title: &str) -> Result<(), Error> {
    let title = title.trim_matches(is_space);
    if title.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, "The title is empty", "give some text"));
    }
    let line = TitleLine { kind: "custom-title", title, session: session.id.as_str() };
    append(session, &serde_json::to_string(&line).unwrap_or_default())
}

#[derive(Serialize)]
struct TitleLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "customTitle")]
    title: &'a str,
    #[serde(rename = "sessionId")]
    session: &'a str,
}
