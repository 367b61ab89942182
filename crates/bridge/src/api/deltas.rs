//! Delivery of deltas: all, coalesced, or none.

use std::time::Duration;

use tidings_api::Code;
use tidings_journal::broadcast::Merging;
use tidings_sessions::Error;
use tidings_sessions::running::frames::FRAME;

use crate::limits::COALESCED_MAX;

/// The rule for deltas that a subscriber requested: `all`, `coalesced:MS` or `none`.
pub(crate) fn merging(text: &str) -> Result<Option<Merging>, Error> {
    let ms = text.strip_prefix("coalesced:").and_then(|ms| ms.parse().ok());
    let within = match (text, ms) {
        ("all", _) | (_, Some(0)) => return Ok(None),
        ("none", _) => None,
        (_, Some(ms)) => Some(Duration::from_millis(ms).min(COALESCED_MAX)),
        _ => {
            let message = "Invalid value of `deltas`";
            return Err(Error::new(Code::Invalid, message, "use `all`, `coalesced:MS` or `none`"));
        }
    };
    Ok(Some(Merging { within, hidden: FRAME }))
}
