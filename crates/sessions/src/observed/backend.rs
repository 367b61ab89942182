//! A process outside of this server as the backend of a session: it offers what its hooks and its terminal
//! make possible.

use std::sync::atomic::Ordering;

use futures_core::future::BoxFuture;
use tidings::host::terminal::{TypingOutcome, typed_text};
use tidings_api::{Code, SessionCapability};

use super::steering::unreachable;
use super::{ObservedProcess, place};
use crate::Error;
use crate::backends::{Backend, BackendCall, Offer, PromptOutcome};
use crate::settings::Queued;
use crate::text::Way;

impl Backend for ObservedProcess {
    fn offer(&self) -> Offer {
        if self.is_file_only() {
            let reason = "Its file grows, and no process on this machine is known to write it: it may run in a \
                          container, or be an earlier version of Claude Code. It is only shown here";
            return Offer { capabilities: Vec::new(), limited: Some(reason.to_owned()) };
        }
        let place = place(self.origin);
        let waits_for = self.waits_for();
        let (mut capabilities, reason) = if let Some(dialog) = &waits_for {
            let hint = if self.running.is_background() { " with `claude attach`" } else { "" };
            (Vec::new(), format!("It runs {place}, and waits there ({dialog}): answer it there{hint}"))
        } else if self.has_hooks.load(Ordering::Relaxed) {
            (vec![SessionCapability::Answer], format!("It runs {place}: prompts are entered there"))
        } else {
            let hint = "`tidings hook install` makes such sessions answerable";
            (Vec::new(), format!("It runs {place}, and is only shown here; {hint}"))
        };
        if self.can_be_taken_over() {
            capabilities.push(SessionCapability::TakeOver);
        }
        let typed = self.typed_actions();
        let reason = if typed.is_empty() || waits_for.is_some() {
            reason
        } else if self.takes_messages() {
            format!("It runs {place}: prompts reach it as messages of another Claude session, not as yours")
        } else {
            format!("It runs {place}: prompts are typed there when its input line is empty")
        };
        capabilities.extend_from_slice(typed);
        Offer { capabilities, limited: Some(reason) }
    }

    fn text_way(&self) -> Way {
        if self.takes_messages() { Way::PeerMessage } else { Way::Typed }
    }

    /// Types the prompt, if its screen allows it now.
    fn prompt<'a>(&'a self, queued: &'a Queued) -> BackendCall<'a, PromptOutcome> {
        Box::pin(async move {
            let Some(steering) = &self.steering else { return Ok(PromptOutcome::NotNow) };
            queued.check_way(self.text_way())?;
            match steering.prompt(&typed_text(&queued.content), &queued.id).await {
                Ok(TypingOutcome::Typed) => Ok(PromptOutcome::Handed),
                Ok(_) => Ok(PromptOutcome::NotNow),
                Err(error) => Err(unreachable(&error)),
            }
        })
    }

    fn interrupt(&self) -> BackendCall<'_, ()> {
        Box::pin(async {
            let Some(steering) = &self.steering else {
                let message = format!("It runs {}, and no keys reach it from here", place(self.origin));
                return Err(Error::new(Code::Conflict, message, "interrupt it there"));
            };
            match steering.interrupt().await {
                Ok(TypingOutcome::Typed) => Ok(()),
                Ok(_) => {
                    let message = "The input line is not on the screen of the terminal";
                    Err(Error::new(Code::Conflict, message, "close the menu or the dialog there"))
                }
                Err(error) => Err(unreachable(&error)),
            }
        })
    }

    /// It belongs to the person who started it, and goes on.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn is_closed(&self) -> bool {
        self.state().is_over
    }
}
