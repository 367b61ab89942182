//! Rule: timestamps are ISO 8601.

use tidings_protocol::entry::Dialect;

use super::super::context::{Check, CheckedEntry, File, Findings};
use super::super::time;
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("iso-timestamp");

/// Timestamps are ISO 8601.
#[derive(Debug)]
pub(super) struct IsoTimestamp;

impl Check for IsoTimestamp {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        if seen.entry.timestamp().is_some_and(|at| time::millis(&at).is_some()) {
            return;
        }
        let Some(raw) = seen.get("timestamp").filter(|raw| !raw.is_null()) else { return };
        // The rewrite dialect uses milliseconds.
        if file.dialect == Dialect::Rewrite && raw.f64().is_some() {
            return;
        }
        let shown = raw.text().map_or_else(|| raw.as_str().to_owned(), |text| text.get().into_owned());
        let shown: String = shown.chars().take(SHOWN_CHARS_MAX).collect();
        let severity = file.profile.severity(Severity::Warning);
        found.about(
            RULE,
            severity,
            seen,
            format!("The timestamp is not an ISO 8601 date and time: `{shown}`"),
        );
    }
}

/// Number of characters of a value that a message shows.
const SHOWN_CHARS_MAX: usize = 60;
