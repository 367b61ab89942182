//! Files that hold something that opens doors.

use super::glob;

/// Names of such files.
const NAMES: &[&str] = &[
    "*.env",
    ".env*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "ssh_host_*_key",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc*",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".git-credentials",
    ".*_history",
    "shadow*",
    "gshadow*",
];

/// Words in the names of such files.
const WORDS: &[&str] = &["*password*", "*passwd*", "*secret*", "*token*", "*credential*"];

/// Where such files lie. The folder itself is meant as well as everything in it.
const PLACES: &[&str] = &[
    "*/.ssh/*",
    "*/.gnupg/*",
    "*/.aws/*",
    "*/.azure/*",
    "*/.kube/*",
    "*/.docker/*",
    "*/.config/gh/*",
    "*/.config/gcloud/*",
    "*/.password-store/*",
    "*/.mozilla/*",
    "*/.local/share/keyrings/*",
    "*/library/keychains/*",
    "*/.git/config",
    "/etc/ssl/private/*",
    "/run/secrets/*",
    "/var/run/secrets/*",
    // Environments, open files, and other ways to every file of the machine.
    "/proc/*/?*",
    // Disks by their names; and the network, which is a file for bash.
    "/dev/?*/?*",
    "/dev/sd*",
    "/dev/vd*",
    "/dev/nvme*",
    "/dev/mem",
];

/// Whether a path looks like such a file or leads to some, in whichever letters it is written.
pub(crate) fn is_secret(path: &str) -> bool {
    lies_among_secrets(path) || has_secret_name(path)
}

/// Whether it is, or lies in, a folder of such files.
pub(crate) fn lies_among_secrets(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let whole = if lower.starts_with('/') { lower } else { format!("/{lower}") };
    PLACES.iter().any(|pattern| path_matches(pattern, &whole))
}

/// Whether the last part of a path is the name of such a file.
pub(crate) fn has_secret_name(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    is_kept_secret(&lower) || WORDS.iter().any(|pattern| path_matches(pattern, &lower))
}

/// The same without the words that also stand in the names of tests and of code.
pub(crate) fn is_kept_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    NAMES.iter().any(|pattern| path_matches(pattern, &lower))
}

/// Whether one of the names that a pattern of the shell stands for can be that of such a file.
///
/// All files of an extension, as in `*.rs`, are those that people mean; any other pattern may be a way around a name.
pub(crate) fn may_name_secret(pattern: &str) -> bool {
    let lower = pattern.to_ascii_lowercase();
    // A shell takes a dot at the beginning only for one that is written.
    if lower.starts_with('.') {
        return true;
    }
    match lower.strip_prefix('*') {
        Some(rest) if rest.starts_with('.') && !rest.contains(['*', '?', '[']) => {
            has_secret_name(&format!("x{rest}"))
        }
        _ => NAMES.iter().chain(WORDS).any(|secret| glob::overlap(&lower, secret)),
    }
}

/// Whether a path matches a pattern, which stands for the last part of it unless it has a `/`. What is said of
/// everything in a folder is said of the folder too, since it is a way to all of it.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
    if pattern.contains('/') {
        glob::matches(pattern, path) || glob::matches(pattern, &format!("{path}/"))
    } else {
        glob::matches(pattern, path.rsplit('/').next().unwrap_or(path))
    }
}
