//! Subscriptions to the events of a session.

use tidings_api::{Subscribed, Verdict};
use tidings_journal as journal;
use tidings_journal::broadcast::{SubscribeOptions, Subscription};

use crate::requests::asks::{PendingRequest, pending_request};
use crate::{Error, Sessions, view};

impl Sessions {
    /// Subscribes to a session: its current state, then its events.
    ///
    /// Each event's body is one `UiMessage` of the dialect `native` as JSON, and its kind is the name of the
    /// variant. Events of the kind `frame` are lines of the CLI, for the dialect `frames` only.
    pub async fn subscribe(
        &self,
        name: &str,
        watch: SubscribeOptions,
    ) -> Result<(Subscribed, Subscription), Error> {
        let key = self.row(name).await?.key;
        let subscribed = self.subscribe_behind(&key, watch).await?;
        let handle = view::number(subscribed.session.handle);
        let (mut pending_permissions, mut pending_questions) = (Vec::new(), Vec::new());
        for ask in &subscribed.pending {
            match pending_request(ask, handle) {
                Some(PendingRequest::Permission(permission)) => pending_permissions.push(permission),
                Some(PendingRequest::Question(question)) => pending_questions.push(question),
                None => {}
            }
        }
        let state = self.view(&subscribed.session);
        let response = Subscribed {
            verdict: match subscribed.verdict {
                journal::CursorVerdict::Ok => Verdict::Ok,
                journal::CursorVerdict::Gap => Verdict::Gap,
                journal::CursorVerdict::Reset => Verdict::Reset,
            },
            from: subscribed.from.to_string(),
            head: subscribed.head.to_string(),
            pending_permissions,
            pending_questions,
            state,
        };
        Ok((response, subscribed.events))
    }
}
