//! What can be loaded again while the session runs.

use tidings_protocol::control::{
    ReloadOutputStyles, ReloadPlugins, ReloadPluginsReply, ReloadSkills, SlashCommand,
};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Loads plugins again.
    pub async fn reload_plugins(&self, request: ReloadPlugins) -> Result<ReloadPluginsReply, Error> {
        self.request(request).await
    }

    /// Loads skills again. Gives back all there are.
    pub async fn reload_skills(&self) -> Result<Vec<SlashCommand>, Error> {
        Ok(self.request(ReloadSkills::default()).await?.skills)
    }

    /// Loads output styles again. Gives back all there are.
    pub async fn reload_output_styles(&self) -> Result<Vec<String>, Error> {
        Ok(self.request(ReloadOutputStyles::default()).await?.available_output_styles)
    }
}
