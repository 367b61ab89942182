//! Elicitations: requests of MCP servers to the user.

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, Elicitation, ElicitationAnswer};

use super::{Answer, Context, Handlers};

/// A handler of elicitations. Closures are handlers.
pub trait ElicitationHandler: Send + Sync {
    /// Answers one elicitation.
    fn answer(&self, ask: ElicitationAsk) -> BoxFuture<'static, ElicitationAnswer>;
}

/// An elicitation of an MCP server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitationAsk {
    /// The server and its request.
    pub call: Elicitation,
    /// The request's id, session and cancellation.
    pub context: Context,
}

impl<F, A> ElicitationHandler for F
where
    F: Fn(ElicitationAsk) -> A + Send + Sync,
    A: Future<Output = ElicitationAnswer> + Send + 'static,
{
    fn answer(&self, ask: ElicitationAsk) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(self(ask))
    }
}

pub(super) async fn answer(handlers: &Handlers, call: Elicitation, context: Context) -> Answer {
    let answer = match &handlers.elicitation {
        Some(handler) => handler.answer(ElicitationAsk { call, context }).await,
        None => ElicitationAnswer::decline(),
    };
    Answer::Now(ControlResponse::success(&answer))
}
