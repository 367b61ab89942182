//! Requests about the session itself.

use std::collections::BTreeMap;

use tidings_protocol::control::{
    BinaryVersion, CancelAsyncMessage, GetBinaryVersion, GetHooksListing, HooksListing, RenameSession,
    SetColor, SetHasSubscribers,
};
use tidings_protocol::messages::{KeepAlive, Message, UpdateEnvironmentVariables};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Cancels a queued prompt. Returns `false` if it was no longer queued.
    pub async fn cancel_prompt(&self, uuid: &str) -> Result<bool, Error> {
        Ok(self.request(CancelAsyncMessage::new(uuid)).await?.cancelled)
    }

    /// Sets the title of the session.
    pub async fn rename_session(&self, title: &str) -> Result<(), Error> {
        self.request(RenameSession::new(title)).await.map(drop)
    }

    /// Sets the colour of the session.
    pub async fn set_color(&self, color: &str) -> Result<(), Error> {
        self.request(SetColor::new(color)).await.map(drop)
    }

    /// Reports to the CLI whether the session has viewers; `None` if unknown.
    pub async fn set_has_subscribers(&self, has_subscribers: Option<bool>) -> Result<(), Error> {
        self.request(SetHasSubscribers::new(has_subscribers)).await.map(drop)
    }

    /// The version of the CLI binary.
    pub async fn binary_version(&self) -> Result<BinaryVersion, Error> {
        self.request(GetBinaryVersion::default()).await
    }

    /// The hooks that settings and plugins registered, without those of this process.
    pub async fn hooks_listing(&self) -> Result<HooksListing, Error> {
        self.request(GetHooksListing::default()).await
    }

    /// Changes the environment of the CLI while it runs. There is no reply.
    pub async fn update_environment(&self, variables: BTreeMap<String, String>) -> Result<(), Error> {
        let mut message = UpdateEnvironmentVariables::default();
        message.variables = variables;
        self.send_message(&Message::UpdateEnvironmentVariables(message)).await
    }

    /// Sends a keep-alive message.
    pub async fn keep_alive(&self) -> Result<(), Error> {
        self.send_message(&Message::KeepAlive(KeepAlive::default())).await
    }
}
