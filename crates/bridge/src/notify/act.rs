//! Decisions by the buttons of notifications.

use tidings_api::{AnswerResult, Choice, Code, PermissionAnswer, Scope};
use tidings_sessions::{Caller, Error};

use super::Notifications;
use super::channel::{Via, device_target};
use super::compose::is_decidable;
use super::token::{self, PressedButton};
use crate::inbox::{Item, sees};

impl Notifications {
    /// Decides by the button of a message to the caller's device.
    pub(crate) async fn act(
        &self,
        caller: &Caller,
        token: &str,
        decision: Choice,
    ) -> Result<AnswerResult, Error> {
        caller.require(Scope::Decide)?;
        let button = self.pressed(token).await?;
        if caller.device.as_deref().map(device_target).as_ref() != Some(&button.target) {
            return Err(refused("The button belongs to another device"));
        }
        if !button.decisions.contains(&decision) {
            return Err(refused("The button does not make this decision"));
        }
        self.decide(caller, &button, decision).await
    }

    /// Decides by the button of a target without a device. The token names the one decision that it makes.
    pub(crate) async fn act_for_target(&self, token: &str) -> Result<AnswerResult, Error> {
        let button = self.pressed(token).await?;
        let channel = self.channel(&button.target).ok_or_else(|| refused("The target was removed"))?;
        let Via::Url(target) = &channel.via else {
            return Err(refused("The button belongs to a device"));
        };
        let [decision] = button.decisions[..] else {
            return Err(refused("The button makes no decision"));
        };
        if decision == Choice::Allow && !target.config.allow_button {
            return Err(refused("This target may not allow"));
        }
        let scopes = [Scope::Read, Scope::Decide].into_iter().collect();
        let name = format!("button of {}", channel.name());
        let caller = Caller { name, device: None, scopes, folders: Vec::new() };
        self.decide(&caller, &button, decision).await
    }

    async fn pressed(&self, token: &str) -> Result<PressedButton, Error> {
        self.load().await?;
        let button = token::find(self.inbox(), token);
        button.ok_or_else(|| refused("The button of this notification is not valid"))
    }

    async fn decide(
        &self,
        caller: &Caller,
        button: &PressedButton,
        decision: Choice,
    ) -> Result<AnswerResult, Error> {
        let stale = || {
            let hint = "open the request; it may be answered, or have a newer notification";
            Error::new(Code::Gone, "The button is not valid any more", hint)
        };
        let item = self.inbox().with(|ledger| ledger.item(&button.item).cloned()).ok_or_else(stale)?;
        let (Some(session), Some(tool_use_id)) = (item.session(), &item.tool_use_id) else {
            return Err(stale());
        };
        if !item.waiting {
            return Err(stale());
        }
        check_digest(&item, button)?;
        if !is_decidable(&item) {
            return Err(refused("This request must be seen before it is decided"));
        }
        if !sees(caller, &item) {
            return Err(stale());
        }
        let is_first = self
            .inbox()
            .change(|ledger, _| ledger.use_token(&button.target, &button.item, button.step))
            .await;
        if !is_first {
            return Err(stale());
        }
        let digest = Some(button.digest.clone());
        let answer = PermissionAnswer { digest, ..PermissionAnswer::new(decision) };
        self.inbox().sessions().answer_permission(caller, session, tool_use_id, answer).await
    }
}

/// Checks that the request is still the one that the button was made for.
fn check_digest(item: &Item, button: &PressedButton) -> Result<(), Error> {
    if item.digest.as_deref() == Some(button.digest.as_str()) {
        return Ok(());
    }
    let hint = "open the request to see what it is now";
    Err(Error::new(Code::DigestMismatch, "The request has changed since it was shown", hint))
}

fn refused(message: &'static str) -> Error {
    Error::new(Code::Forbidden, message, "open the request and decide there")
}

#[cfg(test)]
mod tests {
    use tidings_api::InboxKind;

    use super::*;

    #[test]
    fn a_button_about_another_input_is_refused_with_its_own_code() {
        let mut item = Item::new("session.toolu_1", InboxKind::Permission, 0, None);
        let button = PressedButton {
            target: "device:1".to_owned(),
            item: item.id.clone(),
            step: 0,
            decisions: vec![Choice::Allow],
            digest: "asked".to_owned(),
        };
        for (digest, expected) in [
            (Some("asked"), None),
            (Some("something else"), Some(Code::DigestMismatch)),
            (None, Some(Code::DigestMismatch)),
        ] {
            item.digest = digest.map(str::to_owned);
            assert_eq!(check_digest(&item, &button).err().map(|error| error.code()), expected, "{digest:?}");
        }
    }
}
