//! `tidings sessions`: what Claude Code left on disk.

mod archive;
mod check;
mod cost;
mod delete;
mod du;
mod export;
mod filter;
mod follow;
mod fork;
mod index;
mod info;
mod list;
mod messages;
mod place;
mod prune;
mod rename;
mod repair;
mod running;
mod search;
mod show;
mod stats;
mod subagents;
mod tag;
mod tree;
mod unreadable;
mod when;
mod worktrees;

use clap::{Args, Subcommand};

pub(crate) use place::Place;

use crate::error::Exit;
use crate::output::Output;

/// `tidings sessions`.
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    pub(crate) place: Place,

    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// Sessions of all projects, newest first
    List(list::List),
    /// What the official SDKs tell about sessions
    Info(info::Info),
    /// What was said in a session, as the official SDKs give it
    Messages(messages::Messages),
    /// The sub-agents of a session, as the official SDKs list them
    Subagents(subagents::Subagents),
    /// A session as text: the branch with the conversation, tools folded
    Show(show::Show),
    /// The tree of a session: branches, sub-agents, compactions
    Tree(tree::Tree),
    /// Check session files: every line, every link
    Check(check::Check),
    /// Write a repaired copy of a session file
    Repair(repair::Repair),
    /// Find text in every session
    Search(search::Search),
    /// Count sessions, messages, tools, errors
    Stats(stats::Stats),
    /// Tokens and dollars, each response counted once
    Cost(cost::Cost),
    /// A session as Markdown, one HTML file or JSON
    Export(export::Export),
    /// Watch a session while it is being written
    Follow(follow::Follow),
    /// Build or refresh the full-text index
    Index(index::Index),
    /// Keep compressed copies, before Claude Code cleans up
    Archive(archive::Archive),
    /// Where the bytes are
    Du(du::Du),
    /// Remove old sessions; shows first what it would remove
    Prune(prune::Prune),
    /// Give a session a title
    Rename(rename::Rename),
    /// Tag a session
    Tag(tag::Tag),
    /// Copy a session, to go another way from there
    Fork(fork::Fork),
    /// Delete a session and everything that belongs to it
    Delete(delete::Delete),
}

pub(crate) fn run(args: &SessionsArgs, out: &mut Output) -> anyhow::Result<Exit> {
    match &args.command {
        SessionsCommand::List(command) => command.run(&args.place, out),
        SessionsCommand::Info(command) => command.run(&args.place, out),
        SessionsCommand::Messages(command) => command.run(&args.place, out),
        SessionsCommand::Subagents(command) => command.run(&args.place, out),
        SessionsCommand::Show(command) => command.run(&args.place, out),
        SessionsCommand::Tree(command) => command.run(&args.place, out),
        SessionsCommand::Check(command) => command.run(&args.place, out),
        SessionsCommand::Repair(command) => command.run(&args.place, out),
        SessionsCommand::Search(command) => command.run(&args.place, out),
        SessionsCommand::Stats(command) => command.run(&args.place, out),
        SessionsCommand::Cost(command) => command.run(&args.place, out),
        SessionsCommand::Export(command) => command.run(&args.place, out),
        SessionsCommand::Follow(command) => command.run(&args.place, out),
        SessionsCommand::Index(command) => command.run(&args.place, out),
        SessionsCommand::Archive(command) => command.run(&args.place, out),
        SessionsCommand::Du(command) => command.run(&args.place, out),
        SessionsCommand::Prune(command) => command.run(&args.place, out),
        SessionsCommand::Rename(command) => command.run(&args.place, out),
        SessionsCommand::Tag(command) => command.run(&args.place, out),
        SessionsCommand::Fork(command) => command.run(&args.place, out),
        SessionsCommand::Delete(command) => command.run(&args.place, out),
    }
}
