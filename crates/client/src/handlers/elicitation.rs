//! An MCP server asks the user something.

use futures_core::future::BoxFuture;
use tidings_protocol::control::{ControlResponse, Elicitation, ElicitationAnswer};

use super::{Answer, Context, Handlers};

/// Answers the questions of MCP servers. Closures are handlers.
pub trait ElicitationHandler: Send + Sync {
    /// Answers one question.
    fn answer(&self, ask: ElicitationAsk) -> BoxFuture<'static, ElicitationAnswer>;
}

/// A question of an MCP server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitationAsk {
    /// Who asks what.
    pub call: Elicitation,
    /// The question's name, its session, and whether it was taken back.
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
