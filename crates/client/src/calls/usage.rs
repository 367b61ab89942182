//! Requests about usage and cost.

use tidings_protocol::control::{
    ContextDetail, ContextUsage, GetContextUsage, GetSessionCost, GetUsage, Usage,
};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The usage of the context window, in the given detail.
    pub async fn context_usage(&self, detail: Option<ContextDetail>) -> Result<ContextUsage, Error> {
        let mut request = GetContextUsage::default();
        request.detail = detail;
        self.request(request).await
    }

    /// The cost of the session, as a text to show.
    pub async fn session_cost(&self) -> Result<String, Error> {
        Ok(self.request(GetSessionCost::default()).await?.text)
    }

    /// The usage of the subscription plan.
    pub async fn usage(&self) -> Result<Usage, Error> {
        self.request(GetUsage::default()).await
    }
}
