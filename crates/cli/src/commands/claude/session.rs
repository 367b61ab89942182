//! The session that a `claude` in a terminal continues: it has one writer.
//!
//! Once it runs, `claude` describes itself with its session, which every other command of ours respects, and
//! which changes with `/clear`. Until then a lock stands for it.

use std::ffi::OsString;
use std::path::PathBuf;

use tidings::{SessionLock, SessionOwner};
use tidings_commands::sessions::RootArgs;

/// Flags with the id of the session.
const FLAGS: [&str; 3] = ["--resume", "-r", "--session-id"];

/// Fails if another process writes the session that the arguments name.
pub(super) fn check_free(args: &[OsString]) -> Result<(), tidings::Error> {
    let Some(id) = named(args) else { return Ok(()) };
    let holder = SessionLock::holder(&RootArgs::config_folder_of_user(), &id);
    holder.map_or(Ok(()), |holder| Err(holder.refusal()))
}

/// The lock that the host of the terminal takes: of the session that the arguments name.
pub(super) fn locked(args: &[OsString], attach: &str) -> Option<(PathBuf, String, SessionOwner)> {
    let owner = SessionOwner::new("tidings claude").attached_by(attach);
    Some((RootArgs::config_folder_of_user(), named(args)?, owner))
}

/// The session that the arguments name by its id. A fork leaves it alone, and other words are searched for in
/// a list.
fn named(args: &[OsString]) -> Option<String> {
    let args: Vec<&str> =
        args.iter().take_while(|arg| *arg != "--").map(|arg| arg.to_str().unwrap_or_default()).collect();
    if args.contains(&"--fork-session") {
        return None;
    }
    let value = |(at, arg): (usize, &&str)| match arg.split_once('=') {
        Some((flag, value)) if FLAGS.contains(&flag) => Some(value.to_owned()),
        _ if FLAGS.contains(arg) => args.get(at + 1).map(|value| (*value).to_owned()),
        _ => None,
    };
    args.iter().enumerate().find_map(value).filter(|id| uuid::Uuid::try_parse(id).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_the_session_is_found_in_the_arguments() {
        let id = "4f2c0a52-7f10-4b58-a0a8-4f9be3f4a001";
        let named = |args: &[&str]| named(&args.iter().map(OsString::from).collect::<Vec<_>>());
        let equals = format!("--resume={id}");
        for args in [&["--resume", id][..], &["-r", id, "go on"], &[&equals], &["--session-id", id]] {
            assert_eq!(named(args).as_deref(), Some(id), "{args:?}");
        }
        for args in [
            &["--resume"][..],
            &["-r", "a title"],
            &["-c"],
            &["--", "-r", id],
            &["-r", id, "--fork-session"],
            &[],
        ] {
            assert_eq!(named(args), None, "{args:?}");
        }
    }
}
