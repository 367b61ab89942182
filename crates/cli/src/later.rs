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
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}

impl<A: Subcommand> Subcommand for Later<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(A::augment_subcommands)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(A::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}
