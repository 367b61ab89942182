//! Notes of the fleet's admin that are signed and not encrypted: whose fleet this is, and the generation of
//! its key.
//!
//! The first one lets a fleet of the same name know that it is not alone; the second one must be readable
//! for a member that does not have the new key yet.

use async_nats::jetstream::kv::Store;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::StreamExt as _;

use crate::error::{ErrorKind, FleetError};
use crate::keys::PublicKey;
use crate::limits::CALL_MAX;
use crate::link::{FleetLink, bounded};
use crate::names;

use super::member::MEMBER;
use super::{Admin, Roster, unreadable};

/// The kinds of their keys, and the purposes of their signatures.
pub(super) const FLEET_NOTE: &str = "fleet";
pub(super) const KEY_NOTE: &str = "key";

pub(super) const NOTES: [&str; 2] = [FLEET_NOTE, KEY_NOTE];

const FLEET_KEY: &str = "fleet.admin";
const KEY_KEY: &str = "key.newest";

impl Roster {
    /// Fails if the shared state belongs to another fleet of the same name. The node with the admin's key
    /// takes a state without an owner.
    pub async fn check_fleet(&self, admin: Option<&Admin>) -> Result<(), FleetError> {
        let doing = "look for another fleet of the same name";
        let store = self.0.link.bucket().await?;
        let found = bounded(doing, CALL_MAX, store.entry(FLEET_KEY)).await?;
        let found = found.map_err(|error| FleetError::server(doing, error))?;
        if let Some(entry) = &found
            && (self.hear_fleet(&entry.value).is_ok() || !self.knows_fleet())
        {
            return self.hear_fleet(&entry.value);
        }
        let Some(admin) = admin else { return Ok(()) };
        // A fleet of an earlier version has members, and no note. One of ours was overwritten if there are no
        // members of another fleet.
        let (own, others) = self.owners(&store).await?;
        if own == 0 && others > 0 {
            return Err(is_another(self.0.link.identity().fleet.as_str()));
        }
        let revision = found.map_or(0, |entry| entry.revision);
        let value = self.note(admin, FLEET_NOTE, &admin.0.public().to_string());
        let stored =
            bounded(doing, CALL_MAX, store.update(FLEET_KEY, value.clone().into(), revision)).await?;
        stored.map_err(|error| {
            let message = format!("Another server creates a fleet of this name now: {error}");
            FleetError::new(ErrorKind::Server, message, "it is tried again")
        })?;
        self.hear_fleet(&value)
    }

    /// True if this node knows its fleet from a note of the admin.
    fn knows_fleet(&self) -> bool {
        self.0.state.lock().values.get(FLEET_KEY).is_some()
    }

    /// The number of members that this fleet's admin has signed, and of others.
    async fn owners(&self, store: &Store) -> Result<(usize, usize), FleetError> {
        let doing = "list the members of the fleet";
        let keys = bounded(doing, CALL_MAX, store.keys()).await?;
        let mut keys = keys.map_err(|error| FleetError::server(doing, error))?;
        let (mut own, mut others) = (0, 0);
        while let Some(key) = bounded(doing, CALL_MAX, keys.next()).await? {
            let key = key.map_err(|error| FleetError::server(doing, error))?;
            let Some(id) = key.strip_prefix(MEMBER).and_then(|rest| rest.strip_prefix('.')) else { continue };
            let found = bounded(doing, CALL_MAX, store.entry(&key)).await?;
            let Some(entry) = found.map_err(|error| FleetError::server(doing, error))? else { continue };
            let is_own = self.hear_record(MEMBER, id, &entry.value, entry.revision).is_ok();
            *(if is_own { &mut own } else { &mut others }) += 1;
        }
        Ok((own, others))
    }

    /// Announces the generation of the fleet's newest key. From then on nothing is encrypted with an
    /// earlier one.
    pub async fn announce_key(&self, admin: &Admin, generation: u64) -> Result<(), FleetError> {
        let doing = "announce the new key of the fleet";
        let store = self.0.link.bucket().await?;
        let value = self.note(admin, KEY_NOTE, &generation.to_string());
        let stored = bounded(doing, CALL_MAX, store.put(KEY_KEY, value.clone().into())).await?;
        stored.map_err(|error| FleetError::server(doing, error))?;
        self.hear_key(&value)
    }

    /// The generation of the fleet's key that its admin has announced; none before the first rotation.
    pub fn announced_key(&self) -> Option<u64> {
        let value = self.0.state.lock().values.get(KEY_KEY).map(<[u8]>::to_vec)?;
        self.opened_note(KEY_NOTE, &self.0.link.identity().admin, &value)?.parse().ok()
    }

    /// Takes the note that says whose fleet this is.
    pub(super) fn hear_fleet(&self, value: &[u8]) -> Result<(), FleetError> {
        let identity = self.0.link.identity();
        let text = std::str::from_utf8(value).map_err(|_| unreadable())?;
        let stated: PublicKey = text.split('\n').next().unwrap_or_default().parse()?;
        self.opened_note(FLEET_NOTE, &stated, value).ok_or_else(unreadable)?;
        if stated != identity.admin {
            return Err(is_another(identity.fleet.as_str()));
        }
        self.0.state.lock().values.keep(FLEET_KEY, value);
        Ok(())
    }

    /// Takes the note about the newest key. An earlier one than the known one is refused.
    pub(super) fn hear_key(&self, value: &[u8]) -> Result<(), FleetError> {
        let identity = self.0.link.identity();
        let generation = self.opened_note(KEY_NOTE, &identity.admin, value);
        let generation: u64 = generation.and_then(|text| text.parse().ok()).ok_or_else(unreadable)?;
        if self.announced_key().is_some_and(|known| known > generation) {
            return Err(FleetError::new(ErrorKind::Refused, "An old key of the fleet is announced", ""));
        }
        self.0.state.lock().values.keep(KEY_KEY, value);
        identity.secrets.announce(generation);
        Ok(())
    }

    fn note(&self, admin: &Admin, purpose: &str, text: &str) -> Vec<u8> {
        let fleet = self.0.link.identity().fleet.as_str();
        let signature = admin.0.sign(purpose, &[fleet.as_bytes(), text.as_bytes()]);
        format!("{text}\n{}", URL_SAFE_NO_PAD.encode(signature)).into_bytes()
    }

    fn opened_note(&self, purpose: &str, key: &PublicKey, value: &[u8]) -> Option<String> {
        let (text, signature) = std::str::from_utf8(value).ok()?.split_once('\n')?;
        let fleet = self.0.link.identity().fleet.as_str();
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        key.verify(purpose, &[fleet.as_bytes(), text.as_bytes()], &signature).ok()?;
        Some(text.to_owned())
    }
}

impl FleetLink {
    /// True if the NATS server has a fleet of this connection's name: the one of a new name is free.
    pub async fn has_fleet(&self) -> Result<bool, FleetError> {
        let doing = "look for a fleet of this name";
        self.check()?;
        let name = names::bucket(&self.identity().fleet);
        let Ok(store) = bounded(doing, CALL_MAX, self.jetstream().get_key_value(&name)).await? else {
            return Ok(false);
        };
        let keys = bounded(doing, CALL_MAX, store.keys()).await?;
        let mut keys = keys.map_err(|error| FleetError::server(doing, error))?;
        while let Some(key) = bounded(doing, CALL_MAX, keys.next()).await? {
            let key = key.map_err(|error| FleetError::server(doing, error))?;
            if key == FLEET_KEY || key.starts_with("member.") {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The error for a shared state of another fleet.
fn is_another(fleet: &str) -> FleetError {
    let message = format!("The NATS server has another fleet of the name `{fleet}`");
    FleetError::new(
        ErrorKind::Conflict,
        message,
        "`tidings fleet leave`, then join that fleet with a code of its `tidings fleet invite`, or create \
         one with another name: `tidings fleet init URL --fleet NAME`",
    )
}
