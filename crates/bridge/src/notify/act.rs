//! Decisions by the buttons of notifications.

use tidings_protocol::api::{AnswerResult, Choice, PermissionAnswer, PermissionScope};

use super::Notifications;
use super::channel::{Via, device_target};
use super::compose::is_decidable;
use super::token::ActionToken;
use crate::caller::{Caller, Scope};
use crate::error::{Code, Error};
use crate::inbox::sees;

impl Notifications {
    /// Decides by the button of a message to the caller's device.
    pub(crate) async fn act(
        &self,
        caller: &Caller,
        token: &str,
        decision: Choice,
    ) -> Result<AnswerResult, Error> {
        caller.require(Scope::Decide)?;
        let token = self.open(token)?;
        if caller.device.as_deref().map(device_target).as_ref() != Some(&token.target) {
            return Err(refused("The button belongs to another device"));
        }
        if !token.decisions.contains(&decision) {
            return Err(refused("The button does not make this decision"));
        }
        self.decide(caller, &token, decision).await
    }

    /// Decides by the button of a target without a device. The token names the one decision that it makes.
    pub(crate) async fn act_for_target(&self, token: &str) -> Result<AnswerResult, Error> {
        let token = self.open(token)?;
        self.load().await?;
        let channel = self.channel(&token.target).ok_or_else(|| refused("The target was removed"))?;
        let Via::Hook(hook) = &channel.via else {
            return Err(refused("The button belongs to a device"));
        };
        let [decision] = token.decisions[..] else {
            return Err(refused("The button makes no decision"));
        };
        if decision == Choice::Allow && !hook.target.allow_button {
            return Err(refused("This target may not allow"));
        }
        let scopes = [Scope::Read, Scope::Decide].into_iter().collect();
        let name = format!("button of {}", channel.name());
        let caller = Caller { name, device: None, scopes, folders: Vec::new() };
        self.decide(&caller, &token, decision).await
    }

    fn open(&self, token: &str) -> Result<ActionToken, Error> {
        let push = self.0.push.as_ref().ok_or_else(|| refused("This server has no buttons"))?;
        ActionToken::open(token, push.keys().actions())
    }

    async fn decide(
        &self,
        caller: &Caller,
        token: &ActionToken,
        decision: Choice,
    ) -> Result<AnswerResult, Error> {
        self.load().await?;
        let stale = || {
            let hint = "open the request; it may be answered, or have a newer notification";
            Error::new(Code::Gone, "The button is not valid any more", hint)
        };
        let item = self.inbox().with(|ledger| ledger.item(&token.item).cloned()).ok_or_else(stale)?;
        let (Some(session), Some(tool_use_id)) = (item.session(), &item.tool_use_id) else {
            return Err(stale());
        };
        if !item.waiting {
            return Err(stale());
        }
        if item.digest.as_deref() != Some(token.digest.as_str()) {
            let hint = "open the request to see what it is now";
            return Err(Error::new(Code::DigestMismatch, "The request has changed since it was shown", hint));
        }
        if !is_decidable(&item) {
            return Err(refused("This request must be seen before it is decided"));
        }
        if !sees(caller, &item) {
            return Err(stale());
        }
        let is_first =
            self.inbox().change(|ledger, _| ledger.use_token(&token.target, &token.item, token.step)).await;
        if !is_first {
            return Err(stale());
        }
        let answer = PermissionAnswer {
            decision,
            scope: PermissionScope::Once,
            updated_input: None,
            message: None,
            interrupt: false,
            digest: Some(token.digest.clone()),
            client_id: None,
        };
        self.inbox().sessions().answer_permission(caller, session, tool_use_id, answer).await
    }
}

fn refused(message: &'static str) -> Error {
    Error::new(Code::Forbidden, message, "open the request and decide there")
}
