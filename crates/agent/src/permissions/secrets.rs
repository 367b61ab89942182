//! Files that hold something that opens doors.

use super::glob;

/// Patterns for such files. Without a `/` it is the name of the file that has to match.
pub(crate) const SECRETS: &[&str] = &[
    "*.env",
    ".env*",
    "*password*",
    "*passwd*",
    "*secret*",
    "*token*",
    "*credential*",
    "*.pem",
    "*.key",
    "id_rsa*",
    "id_ed25519*",
    "id_ecdsa*",
    ".netrc",
    ".npmrc",
    ".pypirc",
    "shadow",
    "*/.ssh/*",
    "*/.gnupg/*",
    "*/.aws/*",
    "*/.kube/*",
    "/proc/*/environ",
];

/// Whether a path looks like such a file, in whichever letters it is written.
pub(crate) fn is_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    SECRETS.iter().any(|pattern| path_matches(pattern, &lower))
}

/// Whether a path matches a pattern, which stands for the last part of it unless it has a `/`.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
    let part = if pattern.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) };
    glob::matches(pattern, part)
}
