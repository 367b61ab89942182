//! Requests about settings.

use tidings_protocol::control::{
    ApplyFlagSettings, GetSettings, SettingsReply, SettingsSource, UpdateSettings,
};
use tidings_protocol::json::Json;

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// The settings in force, with their sources.
    pub async fn settings(&self) -> Result<SettingsReply, Error> {
        self.request(GetSettings::default()).await
    }

    /// Changes settings of this process, key by key; `null` removes a key.
    pub async fn apply_settings(&self, settings: impl Into<Json>) -> Result<(), Error> {
        self.request(ApplyFlagSettings::new(settings.into())).await.map(drop)
    }

    /// Changes a settings file. The CLI accepts few keys.
    pub async fn update_settings(
        &self,
        source: SettingsSource,
        settings: impl Into<Json>,
    ) -> Result<(), Error> {
        self.request(UpdateSettings::new(source, settings.into())).await.map(drop)
    }
}
