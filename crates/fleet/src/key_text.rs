//! Random keys and names, and keys as text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use tidings_base::hex::hex;

use crate::error::{ErrorKind, FleetError};

pub(crate) fn random<const N: usize>() -> Result<[u8; N], FleetError> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| FleetError::new(ErrorKind::Local, "The system has no random numbers", ""))?;
    Ok(bytes)
}

/// A random name of 16 hexadecimal digits.
pub fn random_name() -> Result<String, FleetError> {
    random::<8>().map(|bytes| hex(&bytes))
}

pub(crate) fn bytes_of(text: &str) -> Result<[u8; 32], FleetError> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| invalid("Not a key: it must have 32 bytes in base64url"))
}

pub(crate) fn invalid(message: &str) -> FleetError {
    FleetError::new(ErrorKind::Invalid, message, "")
}
