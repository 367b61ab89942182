//! The session itself.

use std::collections::BTreeMap;

use tidings_protocol::control::{
    BinaryVersion, CancelAsyncMessage, GetBinaryVersion, GetHooksListing, HooksListing, RenameSession,
    SetColor, SetHasSubscribers,
};
use tidings_protocol::messages::{KeepAlive, Message, UpdateEnvironmentVariables};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// Takes back a prompt that still waits. Gives back whether it did.
    pub async fn cancel_prompt(&self, uuid: &str) -> Result<bool, Error> {
        Ok(self.request(CancelAsyncMessage::new(uuid)).await?.cancelled)
    }

    /// Gives the session a title.
    pub async fn rename_session(&self, title: &str) -> Result<(), Error> {
        self.request(RenameSession::new(title)).await.map(drop)
    }

    /// Gives the session a colour.
    pub async fn set_color(&self, color: &str) -> Result<(), Error> {
        self.request(SetColor::new(color)).await.map(drop)
    }

    /// Tells the CLI whether anybody watches; nothing if it is not known.
    pub async fn set_has_subscribers(&self, anybody: Option<bool>) -> Result<(), Error> {
        self.request(SetHasSubscribers::new(anybody)).await.map(drop)
    }

    /// Which CLI this is.
    pub async fn binary_version(&self) -> Result<BinaryVersion, Error> {
        self.request(GetBinaryVersion::default()).await
    }

    /// The hooks that settings and plugins registered. Those of this process are not among them.
    pub async fn hooks_listing(&self) -> Result<HooksListing, Error> {
        self.request(GetHooksListing::default()).await
    }

    /// Changes the environment of the CLI while it runs. It does not answer.
    pub async fn update_environment(&self, variables: BTreeMap<String, String>) -> Result<(), Error> {
        let mut message = UpdateEnvironmentVariables::default();
        message.variables = variables;
        self.send_message(&Message::UpdateEnvironmentVariables(message)).await
    }

    /// Says that this side is still there.
    pub async fn keep_alive(&self) -> Result<(), Error> {
        self.send_message(&Message::KeepAlive(KeepAlive::default())).await
    }
}
