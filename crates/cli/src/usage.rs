//! Parsing of the command line, with its errors for people and for scripts.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ColorChoice, Command, Error, FromArgMatches};
use tidings_commands::error::{CannotRun, finish};
use tidings_commands::output::{Color, Output};

/// Parses the command line; prints help or an error and returns the exit code if there is nothing to run.
pub(crate) fn parse<C: FromArgMatches>(command: Command) -> Result<C, ExitCode> {
    let args: Vec<OsString> = env::args_os().collect();
    let color = color(&args);
    let mut command = command.color(color);
    let parsed = command.try_get_matches_from_mut(&args);
    parsed.and_then(|matches| C::from_arg_matches(&matches)).map_err(|error| {
        let error = error.format(&mut command);
        if error.use_stderr() && own(&args).any(|arg| arg == "--json") {
            return finish(Err(usage_error(&error).into()), true, |_| None, &mut Output::new(Color::Auto));
        }
        // If standard error cannot be written either, there is nowhere left to report to.
        drop(error.print());
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// Arguments of this program, without those after `--`, which are for a program that it starts.
fn own(args: &[OsString]) -> impl Iterator<Item = &OsString> {
    args.iter().skip(1).take_while(|arg| *arg != "--")
}

/// Value of `--color` for help and usage errors, which is needed before the command line is parsed.
fn color(args: &[OsString]) -> ColorChoice {
    let mut args = own(args).filter_map(|arg| arg.to_str());
    let mut choice = ColorChoice::Auto;
    while let Some(arg) = args.next() {
        let value = match arg.split_once('=') {
            Some(("--color", value)) => Some(value),
            _ if arg == "--color" => args.next(),
            _ => continue,
        };
        choice = match value {
            Some("never") => ColorChoice::Never,
            Some("always") => ColorChoice::Always,
            _ => ColorChoice::Auto,
        };
    }
    choice
}

/// Converts an error of `clap` into the form that scripts get for every error.
fn usage_error(error: &Error) -> CannotRun {
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "A command is missing".to_owned(),
        _ => one_line(error),
    };
    CannotRun { code: CannotRun::USAGE, message, hint: "run it with --help to see its arguments" }
}

/// Message of the error in one line, without the usage text that people see around it.
pub(crate) fn one_line(error: &Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).split_whitespace().collect::<Vec<_>>().join(" ")
}
