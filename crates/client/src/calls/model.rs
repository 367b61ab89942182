//! Requests about the model.

use tidings_protocol::control::{ListModels, ModelInfo, SetMaxThinkingTokens, SetModel, ThinkingDisplay};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Changes the model; `None` for the default. Returns its resolved name, if the CLI reports it.
    pub async fn set_model(&self, model: Option<&str>) -> Result<Option<String>, Error> {
        Ok(self.request(SetModel::new(model.map(str::to_owned))).await?.model)
    }

    /// Changes the thinking budget, in tokens; `None` for the default.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        self.request(SetMaxThinkingTokens::new(tokens)).await.map(drop)
    }

    /// Changes how much of the thinking is shown; `None` for the default.
    pub async fn set_thinking_display(&self, display: Option<ThinkingDisplay>) -> Result<(), Error> {
        let mut request = SetMaxThinkingTokens::default();
        request.thinking_display = Some(display);
        self.request(request).await.map(drop)
    }

    /// The available models.
    pub async fn list_models(&self) -> Result<Vec<ModelInfo>, Error> {
        Ok(self.request(ListModels::default()).await?.models)
    }
}
