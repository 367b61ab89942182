//! Stand-in for the `claude` CLI: the same frames on the same pipes, from a script.
//!
//! [`run`] takes the command line of `claude`, a [`Script`] and a [`World`] and plays until the host is done.
//! Flags, frames, control requests and session files are those of Claude Code 2.1.325, as recorded, and of
//! later versions as far as `e2e/run.py` compares; the answers of the model and the results of tools come
//! from the script.

mod answer;
mod args;
mod ask;
mod bookkeeping;
mod catalog;
mod compact;
mod control;
mod conversation;
mod expect;
mod faults;
mod frames;
mod hooks;
mod ids;
mod init;
mod input;
mod interrupt;
mod mcp;
mod model;
mod outcomes;
mod output;
mod permission;
mod prompt;
mod recover;
mod result;
mod resume;
mod schema;
mod session;
mod slash;
mod stop;
mod stream;
mod subagent;
mod surrogates;
mod tasks;
mod tools;
mod transcript;
mod turn;
mod usage;
mod wait;
mod world;

use std::io::Write as _;
use std::path::Path;

use args::{Args, Format};
pub use ids::Ids;
use session::Session;
use stop::Stop;
use tidings_protocol::TESTED_CLAUDE_CODE;
pub use world::{Signal, States, World, stepping_clock};

use crate::script::Script;

/// Default script.
pub const DEMO: &str = include_str!("../demo.toml");

/// Folder of the files in the default script.
const DEMO_FOLDER: &str = "/home/dev/demo";

/// The default script with its files in this folder, so that they belong to the project of the session.
pub fn demo_in(folder: &Path) -> String {
    let folder = folder.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    DEMO.replace(DEMO_FOLDER, &folder)
}

/// Plays `claude` with these arguments; returns the exit code.
pub fn run(arguments: &[String], script: Script, mut world: World) -> i32 {
    let args = match Args::parse(arguments) {
        Ok(args) => args,
        Err(error_line) => {
            drop(writeln!(world.stderr, "{error_line}"));
            return 1;
        }
    };
    if args.has("version") {
        let version = script.agent.version.as_deref().unwrap_or(TESTED_CLAUDE_CODE);
        drop(writeln!(world.stdout, "{version} (Claude Code)"));
        return 0;
    }
    if world.terminal && !args.has("print") && args.output() == Format::Text {
        drop(writeln!(world.stderr, "The stand-in has no screen: call it with --print, or from a program"));
        return 1;
    }
    let raise = std::mem::replace(&mut world.raise, Box::new(|_| {}));
    let mut session = Session::new(args, script, world);
    let ended = session.play();
    let code = session.close(ended);
    if let Err(Stop::Killed(signal)) = ended {
        let mut raise = raise;
        raise(signal);
    }
    code
}
