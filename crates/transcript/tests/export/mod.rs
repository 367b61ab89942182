//! Sessions as text, Markdown, HTML and JSON.
#![expect(clippy::unwrap_used, reason = "a failed test panics")]
#![cfg(feature = "html")]

mod balance;
mod hostile;
mod made;
mod recorded;
mod secrets;

use std::path::{Path, PathBuf};

use tidings_transcript::export::{Agents, Branches, Detail, Format, Options, Style, export};
use tidings_transcript::redact::Redactor;
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::session::Session;

/// The only session under a root.
fn only_session(root: &Path) -> SessionFiles {
    let mut found = Roots::new([root]).scan().unwrap();
    assert_eq!(found.sessions.len(), 1, "{}", root.display());
    found.sessions.remove(0)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/export").join(name)
}

fn write(files: &SessionFiles, format: Format, options: &Options, redactor: Option<&mut Redactor>) -> String {
    let session = Session::open(files).unwrap();
    let mut out = Vec::new();
    export(&session, files, format, options, redactor, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn text() -> Format {
    Format::Text(Style::default())
}

fn full() -> Options {
    Options { detail: Detail::Full, branches: Branches::All, ..Options::default() }
}

fn without_agents() -> Options {
    Options { agents: Agents::Hidden, ..Options::default() }
}

/// The part of a page that differs between pages.
fn body(page: &str) -> &str {
    let from = page.find("<body>").unwrap();
    &page[from..]
}
