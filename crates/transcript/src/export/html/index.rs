//! A page that lists exported sessions.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use tidings_base::plural::counted;

use super::escape::{escaped, text};
use super::page::POLICY;
use crate::list::ListedSession;

/// An exported session, for the page that lists them.
#[derive(Debug, Clone, Copy)]
pub struct IndexedSession<'a> {
    /// Its facts. A title with secrets has to be redacted before.
    pub listed: &'a ListedSession,
    /// Address of its page, relative to the page that lists them.
    pub file: &'a str,
}

/// A page that lists exported sessions, as self-contained as theirs.
pub fn index_page(title: &str, sessions: &[IndexedSession<'_>], zone: &TimeZone) -> String {
    let title = escaped(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n<div class=\"page\">\n<header>\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n<main>\n<ul class=\"sessions\">\n",
        include_str!("style.css"),
        counted(sessions.len() as u64, "session")
    );
    for IndexedSession { listed, file } in sessions {
        // Writing into a String cannot fail.
        let _ = write!(out, "<li><a href=\"{}\">", escaped(file));
        text(listed.title.as_deref().unwrap_or("(no title)"), &mut out);
        out.push_str("</a><br><small>");
        text(&facts(listed, zone).join(" · "), &mut out);
        out.push_str("</small></li>\n");
    }
    out.push_str("</ul>\n</main>\n<footer>Written by Tidings.</footer>\n</div>\n</body>\n</html>\n");
    out
}

const STYLE: &str = ".sessions{list-style:none;padding:0}.sessions li{margin:.8em 0}\n";

fn facts(listed: &ListedSession, zone: &TimeZone) -> Vec<String> {
    let time = listed.modified.map(|time| time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    let turns = listed.turns.map(|turns| counted(turns, "turn"));
    let cost = listed.cost_usd.map(|cost| format!("${cost:.2}"));
    let tag = listed.tag.as_ref().map(|tag| format!("#{tag}"));
    let id = Some(listed.id.chars().take(8).collect());
    [time, Some(listed.project.clone()), turns, cost, tag, id].into_iter().flatten().collect()
}
