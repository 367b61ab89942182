//! Detection of repeated commands: the ids that clients give them, and digests of their contents.

use serde::Serialize;
use tidings_api::Code;
use tidings_journal::ClientId;

use crate::secret::Fingerprint;
use crate::{Caller, Error};

/// The id under which a command is stored in its session. Each device has its own namespace, so that two
/// devices that count from one do not collide; ids of the admin token are stored as they came.
pub(crate) fn stored_id(caller: &Caller, id: &str) -> Result<ClientId, Error> {
    let id = ClientId::new(id)?;
    match &caller.device {
        None => Ok(id),
        Some(device) => Ok(ClientId::new(format!("device:{}", Fingerprint::of(&format!("{device}\n{id}"))))?),
    }
}

/// Like [`stored_id`], for an optional id.
pub(crate) fn optional_stored_id(caller: &Caller, id: Option<&str>) -> Result<Option<ClientId>, Error> {
    id.map(|id| stored_id(caller, id)).transpose()
}

/// The id of a command that creates a session: its namespace is the device and the folder.
pub(crate) fn stored_id_in_folder(caller: &Caller, folder: &str, id: &str) -> Result<ClientId, Error> {
    let id = ClientId::new(id)?;
    let device = caller.device.as_deref().unwrap_or_default();
    // Neither a device nor an id contains line breaks, so these strings are unique.
    Ok(ClientId::new(format!("folder:{}", Fingerprint::of(&format!("{device}\n{id}\n{folder}"))))?)
}

/// The digest of a command, to tell it from another one with the same id.
pub(crate) fn digest(command: &impl Serialize) -> String {
    Fingerprint::of(&serde_json::to_string(command).unwrap_or_default()).to_string()
}

/// The error for an id that came with another command before.
pub(crate) fn used_elsewhere() -> Error {
    let message = "The id of this command was used for another one";
    Error::new(Code::Conflict, message, "give each command an id of its own, such as a UUID")
}
