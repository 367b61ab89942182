//! What was used.

use tidings_protocol::control::{
    ContextDetail, ContextUsage, GetContextUsage, GetSessionCost, GetUsage, Usage,
};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// What fills the context window; with less detail if `detail` says so.
    pub async fn context_usage(&self, detail: Option<ContextDetail>) -> Result<ContextUsage, Error> {
        let mut request = GetContextUsage::default();
        request.detail = detail;
        self.request(request).await
    }

    /// What the session cost, as a text to show.
    pub async fn session_cost(&self) -> Result<String, Error> {
        Ok(self.request(GetSessionCost::default()).await?.text)
    }

    /// What was used of the plan.
    pub async fn usage(&self) -> Result<Usage, Error> {
        self.request(GetUsage::default()).await
    }
}
