//! Commands that are known again: the ids that clients give them, and what they asked for.

use serde::Serialize;

use crate::auth::Fingerprint;
use crate::caller::Caller;
use crate::error::{Code, Error};
use crate::journal::ClientId;

/// The id of a command in a session as it is kept. Each device has ids of its own, so that two that count from one do not
/// meet; those of the admin token are kept as they came.
pub(super) fn kept(caller: &Caller, id: &str) -> Result<ClientId, Error> {
    let id = ClientId::new(id)?;
    match &caller.device {
        None => Ok(id),
        Some(device) => Ok(ClientId::new(format!("device:{}", Fingerprint::of(&format!("{device}\n{id}"))))?),
    }
}

/// The same where there may be none.
pub(super) fn kept_if_any(caller: &Caller, id: Option<&str>) -> Result<Option<ClientId>, Error> {
    id.map(|id| kept(caller, id)).transpose()
}

/// The same for a command that makes a session: the ids of each folder are its own, too.
pub(super) fn kept_in(caller: &Caller, folder: &str, id: &str) -> Result<ClientId, Error> {
    let id = ClientId::new(id)?;
    let device = caller.device.as_deref().unwrap_or_default();
    // Neither a device nor an id has lines, so no two of these are alike.
    Ok(ClientId::new(format!("folder:{}", Fingerprint::of(&format!("{device}\n{id}\n{folder}"))))?)
}

/// What a command asks for, to tell it from another one with the same id.
pub(super) fn digest(command: &impl Serialize) -> String {
    Fingerprint::of(&serde_json::to_string(command).unwrap_or_default()).to_string()
}

/// The id came with something else before.
pub(super) fn used_elsewhere() -> Error {
    let message = "The id of this command was used for another one";
    Error::new(Code::Conflict, message, "give each command an id of its own, such as a UUID")
}
