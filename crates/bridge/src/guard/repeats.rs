//! Devices that were made a moment ago, for whoever did not hear of it and asks again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tidings_protocol::api::{Device, NewDevice};

use super::secret::{Fingerprint, Secret};
use crate::error::{Code, Error};
use crate::limits::{DEVICE_REPEATED_FOR, DEVICE_REPEATS_MAX};

/// The last few. Their credentials are nowhere else, so they are not kept for long, and never on disk.
#[derive(Debug, Default)]
pub(super) struct Repeats(Mutex<VecDeque<Made>>);

#[derive(Debug)]
struct Made {
    id: String,
    what: String,
    at: Instant,
    device: Device,
    secret: Secret,
}

impl Repeats {
    /// Makes a device, unless the same command has made it. Another command with the same id is refused.
    pub(super) fn once(
        &self,
        id: &str,
        wanted: NewDevice,
        make: impl FnOnce(NewDevice) -> Result<(Device, Secret), Error>,
    ) -> Result<(Device, Secret), Error> {
        let what = serde_json::to_string(&wanted).unwrap_or_default();
        let what = Fingerprint::of(&what).to_string();
        // It is held while the device is made, so that two at once make one.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|made| made.at.elapsed() < DEVICE_REPEATED_FOR);
        if let Some(made) = all.iter().find(|made| made.id == id) {
            if made.what != what {
                let message = "The id of this command was used for another device";
                return Err(Error::new(Code::Conflict, message, "give each command an id of its own"));
            }
            return Ok((made.device.clone(), made.secret.clone()));
        }
        let (device, secret) = make(wanted)?;
        if all.len() >= DEVICE_REPEATS_MAX {
            all.pop_front();
        }
        all.push_back(Made {
            id: id.to_owned(),
            what,
            at: Instant::now(),
            device: device.clone(),
            secret: secret.clone(),
        });
        Ok((device, secret))
    }
}
