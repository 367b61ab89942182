//! The CLI asks the user something.

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, DialogAnswer, RequestUserDialog};

use super::{Answer, Context, Handlers};

/// Shows dialogs. Closures are handlers.
pub trait DialogHandler: Send + Sync {
    /// Shows one dialog.
    fn show(&self, ask: DialogAsk) -> BoxFuture<'static, DialogAnswer>;
}

/// A dialog that the CLI wants shown.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DialogAsk {
    /// Which dialog, and what it says.
    pub call: RequestUserDialog,
    /// The question's name, its session, and whether it was taken back.
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
        // The CLI asks only in kinds that were declared, so this is a mistake of its, and silence would hold it up.
        None => ControlResponse::error(format!(
            "Nobody shows dialogs of the kind `{}` here",
            call.dialog_kind.as_str()
        )),
    })
}
