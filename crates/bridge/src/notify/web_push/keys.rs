//! The key by which this server identifies itself to push services, and the random tokens of buttons.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde::{Deserialize, Serialize};
use tidings_api::Code;
use tidings_sessions::Error;
use tidings_sessions::private::{create as create_private, read as read_private};

/// The name of the file in the data folder.
const FILE: &str = "push-keys.json";

/// The keys for notifications.
pub struct PushKeys {
    signer: EcdsaKeyPair,
    random: SystemRandom,
}

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    version: u32,
    vapid: String,
}

impl PushKeys {
    /// Reads the keys from the data folder, and makes them on the first start. Blocks on disk I/O.
    pub fn open(data: &Path) -> Result<Self, Error> {
        let path = data.join(FILE);
        if let Some(text) = read_private(&path)? {
            let keys = serde_json::from_str(&text).ok().and_then(|file: KeyFile| PushKeys::read(&file));
            return keys.ok_or_else(|| {
                let message = format!("Not the keys for notifications: `{}`", path.display());
                let hint = "move the file away; the next start makes new keys, and devices subscribe again";
                Error::new(Code::Internal, message, hint)
            });
        }
        let file = make().ok_or_else(|| Error::new(Code::Internal, "No keys could be made", ""))?;
        let text = serde_json::to_vec_pretty(&file)
            .map_err(|error| Error::new(Code::Internal, error.to_string(), ""))?;
        create_private(&path, &text)
            .map_err(|error| Error::new(Code::Internal, error.to_string(), "check the free disk space"))?;
        PushKeys::read(&file).ok_or_else(|| Error::new(Code::Internal, "The new keys are invalid", ""))
    }

    /// Keys that are not stored, for a server without a data folder.
    pub fn temporary() -> Result<Self, Error> {
        let keys = make().as_ref().and_then(PushKeys::read);
        keys.ok_or_else(|| Error::new(Code::Internal, "No keys could be made", ""))
    }

    fn read(file: &KeyFile) -> Option<Self> {
        let bytes = |text: &str| BASE64.decode(text).ok();
        let random = SystemRandom::new();
        let signer = bytes(&file.vapid)?;
        let signer = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &signer, &random).ok()?;
        Some(PushKeys { signer, random }).filter(|_| file.version == 1)
    }

    /// The public key, as browsers want it.
    pub(crate) fn public(&self) -> String {
        BASE64.encode(self.signer.public_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        self.signer.sign(&self.random, message).ok().map(|signed| signed.as_ref().to_vec())
    }

    /// A new token for a button: 256 random bits, safe in a URL.
    pub(in crate::notify) fn action_token(&self) -> Option<String> {
        let mut bytes = [0; 32];
        self.random.fill(&mut bytes).ok()?;
        Some(BASE64.encode(bytes))
    }
}

fn make() -> Option<KeyFile> {
    let random = SystemRandom::new();
    let vapid = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).ok()?;
    Some(KeyFile { version: 1, vapid: BASE64.encode(vapid) })
}

impl fmt::Debug for PushKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PushKeys(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_the_same_and_belong_to_their_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let first = PushKeys::open(folder.path()).unwrap();
        let again = PushKeys::open(folder.path()).unwrap();
        assert_eq!(first.public(), again.public());
        let path = folder.path().join(FILE);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&path, "{}").unwrap();
        assert!(PushKeys::open(folder.path()).is_err(), "a damaged file is not replaced silently");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_the_keys_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, folder.path().join(FILE)).unwrap();
        assert!(PushKeys::open(folder.path()).is_err());
        assert!(!elsewhere.exists(), "nothing was written through the link");
    }
}
