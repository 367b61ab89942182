//! Devices with credentials: names, scopes, folders, and fingerprints of their secrets.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use subtle::{Choice, ConditionallySelectable as _};
use tidings_agent::permissions::is_hidden;
use tidings_api::{Code, Device, NewDevice, Scope, Scopes};
use tidings_sessions::secret::{Fingerprint, Random, Secret};
use tidings_sessions::{Caller, Error, private};

use crate::limits::{DEVICE_FOLDERS_MAX, DEVICE_NAME_CHARS_MAX, DEVICE_SEEN_AGAIN, DEVICES_MAX};

/// The default scopes of a device, chosen for phones.
const USUAL: [Scope; 3] = [Scope::Read, Scope::Prompt, Scope::Decide];

/// All devices, in memory and in a file.
#[derive(Debug)]
pub(crate) struct Devices {
    path: PathBuf,
    state: Mutex<DeviceState>,
    /// Held while the file is written, so that an older list never replaces a newer one.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct DeviceState {
    known: Vec<KnownDevice>,
    /// Devices of the fleet, which its admin signed.
    shared: Vec<KnownDevice>,
    /// True if a `last_seen` time is not saved yet.
    seen_since: bool,
}

/// The checked properties of a new device.
#[derive(Debug, Clone)]
pub(crate) struct DevicePlan {
    pub(crate) name: Option<String>,
    scopes: Scopes,
    folders: Vec<String>,
    lifetime: Option<SignedDuration>,
    /// The id of the device and the pairing code of the fleet that it was used for.
    paired_as: Option<(String, String)>,
}

#[derive(Debug, Clone)]
struct KnownDevice {
    id: String,
    name: String,
    scopes: Scopes,
    folders: Vec<String>,
    created: Timestamp,
    seen: Option<Timestamp>,
    expires: Option<Timestamp>,
    secret: Fingerprint,
    /// The pairing code of the fleet that it was made with: a proof of its rights for the fleet's admin.
    pairing: Option<String>,
    /// Scopes of a later version. They give no rights here, and stay in the record.
    unknown_scopes: Vec<String>,
    /// Other parts of the record that a later version has added.
    unknown: Map<String, Value>,
}

/// The content of the file. A file of a newer version is refused (F113).
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    devices: Vec<Record>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    #[serde(flatten)]
    device: Device,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairing: Option<String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl DevicePlan {
    /// Checks the requested properties of a device.
    pub(crate) fn new(wanted: NewDevice) -> Result<Self, Error> {
        let scopes = match wanted.scopes {
            None => USUAL.into_iter().collect(),
            Some(words) => words.iter().map(|word| word.parse()).collect::<Result<Vec<Scope>, _>>()?.into(),
        };
        let refused = |message: &str, hint: &'static str| Err(Error::new(Code::Invalid, message, hint));
        if Vec::from(scopes).is_empty() {
            return refused("A device needs at least one scope", "name one, such as `read`");
        }
        if wanted.folders.len() > DEVICE_FOLDERS_MAX
            || wanted.folders.iter().any(|folder| folder.len() > 4096)
        {
            return refused("The device has too many folders, or too long paths", "name a parent folder");
        }
        let is_whole =
            |folder: &String| folder.starts_with('/') && !folder.split('/').any(|part| part == "..");
        if !wanted.folders.iter().all(is_whole) {
            return refused(
                "The folders of a device must be absolute paths",
                "begin with `/`, and leave `..` out",
            );
        }
        let lifetime = match wanted.expires_in_s.map(i64::try_from) {
            Some(Ok(seconds)) if (1..=LIFETIME_S_MAX).contains(&seconds) => {
                Some(SignedDuration::from_secs(seconds))
            }
            Some(_) => {
                let message = "The credential must expire within ten years, and not at once";
                return refused(message, "leave `expires_in_s` out for no expiry");
            }
            None => None,
        };
        let name = wanted.name.as_deref().map(plain_name).transpose()?;
        Ok(DevicePlan { name, scopes, folders: wanted.folders, lifetime, paired_as: None })
    }

    /// The plan of a device that was paired with a code of the fleet, under an id that was chosen before.
    pub(crate) fn paired_as(self, id: String, code: String) -> Self {
        DevicePlan { paired_as: Some((id, code)), ..self }
    }

    /// The properties, for other servers.
    pub(crate) fn wanted(&self) -> NewDevice {
        NewDevice {
            name: self.name.clone(),
            scopes: Some(words_of(self.scopes)),
            folders: self.folders.clone(),
            expires_in_s: self.lifetime.and_then(|lifetime| u64::try_from(lifetime.as_secs()).ok()),
        }
    }
}

/// The longest lifetime of a credential with an expiry: ten years.
const LIFETIME_S_MAX: i64 = 10 * 366 * 24 * 60 * 60;

/// A checked name of a device.
pub(crate) fn plain_name(name: &str) -> Result<String, Error> {
    let name = name.trim();
    // U+FE0F only selects the emoji form of the character before it, which is common in names.
    let hidden = |c: char| c.is_control() || (is_hidden(c) && c != '\u{fe0f}');
    if name.is_empty() || name.chars().count() > DEVICE_NAME_CHARS_MAX || name.chars().any(hidden) {
        let hint = "use up to 64 characters, none of them invisible";
        return Err(Error::new(Code::Invalid, "Invalid device name", hint));
    }
    Ok(name.to_owned())
}

impl Devices {
    /// Reads the file; a missing one is an empty list.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Error> {
        let damaged = |reason: &str| {
            let message = format!("Failed to read the devices in `{}`: {reason}", path.display());
            Error::new(Code::Internal, message, "move the file away and pair your devices again")
        };
        let known = match private::read(&path)? {
            None => Vec::new(),
            Some(text) => {
                let document: Document =
                    serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
                if document.version != 1 {
                    return Err(damaged("it was written by a newer version"));
                }
                let known: Option<Vec<KnownDevice>> =
                    document.devices.into_iter().map(KnownDevice::read).collect();
                known.ok_or_else(|| damaged("a device is incomplete"))?
            }
        };
        let state = Mutex::new(DeviceState { known, ..DeviceState::default() });
        Ok(Devices { path, state, writing: Mutex::new(()) })
    }

    /// Adds a device. Blocks on disk I/O.
    pub(crate) fn add(
        &self,
        plan: DevicePlan,
        now: Timestamp,
        random: &Random,
    ) -> Result<(Device, Secret), Error> {
        let secret = random.token()?;
        let (id, pairing) = match plan.paired_as {
            Some((id, pairing)) => (id, Some(pairing)),
            None => (random.name()?, None),
        };
        let known = KnownDevice {
            id,
            pairing,
            name: plan.name.unwrap_or_else(|| "device".to_owned()),
            scopes: plan.scopes,
            folders: plan.folders,
            created: now,
            seen: None,
            expires: plan.lifetime.and_then(|lifetime| now.checked_add(lifetime).ok()),
            secret: Fingerprint::of(secret.reveal()),
            unknown_scopes: Vec::new(),
            unknown: Map::new(),
        };
        let device = known.view();
        {
            let mut all = self.state.lock();
            if all.known.len() >= DEVICES_MAX {
                let hint = "revoke unused devices";
                return Err(Error::new(Code::TooMany, "There are too many devices", hint));
            }
            all.known.push(known);
        }
        let saved = self.save();
        if saved.is_err() {
            self.state.lock().known.retain(|known| known.id != device.id);
        }
        saved.map(|()| (device, secret))
    }

    /// Adds scopes to a device. Blocks on disk I/O.
    pub(crate) fn grant(&self, id: &str, scopes: Scopes) -> Result<Device, Error> {
        let set = |change: &dyn Fn(&mut KnownDevice)| {
            let mut all = self.state.lock();
            let known = all.known.iter_mut().find(|known| known.id == id).ok_or_else(|| no_device(id))?;
            let before = known.scopes;
            change(known);
            Ok::<_, Error>((before, known.view()))
        };
        let added = Vec::from(scopes);
        let (before, device) =
            set(&|known| known.scopes = Vec::from(known.scopes).into_iter().chain(added.clone()).collect())?;
        if let Err(error) = self.save() {
            drop(set(&|known| known.scopes = before));
            return Err(error);
        }
        Ok(device)
    }

    /// Removes a device. Its credential is invalid from here on, even if the file cannot be written.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Error> {
        let mut all = self.state.lock();
        let count = all.known.len();
        all.known.retain(|known| known.id != id);
        let found = all.known.len() < count;
        drop(all);
        if !found {
            return Err(no_device(id));
        }
        self.save()
    }

    /// The time at which the next device expires.
    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        self.state.lock().known.iter().filter_map(|known| known.expires).min()
    }

    /// Removes expired devices. Returns their ids, and the result of writing the file.
    pub(crate) fn expire(&self, now: Timestamp) -> (Vec<String>, Result<(), Error>) {
        let mut over = Vec::new();
        self.state.lock().known.retain(|known| {
            let alive = known.expires.is_none_or(|expires| now < expires);
            if !alive {
                over.push(known.id.clone());
            }
            alive
        });
        let saved = if over.is_empty() { Ok(()) } else { self.save() };
        (over, saved)
    }

    /// All devices, those of the fleet too.
    pub(crate) fn list(&self) -> Vec<Device> {
        let all = self.state.lock();
        let others = all.shared.iter().filter(|shared| !all.known.iter().any(|known| known.id == shared.id));
        all.known.iter().chain(others).map(KnownDevice::view).collect()
    }

    /// The devices of this server, with the fingerprints of their secrets, by id.
    pub(crate) fn records(&self) -> Vec<(String, Value)> {
        let record = |known: &KnownDevice| {
            (known.id.clone(), serde_json::to_value(known.record()).unwrap_or_default())
        };
        self.state.lock().known.iter().map(record).collect()
    }

    /// Sets the devices of the fleet, and returns the ids of those that are not valid any more.
    pub(crate) fn set_shared(&self, known: Vec<Value>, removed: &[String]) -> Vec<String> {
        let read = |record: Value| KnownDevice::read(serde_json::from_value(record).ok()?);
        let shared: Vec<KnownDevice> = known.into_iter().filter_map(read).take(DEVICES_MAX).collect();
        let mut state = self.state.lock();
        let before = std::mem::replace(&mut state.shared, shared);
        let is_gone = |id: &String| !state.shared.iter().any(|device| device.id == *id);
        let mut gone: Vec<String> = before.into_iter().map(|device| device.id).filter(is_gone).collect();
        let here = removed.iter().filter(|id| state.known.iter().any(|device| device.id == **id));
        gone.extend(here.cloned());
        gone.dedup();
        gone
    }

    /// The caller with this secret among the devices of the fleet.
    pub(crate) fn shared_caller(&self, secret: &Fingerprint, now: Timestamp) -> Option<Caller> {
        let state = self.state.lock();
        let mut found = u64::MAX;
        for (known, place) in state.shared.iter().zip(0_u64..) {
            found.conditional_assign(&place, known.secret.same(secret));
        }
        let known = state.shared.get(usize::try_from(found).ok()?)?;
        known.expires.is_none_or(|expires| now < expires).then(|| known.caller())
    }

    /// A device of the fleet, as a caller.
    pub(crate) fn shared_device(&self, id: &str, now: Timestamp) -> Option<Caller> {
        let state = self.state.lock();
        let known = state.shared.iter().find(|device| device.id == id)?;
        known.expires.is_none_or(|expires| now < expires).then(|| known.caller())
    }

    /// Forgets a device of the fleet; true if there was one.
    pub(crate) fn remove_shared(&self, id: &str) -> bool {
        let mut state = self.state.lock();
        let count = state.shared.len();
        state.shared.retain(|device| device.id != id);
        state.shared.len() < count
    }

    /// The caller with this secret. Every device is compared, so that the time reveals nothing.
    pub(crate) fn caller(&self, secret: &Fingerprint, now: Timestamp) -> Option<Caller> {
        let mut guard = self.state.lock();
        let DeviceState { known: all, seen_since, .. } = &mut *guard;
        let mut found = u64::MAX;
        for (known, place) in all.iter().zip(0_u64..) {
            let same: Choice = known.secret.same(secret);
            found.conditional_assign(&place, same);
        }
        let known = all.get_mut(usize::try_from(found).ok()?)?;
        if known.expires.is_some_and(|expires| expires <= now) {
            return None;
        }
        let again = |seen: Timestamp| now.duration_since(seen).unsigned_abs() < DEVICE_SEEN_AGAIN;
        if !known.seen.is_some_and(again) {
            known.seen = Some(now);
            *seen_since = true;
        }
        Some(known.caller())
    }

    /// Writes the file if a `last_seen` time is not saved yet.
    pub(crate) fn save_seen(&self) -> Result<(), Error> {
        if !std::mem::take(&mut self.state.lock().seen_since) {
            return Ok(());
        }
        self.save()
    }

    /// Writes the file, which is read at the next start only.
    fn save(&self) -> Result<(), Error> {
        let _writing = self.writing.lock();
        let devices = self.state.lock().known.iter().map(KnownDevice::record).collect();
        let document = Document { version: 1, devices };
        let text = serde_json::to_vec_pretty(&document)
            .map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        private::replace(&self.path, &text)
    }
}

fn words_of(scopes: Scopes) -> Vec<String> {
    Vec::from(scopes).into_iter().map(|scope| scope.as_str().to_owned()).collect()
}

pub(super) fn no_device(id: &str) -> Error {
    Error::new(Code::NotFound, format!("No device has the id `{id}`"), "list the devices first")
}

impl KnownDevice {
    fn caller(&self) -> Caller {
        Caller {
            name: self.name.clone(),
            device: Some(self.id.clone()),
            scopes: self.scopes,
            folders: self.folders.clone(),
        }
    }

    fn record(&self) -> Record {
        let (sha256, pairing) = (self.secret.to_string(), self.pairing.clone());
        Record { device: self.view(), sha256, pairing, unknown: self.unknown.clone() }
    }

    fn view(&self) -> Device {
        let scopes = words_of(self.scopes).into_iter().chain(self.unknown_scopes.iter().cloned());
        Device {
            id: self.id.clone(),
            name: self.name.clone(),
            scopes: scopes.collect(),
            folders: self.folders.clone(),
            created: self.created.to_string(),
            last_seen: self.seen.map(|seen| seen.to_string()),
            expires: self.expires.map(|expires| expires.to_string()),
        }
    }

    fn read(record: Record) -> Option<KnownDevice> {
        let Record { device, sha256, pairing, unknown } = record;
        let (known, unknown_scopes): (Vec<String>, Vec<String>) =
            device.scopes.into_iter().partition(|scope| scope.parse::<Scope>().is_ok());
        let scopes = known.iter().filter_map(|scope| scope.parse::<Scope>().ok()).collect();
        let time = |text: Option<String>| text.map(|text| text.parse()).transpose().ok();
        Some(KnownDevice {
            id: device.id,
            name: device.name,
            scopes,
            folders: device.folders,
            created: device.created.parse().ok()?,
            seen: time(device.last_seen)?,
            expires: time(device.expires)?,
            secret: Fingerprint::parse(&sha256)?,
            pairing,
            unknown_scopes,
            unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_device_of_a_later_version_keeps_its_fields_and_gets_only_known_rights() {
        let secret = Secret::new("tidings_x");
        let print = Fingerprint::of(secret.reveal());
        let device = json!({
            "id": "d1", "name": "phone", "scopes": ["read", "paint"], "folders": [],
            "created": "2026-01-01T00:00:00Z", "sha256": print.to_string(), "colour": {"name": "red"},
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("devices.json");
        let file = json!({"version": 1, "devices": [device]}).to_string();
        private::create(&path, file.as_bytes()).unwrap();
        let devices = Devices::open(path.clone()).unwrap();
        let now: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        let caller = devices.caller(&print, now).unwrap();
        assert!(caller.scopes.has(Scope::Read) && !caller.scopes.has(Scope::Prompt));
        assert_eq!(devices.list()[0].scopes, ["read", "paint"], "an unknown scope is shown");
        // The time at which it was seen is written, and the rest stays.
        devices.save_seen().unwrap();
        let written: Value = serde_json::from_str(&private::read(&path).unwrap().unwrap()).unwrap();
        let mut expected = device.clone();
        expected["last_seen"] = json!("2026-01-02T00:00:00Z");
        assert_eq!(written["devices"][0], expected);
        // The same from the shared state of a fleet.
        let other = Devices::open(folder.path().join("other.json")).unwrap();
        other.set_shared(vec![device], &[]);
        assert!(other.shared_device("d1", now).unwrap().scopes.has(Scope::Read));
    }
}
