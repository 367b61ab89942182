//! The environment of agents: a minimal part of the server's environment (T14).

use std::ffi::{OsStr, OsString};

/// Variables that every agent gets. None of them holds a secret; secrets must be named with `--pass-env`.
const USUAL: &[&str] = &[
    "CLAUDE_CONFIG_DIR",
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERPROFILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// The variables that agents receive: the usual ones, and those in `extra_allowed`, such as
/// `ANTHROPIC_API_KEY` or `HTTPS_*`. Values that are not UTF-8 are left out. Relative folders are removed
/// from `PATH`, so that programs in the working folder are not run by name (F124).
pub fn environment(
    from: impl Iterator<Item = (OsString, OsString)>,
    extra_allowed: &[String],
) -> Vec<(String, String)> {
    let allowed = |name: &str| {
        let usual = USUAL.iter().any(|pattern| matches(pattern, name));
        let extra = extra_allowed.iter().any(|pattern| matches(pattern, name));
        // These configure the server and may contain secrets.
        (usual || extra) && !name.starts_with("TIDINGS_")
    };
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let mut kept: Vec<(String, String)> = from.filter_map(text).filter(|(name, _)| allowed(name)).collect();
    for (name, value) in &mut kept {
        if name == "PATH" {
            *value = absolute(value);
        }
    }
    kept.sort();
    kept
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => !start.is_empty() && name.starts_with(start),
        None => pattern == name,
    }
}

fn absolute(path: &str) -> String {
    let separator = if cfg!(windows) { ';' } else { ':' };
    let kept = path.split(separator).filter(|folder| std::path::Path::new(OsStr::new(folder)).is_absolute());
    kept.collect::<Vec<_>>().join(&separator.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn t14_a_child_gets_a_short_list_and_what_was_named() {
        let all = [
            ("ANTHROPIC_API_KEY", "sk-ant-1"),
            ("AWS_SECRET_ACCESS_KEY", "a"),
            ("GITHUB_TOKEN", "b"),
            ("HOME", "/home/a"),
            ("HTTPS_PROXY", "http://p"),
            ("LC_TIME", "C"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("NODE_OPTIONS", "--require /tmp/x.js"),
            ("PATH", ".:/usr/bin::bin:/bin:"),
            ("SSH_AUTH_SOCK", "/run/a"),
            ("TERM", "xterm"),
            ("TIDINGS_LOG", "debug"),
        ];
        let given = || all.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let usual = [("HOME", "/home/a"), ("LC_TIME", "C"), ("PATH", "/usr/bin:/bin"), ("TERM", "xterm")];
        assert_eq!(environment(given(), &[]), pairs(&usual));

        let extra = ["ANTHROPIC_*", "HTTPS_PROXY", "*", "TIDINGS_LOG"].map(str::to_owned);
        let more = [("ANTHROPIC_API_KEY", "sk-ant-1"), ("HOME", "/home/a"), ("HTTPS_PROXY", "http://p")];
        assert_eq!(environment(given(), &extra), pairs(&[more.as_slice(), &usual[1..]].concat()));
    }
}
