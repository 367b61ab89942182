//! The file of a data folder that makes its server a member of a fleet. It contains the server's key.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tidings_fleet::{FleetSecret, Identity, Invite, MemberKind, Name, PublicKey, SigningKey};

use crate::auth::{create_private, read_private};
use crate::error::{Code, Error};

const NAME: &str = "fleet.json";

/// Membership of a server in a fleet.
#[derive(Clone, Serialize, Deserialize)]
pub struct FleetFile {
    /// Addresses of the NATS servers.
    pub url: String,
    /// The fleet.
    pub fleet: Name,
    /// The name of this server.
    pub node: Name,
    /// Its purpose.
    pub kind: MemberKind,
    /// Copies of the fleet's stream, if this server creates it.
    #[serde(default)]
    pub replicas: usize,
    /// Bytes that the fleet may store, if this server creates its stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<i64>,
    /// Days for which the fleet keeps events, if this server creates its stream; none for all time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_days: Option<u64>,
    pub(crate) admin: PublicKey,
    pub(crate) seed: String,
    /// The key of the fleet's admin, on the server that created the fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) admin_seed: Option<String>,
    /// The key with which the fleet encrypts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
}

impl FleetFile {
    /// A new fleet, with this server as its admin.
    pub fn create(
        url: &str,
        fleet: Name,
        node: Name,
        kind: MemberKind,
        encrypted: bool,
    ) -> Result<Self, Error> {
        let (key, admin) = (SigningKey::generate()?, SigningKey::generate()?);
        let secret = if encrypted { Some(FleetSecret::generate()?.to_text()) } else { None };
        Ok(FleetFile {
            url: url.to_owned(),
            fleet,
            node,
            kind,
            replicas: 1,
            storage: None,
            keep_days: None,
            admin: admin.public(),
            seed: key.to_text(),
            admin_seed: Some(admin.to_text()),
            secret,
        })
    }

    /// The file of a server that has an invitation and a new key.
    pub fn invited(invite: &Invite, node: Name, kind: MemberKind) -> Result<Self, Error> {
        Ok(FleetFile {
            url: invite.url.clone(),
            fleet: invite.fleet.clone(),
            node,
            kind,
            replicas: 1,
            storage: None,
            keep_days: None,
            admin: invite.admin,
            seed: SigningKey::generate()?.to_text(),
            admin_seed: None,
            secret: invite.fleet_secret()?.map(|secret| secret.to_text()),
        })
    }

    /// Reads the file of a data folder; none if its server is in no fleet.
    pub fn read(data: &Path) -> Result<Option<Self>, Error> {
        let Some(text) = read_private(&data.join(NAME))? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let message = format!("Failed to read `{}`: {error}", data.join(NAME).display());
            Error::new(Code::Internal, message, "restore it, or join the fleet again")
        })
    }

    /// Writes the file. Refuses a folder that is in a fleet already.
    pub fn write(&self, data: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        create_private(&data.join(NAME), &text).map_err(|error| {
            let message = format!("Failed to write `{}`: {error}", data.join(NAME).display());
            Error::new(
                Code::Conflict,
                message,
                "`tidings fleet leave` leaves the fleet that this server is in",
            )
        })
    }

    /// Removes the file: the next start is without a fleet.
    pub fn remove(data: &Path) -> Result<(), Error> {
        fs_err::remove_file(data.join(NAME))
            .map_err(|error| Error::new(Code::NotFound, error.to_string(), "this server is in no fleet"))
    }

    /// The identity of this server.
    pub fn identity(&self) -> Result<Identity, Error> {
        Ok(Identity {
            fleet: self.fleet.clone(),
            node: self.node.clone(),
            key: SigningKey::parse(&self.seed)?,
            admin: self.admin,
            secret: self.secret.as_deref().map(FleetSecret::parse).transpose()?,
        })
    }

    pub(crate) fn admin_key(&self) -> Result<Option<SigningKey>, Error> {
        Ok(self.admin_seed.as_deref().map(SigningKey::parse).transpose()?)
    }
}

impl std::fmt::Debug for FleetFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetFile")
            .field("fleet", &self.fleet)
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}
