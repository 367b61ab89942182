//! Dialogs that the CLI shows to the user.

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, DialogAnswer, RequestUserDialog};

use super::{Answer, Context, Handlers};

/// A handler of dialogs. Closures are handlers.
pub trait DialogHandler: Send + Sync {
    /// Shows a dialog and returns the user's answer.
    fn show(&self, ask: DialogAsk) -> BoxFuture<'static, DialogAnswer>;
}

/// A request to show a dialog.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DialogAsk {
    /// The kind and content of the dialog.
    pub call: RequestUserDialog,
    /// The request's id, session and cancellation.
    pub context: Context,
}

impl<F, A> DialogHandler for F
where
    F: Fn(DialogAsk) -> A + Send + Sync,
    A: Future<Output = DialogAnswer> + Send + 'static,
{
    fn show(&self, ask: DialogAsk) -> BoxFuture<'static, DialogAnswer> {
        Box::pin(self(ask))
    }
}

pub(super) async fn answer(handlers: &Handlers, call: RequestUserDialog, context: Context) -> Answer {
    Answer::Now(match &handlers.dialog {
        Some(handler) => ControlResponse::success(&handler.show(DialogAsk { call, context }).await),
        // The CLI only sends declared kinds, so this is a bug in the CLI, and without an answer it would
        // hang.
        None => ControlResponse::error(format!(
            "This host has no handler for dialogs of the kind `{}`",
            call.dialog_kind.as_str()
        )),
    })
}
