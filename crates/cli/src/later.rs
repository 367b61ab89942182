//! Arguments that are described only when somebody uses them.
//!
//! `clap` would describe those of every command at every start. A server and its hosts run for weeks, and what they touch once stays in their
//! memory; and a command that prints one line need not know of a hundred flags.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// What `A` is, described later.
#[derive(Debug)]
pub(crate) struct Later<A>(A);

impl<A> Deref for Later<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: FromArgMatches> FromArgMatches for Later<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Later)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches_mut(matches).map(Later)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Later<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_args_for_update))
    }
}

impl<A: Subcommand> Subcommand for Later<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| described(command, A::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}

/// The command with its arguments. It keeps the words of the list of commands, which those of the arguments would take the place of.
fn described(command: Command, describe: fn(Command) -> Command) -> Command {
    let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = describe(command).long_about(None::<&'static str>);
    let command = about.into_iter().fold(command, Command::about);
    long.into_iter().fold(command, Command::long_about)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use crate::Cli;

    #[test]
    fn the_help_of_a_command_begins_as_the_list_of_commands_says() {
        let (listed, mut built) = (Cli::command(), Cli::command());
        built.build();
        for command in listed.get_subcommands() {
            let name = command.get_name();
            let found = built.find_subcommand(name).unwrap();
            assert!(command.get_about().is_some(), "{name}");
            assert_eq!(found.get_about(), command.get_about(), "{name}");
        }
    }
}
