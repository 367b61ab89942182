//! Text form of the report.

use std::fmt::Write as _;

use tidings_commands::human;
use tidings_commands::output::{DIM, PLAIN, RED, YELLOW, printable};

use super::{DoctorCheck, Need};

pub(super) fn of(checks: &[DoctorCheck]) -> String {
    let width = checks.iter().map(|check| human::width(check.name)).max().unwrap_or_default();
    let mut text = String::new();
    for check in checks {
        let (colour, mark) = match (check.ok, check.need) {
            (_, Need::Skipped) => (DIM, "·"),
            (true, _) => ("", "✓"),
            (false, Need::Needed) => (RED, "✗"),
            (false, Need::Useful) => (YELLOW, "!"),
        };
        let name = human::padded(check.name, width);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{colour}{mark}{PLAIN} {name}  {}", printable(&check.found));
        if !check.hint.is_empty() {
            let _ = writeln!(text, "  {:width$}  {DIM}{}{PLAIN}", "", printable(&check.hint));
        }
    }
    text
}
