//! Settings from environment variables.

use std::ffi::OsString;

use tidings_commands::error::CannotRun;

use super::declared::{DeclaredSettings, GivenFlags};
use super::setting::{self, Syntax};
use crate::usage;

/// Replaces the settings that variables have. Their values are parsed like those of the flags; empty
/// variables are ignored.
pub(super) fn replace(
    settings: &mut DeclaredSettings,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<(), CannotRun> {
    let declared = setting::all();
    for (name, value) in variables {
        let known = declared.iter().find(|setting| name == *setting.variable());
        let Some(setting) = known.filter(|_| !value.is_empty()) else { continue };
        let flag = || OsString::from(setting.flag());
        let mut flags: Vec<OsString> = Vec::new();
        match setting.syntax() {
            Syntax::One => flags.extend([flag(), value]),
            Syntax::List(separator) => {
                for part in value.to_string_lossy().split(separator).filter(|part| !part.is_empty()) {
                    flags.extend([flag(), part.into()]);
                }
            }
            Syntax::Switch => match value.to_str() {
                Some("1" | "true" | "yes") => flags.push(flag()),
                Some("0" | "false" | "no") => {}
                _ => return Err(invalid(&setting.variable(), "expected yes or no")),
            },
        }
        // One by one, so that an error names its variable.
        let given = GivenFlags::parse(flags);
        given
            .and_then(|given| settings.replace(&given))
            .map_err(|error| invalid(&setting.variable(), &usage::one_line(&error)))?;
    }
    Ok(())
}

fn invalid(variable: &str, reason: &str) -> CannotRun {
    let message = format!("Invalid value of the variable `{variable}`: {reason}");
    CannotRun { code: CannotRun::USAGE, message, hint: "see `tidings serve --help`" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::serve::declared::TypeInto;

    fn read(variables: &[(&str, &str)]) -> Result<DeclaredSettings, CannotRun> {
        let mut settings = DeclaredSettings::default();
        replace(&mut settings, variables.iter().map(|(name, value)| (name.into(), value.into())))?;
        Ok(settings)
    }

    #[test]
    fn variables_are_parsed_like_flags() {
        let pairs = [
            ("TIDINGS_LISTEN", "[::1]:9"),
            ("TIDINGS_PUBLIC_URLS", "https://a.example,https://b.example"),
            ("TIDINGS_ALLOW_FOLDERS", "/a:/b c"),
            ("TIDINGS_TYPE_INTO", "tmux,messages"),
            ("TIDINGS_ALLOW_BYPASS", "yes"),
            ("TIDINGS_INSECURE_LISTEN", "0"),
            ("TIDINGS_LIVE_MAX", "7"),
            ("TIDINGS_UNIX", ""),
            ("OTHER", "x"),
        ];
        let settings = read(&pairs).unwrap();
        assert_eq!(settings.listen, "[::1]:9");
        assert_eq!(settings.public_urls, ["https://a.example", "https://b.example"]);
        assert_eq!(settings.allow_folders, ["/a", "/b c"].map(|path| OsString::from(path).into()));
        assert_eq!(settings.type_into, [TypeInto::Tmux, TypeInto::Messages]);
        assert!(settings.allow_bypass && !settings.insecure_listen);
        assert_eq!((settings.live_max, settings.unix), (7, None));
    }

    #[test]
    fn errors_name_the_variable() {
        for (name, value, words) in [
            ("TIDINGS_LIVE_MAX", "abc", "invalid digit"),
            ("TIDINGS_LOG", "xml", "[possible values: text, json]"),
            ("TIDINGS_ALLOW_BYPASS", "perhaps", "expected yes or no"),
        ] {
            let refused = read(&[(name, value)]).unwrap_err().message;
            assert!(refused.contains(name) && refused.contains(words), "{refused}");
            assert!(!refused.contains("error:") && !refused.contains('\n'), "{refused}");
        }
    }
}
