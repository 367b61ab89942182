//! The command line as a whole: what is wrong with it, for people and for scripts.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ColorChoice, Command, Error, FromArgMatches};

use crate::error::{CannotRun, finish};
use crate::output::{Color, Output};

/// What was asked for; or, once help was shown or the mistake, how the program ends.
pub(crate) fn parse<C: FromArgMatches>(command: Command) -> Result<C, ExitCode> {
    let asked: Vec<OsString> = env::args_os().collect();
    let color = color(&asked);
    let mut command = command.color(color);
    let parsed = command.try_get_matches_from_mut(&asked);
    parsed.and_then(|matches| C::from_arg_matches(&matches)).map_err(|error| {
        let error = error.format(&mut command);
        if error.use_stderr() && own(&asked).any(|word| word == "--json") {
            return finish(Err(told(&error).into()), true, &mut Output::new(Color::Auto));
        }
        // Nobody is left to tell if even this cannot be written.
        drop(error.print());
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// The words that are for this program, and not for one that it starts.
fn own(asked: &[OsString]) -> impl Iterator<Item = &OsString> {
    asked.iter().skip(1).take_while(|word| *word != "--")
}

/// Whether help and mistakes are painted: that has to be known before the command line is understood.
fn color(asked: &[OsString]) -> ColorChoice {
    let mut words = own(asked).filter_map(|word| word.to_str());
    let mut choice = ColorChoice::Auto;
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--color", value)) => Some(value),
            _ if word == "--color" => words.next(),
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

/// The mistake in the shape that scripts get every error in.
fn told(error: &Error) -> CannotRun {
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "A command is missing".to_owned(),
        _ => words(error),
    };
    CannotRun { code: CannotRun::USAGE, message, hint: "see what it takes with --help" }
}

/// What is wrong, in one line and without the frame that people see around it.
pub(crate) fn words(error: &Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).split_whitespace().collect::<Vec<_>>().join(" ")
}
