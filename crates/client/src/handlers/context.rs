use tokio_util::sync::CancellationToken;

use crate::client::Client;

/// What a handler knows of the question that it answers.
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

    /// Names the question. An answer that comes later needs it, see [`Decision::Later`](super::Decision::Later).
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The session that asks. It may be used while the question is open.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until the CLI takes the question back. The handler is dropped at its next `await` then, in any case.
    pub async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    /// Whether the CLI has taken the question back.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}
