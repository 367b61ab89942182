//! Settings from environment variables.

use std::ffi::OsString;

use clap::Parser;
use tidings_commands::error::CannotRun;

use super::layer::Layer;
use crate::usage;

/// Variable of each flag. Its value is parsed like that of the flag.
const VARIABLES: &[(&str, &str, Kind)] = &[
    ("TIDINGS_LISTEN", "--listen", Kind::One),
    ("TIDINGS_DATA_DIR", "--data", Kind::One),
    ("TIDINGS_CLAUDE_PATH", "--claude-path", Kind::One),
    ("TIDINGS_ALLOW_BYPASS", "--allow-bypass", Kind::Switch),
    ("TIDINGS_OBSERVE", "--observe", Kind::One),
    ("TIDINGS_TYPE_INTO", "--type-into", Kind::List(',')),
    ("TIDINGS_UNIX", "--unix", Kind::One),
    ("TIDINGS_TLS_CERT", "--tls-cert", Kind::One),
    ("TIDINGS_TLS_KEY", "--tls-key", Kind::One),
    ("TIDINGS_BASE_PATH", "--base-path", Kind::One),
    ("TIDINGS_PUBLIC_URLS", "--public-url", Kind::List(',')),
    ("TIDINGS_INSECURE_LISTEN", "--insecure-listen", Kind::Switch),
    ("TIDINGS_ALLOW_FOLDERS", "--allow-folder", Kind::List(':')),
    ("TIDINGS_PASS_ENV", "--pass-env", Kind::List(',')),
    ("TIDINGS_LIVE_MAX", "--live-max", Kind::One),
    ("TIDINGS_PARK_AFTER_S", "--park-after-s", Kind::One),
    ("TIDINGS_AGENT_LEASE", "--agent-lease", Kind::One),
    ("TIDINGS_ASK_LIMIT_S", "--ask-limit-s", Kind::One),
    ("TIDINGS_KEEP_DAYS", "--keep-days", Kind::One),
    ("TIDINGS_KEEP_EVENTS", "--keep-events", Kind::One),
    ("TIDINGS_KEEP_MIB", "--keep-mib", Kind::One),
    ("TIDINGS_ARCHIVE_MIB", "--archive-mib", Kind::One),
    ("TIDINGS_FLEET", "--fleet", Kind::One),
    ("TIDINGS_FLEET_CREDS", "--fleet-creds", Kind::One),
    ("TIDINGS_FLEET_NKEY", "--fleet-nkey", Kind::One),
    ("TIDINGS_FLEET_CA", "--fleet-ca", Kind::One),
    ("TIDINGS_FLEET_API_PREFIX", "--fleet-api-prefix", Kind::One),
    ("TIDINGS_FLEET_LABELS", "--fleet-label", Kind::List(',')),
    ("TIDINGS_LOG", "--log", Kind::One),
    ("TIDINGS_LOG_LEVEL", "--log-level", Kind::One),
];

/// Syntax of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    One,
    /// A boolean.
    Switch,
    /// Several values, with this separator.
    List(char),
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct VariableFlags {
    #[command(flatten)]
    layer: Layer,
}

/// Reads the settings from environment variables. Empty variables are ignored.
pub(super) fn layer(variables: impl Iterator<Item = (OsString, OsString)>) -> Result<Layer, CannotRun> {
    let mut all = Layer::default();
    for (name, value) in variables {
        let known = VARIABLES.iter().find(|(variable, ..)| name == *variable);
        let Some((variable, flag, kind)) = known.filter(|_| !value.is_empty()) else { continue };
        let mut flags: Vec<OsString> = Vec::new();
        match kind {
            Kind::One => flags.extend([OsString::from(flag), value]),
            Kind::List(separator) => {
                for part in value.to_string_lossy().split(*separator).filter(|part| !part.is_empty()) {
                    flags.extend([OsString::from(flag), part.into()]);
                }
            }
            Kind::Switch => match value.to_str() {
                Some("1" | "true" | "yes") => flags.push(flag.into()),
                Some("0" | "false" | "no") => {}
                _ => return Err(invalid(variable, "expected yes or no")),
            },
        }
        // One by one, so that an error names its variable.
        let parsed = VariableFlags::try_parse_from(flags)
            .map_err(|error| invalid(variable, &usage::one_line(&error)))?;
        all = all.or(parsed.layer);
    }
    Ok(all)
}

fn invalid(variable: &str, reason: &str) -> CannotRun {
    let message = format!("Invalid value of the variable `{variable}`: {reason}");
    CannotRun { code: CannotRun::USAGE, message, hint: "see `tidings serve --help`" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_a_variable() {
        let command = <VariableFlags as clap::CommandFactory>::command();
        for argument in command.get_arguments().filter_map(clap::Arg::get_long).filter(|long| *long != "help")
        {
            assert!(VARIABLES.iter().any(|(_, flag, _)| flag[2..] == *argument), "{argument}");
        }
    }

    #[test]
    fn variables_are_parsed_like_flags() {
        let pairs = [
            ("TIDINGS_LISTEN", "[::1]:9"),
            ("TIDINGS_PUBLIC_URLS", "https://a.example,https://b.example"),
            ("TIDINGS_ALLOW_FOLDERS", "/a:/b c"),
            ("TIDINGS_ALLOW_BYPASS", "yes"),
            ("TIDINGS_INSECURE_LISTEN", "0"),
            ("TIDINGS_LIVE_MAX", "7"),
            ("TIDINGS_UNIX", ""),
            ("OTHER", "x"),
        ];
        let layer = layer(pairs.iter().map(|(name, value)| (name.into(), value.into()))).unwrap();
        assert_eq!(layer.listen.as_deref(), Some("[::1]:9"));
        assert_eq!(layer.public_urls.unwrap(), ["https://a.example", "https://b.example"]);
        assert_eq!(layer.allow_folders.unwrap(), ["/a", "/b c"].map(std::path::PathBuf::from));
        assert_eq!((layer.allow_bypass, layer.insecure_listen), (Some(true), None));
        assert_eq!((layer.live_max, layer.unix), (Some(7), None));
    }

    #[test]
    fn errors_name_the_variable() {
        for (name, value, words) in [
            ("TIDINGS_LIVE_MAX", "abc", "invalid digit"),
            ("TIDINGS_LOG", "xml", "[possible values: text, json]"),
            ("TIDINGS_ALLOW_BYPASS", "perhaps", "expected yes or no"),
        ] {
            let refused = layer([(name.into(), value.into())].into_iter()).unwrap_err().message;
            assert!(refused.contains(name) && refused.contains(words), "{refused}");
            assert!(!refused.contains("error:") && !refused.contains('\n'), "{refused}");
        }
    }
}
