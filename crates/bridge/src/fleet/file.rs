//! The file of a data folder that makes its server a member of a fleet. It contains the server's key.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidings_api::Code;
use tidings_fleet::{FleetSecret, Identity, Invite, Keyring, MemberKind, Name, PublicKey, SigningKey};
use tidings_sessions::Error;
use tidings_sessions::private::{create as create_private, read as read_private, replace as replace_private};

use super::fleet_error;

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
    /// The newest key with which the fleet encrypts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<String>,
    /// The generation of that key.
    #[serde(default)]
    pub(crate) key_generation: u64,
    /// Earlier keys with their generations, for what is stored already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) old_secrets: Vec<(u64, String)>,
    /// The data folder that the file was read from.
    #[serde(skip)]
    folder: Option<PathBuf>,
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
        let (key, admin) =
            (SigningKey::generate().map_err(fleet_error)?, SigningKey::generate().map_err(fleet_error)?);
        let secret =
            if encrypted { Some(FleetSecret::generate().map_err(fleet_error)?.to_text()) } else { None };
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
            key_generation: 0,
            old_secrets: Vec::new(),
            folder: None,
        })
    }

    /// The file of a server that has an invitation and a new key.
    pub fn invited(invite: &Invite, node: Name, kind: MemberKind) -> Result<Self, Error> {
        let mut file = FleetFile {
            url: invite.url.clone(),
            fleet: invite.fleet.clone(),
            node,
            kind,
            replicas: 1,
            storage: None,
            keep_days: None,
            admin: invite.admin,
            seed: SigningKey::generate().map_err(fleet_error)?.to_text(),
            admin_seed: None,
            secret: None,
            key_generation: 0,
            old_secrets: Vec::new(),
            folder: None,
        };
        file.set_keys(&invite.fleet_keys().map_err(fleet_error)?);
        Ok(file)
    }

    fn set_keys(&mut self, keys: &[(u64, FleetSecret)]) {
        let mut keys: Vec<(u64, String)> =
            keys.iter().map(|(generation, secret)| (*generation, secret.to_text())).collect();
        if let Some((generation, secret)) = keys.pop() {
            (self.key_generation, self.secret, self.old_secrets) = (generation, Some(secret), keys);
        }
    }

    /// Stores the keys of the fleet, the newest last.
    pub(crate) fn save_keys(&self, keys: &[(u64, FleetSecret)]) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        // The address may have been given at the start of the server: the file keeps its own.
        let mut file = FleetFile::read(folder)?.unwrap_or_else(|| self.clone());
        file.set_keys(keys);
        let text = serde_json::to_vec_pretty(&file).unwrap_or_default();
        replace_private(&folder.join(NAME), &text)
    }

    /// Reads the file of a data folder; none if its server is in no fleet.
    pub fn read(data: &Path) -> Result<Option<Self>, Error> {
        let Some(text) = read_private(&data.join(NAME))? else { return Ok(None) };
        let file: Result<FleetFile, _> = serde_json::from_str(&text);
        file.map(|file| Some(FleetFile { folder: Some(data.to_owned()), ..file })).map_err(|error| {
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
        let newest = self.secret.as_ref().map(|secret| (self.key_generation, secret));
        let old = self.old_secrets.iter().map(|(generation, secret)| (*generation, secret));
        let keys: Result<Vec<(u64, FleetSecret)>, Error> = old
            .chain(newest)
            .map(|(generation, secret)| Ok((generation, FleetSecret::parse(secret).map_err(fleet_error)?)))
            .collect();
        Ok(Identity {
            fleet: self.fleet.clone(),
            node: self.node.clone(),
            key: SigningKey::parse(&self.seed).map_err(fleet_error)?,
            admin: self.admin,
            secrets: Keyring::of(keys?),
        })
    }

    pub(crate) fn admin_key(&self) -> Result<Option<SigningKey>, Error> {
        self.admin_seed.as_deref().map(SigningKey::parse).transpose().map_err(fleet_error)
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
