//! Lazy construction of the arguments of subcommands.
//!
//! By default `clap` builds the arguments of every command at every start. That memory stays allocated in a
//! server and its agent hosts, which run for weeks, and the work slows down short commands.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// Arguments `A`, built only when their command is used.
#[derive(Debug)]
pub(crate) struct Deferred<A>(A);

impl<A> Deref for Deferred<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: FromArgMatches> FromArgMatches for Deferred<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches(matches).map(Deferred)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        A::from_arg_matches_mut(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Deferred<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| build(command, A::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| build(command, A::augment_args_for_update))
    }
}

impl<A: Subcommand> Subcommand for Deferred<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| build(command, A::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| build(command, A::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}

/// Adds the arguments to a command, and keeps its description from the list of commands, which the
/// description of the arguments would overwrite.
fn build(command: Command, augment: fn(Command) -> Command) -> Command {
    let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    let command = one_column(augment(command).long_about(None::<&'static str>));
    let command = about.into_iter().fold(command, Command::about);
    long.into_iter().fold(command, Command::long_about)
}

/// Puts the descriptions of arguments below their names: otherwise the layout would change with the length of
/// the longest name, from section to section. Lists of commands stay tables.
fn one_column(command: Command) -> Command {
    if command.has_subcommands() { command.mut_subcommands(one_column) } else { command.next_line_help(true) }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use crate::Cli;

    #[test]
    fn help_of_every_command_has_one_column() {
        fn check(command: &Command) {
            let name = command.get_name();
            assert_eq!(command.is_next_line_help_set(), !command.has_subcommands(), "{name}");
            // `help` is clap's own.
            command.get_subcommands().filter(|command| command.get_name() != "help").for_each(check);
        }
        let mut built = Cli::command();
        built.build();
        check(&built);
    }

    #[test]
    fn help_of_a_command_begins_with_its_line_in_the_list_of_commands() {
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
