//! Limits of credentials, devices and folder trust.

use std::time::Duration;

/// Devices that have credentials. Each request compares its own credential with all of them.
pub(crate) const DEVICES_MAX: usize = 256;

/// Time for which the credential of a new device is kept for a client that retries: as long as clients retry,
/// and no longer.
pub(crate) const DEVICE_REPEATED_FOR: Duration = Duration::from_secs(10 * 60);

/// New devices that are remembered in that time. An admin makes them by hand.
pub(crate) const DEVICE_REPEATS_MAX: usize = 64;

/// Folders that one device is limited to.
pub(crate) const DEVICE_FOLDERS_MAX: usize = 64;

/// The name of a device, in characters: it has to fit into a line of a list.
pub(crate) const DEVICE_NAME_CHARS_MAX: usize = 64;

/// One-time codes of a server that wait to be used. Programs get credentials instead.
pub(crate) const CODES_MAX: usize = 16;

/// Wrong codes after which the waiting codes are void: five guesses at fifty bits.
pub(crate) const CODE_TRIES_MAX: u32 = 5;

/// Addresses whose requests are counted separately, before idle ones are forgotten.
pub(crate) const RATE_ADDRESSES_MAX: usize = 4096;

/// Sessions with marks. Each session that was shown has one, so that the oldest give way.
pub(crate) const MARKS_MAX: usize = 10_000;

/// Time within which a device that is seen again is not recorded again.
pub(crate) const DEVICE_SEEN_AGAIN: Duration = Duration::from_secs(5 * 60);

/// Cookies of one name that are tried; a browser sends several if they were set for several paths.
pub(crate) const COOKIES_SAME_NAME_MAX: usize = 4;

/// Revocations that an endpoint may not have seen yet. An endpoint that misses some closes every connection
/// of a device.
pub(crate) const REVOKED_MAX: usize = 256;

/// Time for which a new code waits for the fleet before it is shown. Without an answer it is good on this
/// server.
pub(crate) const CODE_SHARED_WAIT: Duration = Duration::from_secs(1);

/// Lifetime of a code. Wall clocks may jump, so a monotonic clock counts it.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(60);
