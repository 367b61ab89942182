//! Calls of `claude` that need no terminal of their own.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Flags of calls that print something and end.
const FLAGS: [&str; 7] = ["-p", "--print", "-v", "--version", "-h", "--help", "--bg"];

/// Subcommands, which print something or have a short dialog.
const SUBCOMMANDS: [&str; 14] = [
    "agents",
    "attach",
    "auth",
    "auto-mode",
    "config",
    "doctor",
    "install",
    "logs",
    "mcp",
    "migrate-installer",
    "plugin",
    "setup-token",
    "update",
    "upgrade",
];

/// True if `claude` should be run directly with these arguments.
pub(super) fn is_direct(args: &[OsString]) -> bool {
    let mut flags = args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str());
    let is_subcommand =
        args.first().and_then(|arg| arg.to_str()).is_some_and(|arg| SUBCOMMANDS.contains(&arg));
    is_subcommand || flags.any(|flag| FLAGS.contains(&flag))
}

/// Replaces this process by `claude`. Returns only if that fails.
pub(super) fn exec(program: &Path, args: &[OsString]) -> io::Error {
    // Set by the server for its own agents; it keeps hooks from reporting a session.
    Command::new(program).args(args).env_remove("TIDINGS_SESSION").exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_conversations_get_a_terminal() {
        let is = |args: &[&str]| is_direct(&args.iter().map(OsString::from).collect::<Vec<_>>());
        for args in
            [&["-p", "hi"][..], &["--model", "x", "--print"], &["mcp", "list"], &["--version"], &["doctor"]]
        {
            assert!(is(args), "{args:?}");
        }
        for args in [&[][..], &["--resume"], &["-c"], &["fix mcp"], &["--", "-p"], &["explain", "mcp"]] {
            assert!(!is(args), "{args:?}");
        }
    }
}
