//! Requests to reload plugins, skills and output styles.

use tidings_protocol::control::{
    ReloadOutputStyles, ReloadPlugins, ReloadPluginsReply, ReloadSkills, SlashCommand,
};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Reloads plugins.
    pub async fn reload_plugins(&self, request: ReloadPlugins) -> Result<ReloadPluginsReply, Error> {
        self.request(request).await
    }

    /// Reloads skills. Returns all skills.
    pub async fn reload_skills(&self) -> Result<Vec<SlashCommand>, Error> {
        Ok(self.request(ReloadSkills::default()).await?.skills)
    }

    /// Reloads output styles. Returns all output styles.
    pub async fn reload_output_styles(&self) -> Result<Vec<String>, Error> {
        Ok(self.request(ReloadOutputStyles::default()).await?.available_output_styles)
    }
}
