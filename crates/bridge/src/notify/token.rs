//! Tokens of the buttons of notifications.
//!
//! A token is random, and the server stores its fingerprint beside the delivery that it was sent with. So
//! it cannot be computed from a key, or read from the journal.

use tidings_api::Choice;
use tidings_sessions::secret::Fingerprint;

use crate::inbox::{ButtonRecord, Inbox, Item};

/// A button that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PressedButton {
    /// The id of the target, which stands for a device.
    pub(super) target: String,
    /// The id of the item.
    pub(super) item: String,
    /// The number of the reminder.
    pub(super) step: u32,
    /// The decisions that it is good for.
    pub(super) decisions: Vec<Choice>,
    /// The digest of what was asked.
    pub(super) digest: String,
}

/// Stores the button that a token is for. The token is sent afterwards, and kept nowhere.
pub(super) async fn store(
    inbox: &Inbox,
    token: &str,
    target: &str,
    (item, step): (&Item, u32),
    decisions: &[Choice],
) {
    let button = ButtonRecord {
        fingerprint: Fingerprint::of(token).to_string(),
        step,
        decisions: decisions.to_vec(),
        digest: item.digest.clone().unwrap_or_default(),
    };
    inbox.change(|ledger, _| ledger.add_button(target, &item.id, button)).await;
}

/// The button that a token is for, if this server sent it.
pub(super) fn find(inbox: &Inbox, token: &str) -> Option<PressedButton> {
    let fingerprint = Fingerprint::of(token).to_string();
    inbox.with(|ledger| {
        let (target, item, button) = ledger.button(&fingerprint)?;
        Some(PressedButton {
            target: target.to_owned(),
            item: item.id.clone(),
            step: button.step,
            decisions: button.decisions.clone(),
            digest: button.digest.clone(),
        })
    })
}
