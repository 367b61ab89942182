//! Files that contain credentials.

use std::sync::LazyLock;

use super::glob::{self, PathPatterns};

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
    // States, settings and keys of infrastructure.
    "*.env.*",
    "*.tfstate",
    "*.tfstate.*",
    "*.tfvars",
    "*.tfvars.json",
    ".terraformrc",
    "terraform.rc",
    "kubeconfig",
    "kubeconfig.*",
    "kubeconfig-*",
    "*.kubeconfig",
    "*.keytab",
    "wg?.conf",
    "wg??.conf",
    "wireguard*.conf",
    "*.ovpn",
    "rclone.conf",
    ".boto",
    ".s3cfg",
    ".vault-*",
    ".dockerconfigjson",
    "service-account*.json",
    "serviceaccount*.json",
    "gha-creds-*.json",
    // Settings of applications that usually contain a password.
    "wp-config*.php",
    "database.yml",
    "pgpass.conf",
    ".mylogin.cnf",
    "auth.json",
    "htpasswd*",
    // Keys, and programs that keep them.
    "*.ppk",
    "*.gpg",
    "*.age",
    "*.pkcs12",
    "*.pkcs8",
    "*.bks",
    "*.kdb",
    "*.agilekeychain",
    "*.opvault",
    "*.mobileprovision",
    "logins.json",
    "key4.db",
    "cookies.sqlite*",
    ".claude.json",
    // The data of a server, wherever it lies.
    "push-keys.json",
    "journal.db*",
];

/// Words in the names of such files.
const WORDS: &[&str] = &["*password*", "*passwd*", "*secret*", "*token*", "*credential*"];

/// Folders of such files. A pattern includes the folder itself and everything in it.
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
    "*/.terraform.d/*",
    "*/.oci/*",
    "*/.config/op/*",
    "*/.config/rclone/*",
    "*/.config/sops/*",
    "*/.config/containers/*",
    "*/.config/doctl/*",
    "*/.config/hub",
    "*/.config/chromium/*",
    "*/.config/google-chrome/*",
    "*/.thunderbird/*",
    "*/.m2/settings*.xml",
    "*/.gradle/gradle.properties",
    "/etc/wireguard/*",
    "/etc/krb5*",
    "/etc/sudoers*",
    "/etc/kubernetes/*",
    "/etc/ssl/private/*",
    "/run/secrets/*",
    "/var/run/secrets/*",
    // Environments, open files, and other paths to every file of the machine.
    "/proc/*/?*",
    // Block devices; and the network, which bash offers as files.
    "/dev/?*/?*",
    "/dev/sd*",
    "/dev/vd*",
    "/dev/nvme*",
    "/dev/mem",
];

/// True if a path looks like such a file or leads to one, ignoring case.
pub(crate) fn is_secret(path: &str) -> bool {
    lies_among_secrets(path) || has_secret_name(path)
}

/// True if it is, or lies in, a folder of such files.
pub(crate) fn lies_among_secrets(path: &str) -> bool {
    static PATTERNS: LazyLock<PathPatterns<'static>> =
        LazyLock::new(|| PathPatterns::new(PLACES.iter().copied()));
    let lower = path.to_ascii_lowercase();
    let whole = if lower.starts_with('/') { lower } else { format!("/{lower}") };
    PATTERNS.match_path(&whole)
}

/// True if the last part of a path is the name of such a file.
pub(crate) fn has_secret_name(path: &str) -> bool {
    static PATTERNS: LazyLock<PathPatterns<'static>> =
        LazyLock::new(|| PathPatterns::new(WORDS.iter().copied()));
    is_kept_secret(path) || PATTERNS.match_path(&path.to_ascii_lowercase())
}

/// True if the name is one of [`NAMES`]; unlike [`WORDS`], these do not occur in the names of tests and code.
pub(crate) fn is_kept_secret(path: &str) -> bool {
    static PATTERNS: LazyLock<PathPatterns<'static>> =
        LazyLock::new(|| PathPatterns::new(NAMES.iter().copied()));
    PATTERNS.match_path(&path.to_ascii_lowercase())
}

/// True if a file has the name or the place of a file of credentials. Words such as `token` do not count:
/// many files of code have them in their names.
pub fn is_sensitive_file(path: &str) -> bool {
    lies_among_secrets(path) || is_kept_secret(path)
}

/// True if a folder is one of credentials, or lies in one. Words such as `token` do not count: many projects
/// have them in their names.
pub fn is_sensitive_folder(path: &str) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_named_so = ["secret", "secrets", "credentials", "passwords"].contains(&name.as_str());
    is_named_so || lies_among_secrets(path) || is_kept_secret(path)
}

/// True if a shell pattern can match the name of such a file.
///
/// A pattern for an extension, as in `*.rs`, is taken literally; any other pattern may be an attempt to hide
/// a name.
pub(crate) fn may_name_secret(pattern: &str) -> bool {
    let lower = pattern.to_ascii_lowercase();
    // A shell pattern matches a leading dot only if it is written.
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
