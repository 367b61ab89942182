//! The context of a request that a handler answers.

use tokio_util::sync::CancellationToken;

use crate::client::Client;

/// The context of a request that a handler answers.
#[derive(Debug, Clone)]
pub struct Context {
    request_id: String,
    client: Client,
    cancelled: CancellationToken,
}

impl Context {
    pub(crate) fn new(request_id: String, client: Client, cancelled: CancellationToken) -> Self {
        Context { request_id, client, cancelled }
    }

    /// The id of the request. A deferred answer needs it, see [`Decision::Later`](super::Decision::Later).
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The session that sent the request. It may be used while the request is open.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until the CLI cancels the request. The handler is then dropped at its next `await` in any case.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// True if the CLI has cancelled the request.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}
