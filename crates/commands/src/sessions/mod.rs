//! `tidings sessions`: the sessions that Claude Code and other agents stored on disk.

mod archive;
mod backend;
mod changed_inputs;
mod check;
mod cost;
mod delete;
mod du;
mod export;
mod export_project;
mod filter;
mod follow;
mod fork;
mod index;
mod info;
mod list;
mod messages;
mod prune;
mod rename;
mod repair;
mod root_args;
mod running;
mod search;
mod search_hits;
mod search_others;
mod show;
mod stats;
mod subagents;
mod tag;
mod tree;
mod unreadable;
mod when;
mod worktrees;

use backend::BackendChoiceArgs;
use clap::{Args, Subcommand};
use tidings_transcript::list::{self as list_sessions, ListFilter};
use tidings_transcript::roots::SessionFiles;

pub use root_args::RootArgs;

use crate::error::Exit;
use crate::human;
use crate::output::{Output, printable};

/// The title of a session, as `tidings sessions list` shows it.
fn title(session: &SessionFiles) -> Option<String> {
    list_sessions::list(std::slice::from_ref(session), &ListFilter::default()).pop()?.1.title
}

/// Formats a title behind the other columns of a line, as far as the terminal is wide.
fn title_after(columns: &str, title: Option<&str>) -> String {
    const TITLE_COLUMNS: usize = 60;
    let room = human::columns_of_terminal()
        .map_or(TITLE_COLUMNS, |all| all.saturating_sub(human::width(columns) + 2).min(TITLE_COLUMNS));
    human::fit_words(&printable(title.unwrap_or("(no title)")), room)
}

/// Arguments of `tidings sessions`.
#[derive(Debug, Args)]
pub struct SessionsArgs {
    #[command(flatten)]
    pub root: RootArgs,

    #[command(flatten)]
    backend: BackendChoiceArgs,

    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// List the sessions of all projects, newest first
    List(list::ListArgs),
    /// Print session metadata as the official SDKs return it
    Info(info::InfoArgs),
    /// Print the messages of a session as the official SDKs return them
    Messages(messages::MessagesArgs),
    /// List the sub-agents of a session as the official SDKs do
    Subagents(subagents::SubagentsArgs),
    /// Print the conversation of a session, with tools folded
    Show(show::ShowArgs),
    /// Print the tree of a session: branches, sub-agents, compactions
    Tree(tree::Tree),
    /// Validate session files: every line and every link
    Check(check::CheckArgs),
    /// Write a repaired copy of a session file
    Repair(repair::RepairArgs),
    /// Search the text of all sessions
    Search(search::SearchArgs),
    /// Count sessions, messages, tool calls and errors
    Stats(stats::StatsArgs),
    /// Sum up tokens and costs, counting each response once
    Cost(cost::CostArgs),
    /// Export a session as Markdown, HTML, JSON or events
    Export(export::ExportArgs),
    /// Follow a session while it is being written
    Follow(follow::FollowArgs),
    /// Build or refresh the full-text index
    Index(index::IndexArgs),
    /// Store compressed copies, before Claude Code deletes old sessions
    Archive(archive::ArchiveArgs),
    /// Show disk usage by project, session and kind of entry
    Du(du::DuArgs),
    /// Remove old sessions after showing them
    Prune(prune::PruneArgs),
    /// Set the title of a session
    Rename(rename::RenameArgs),
    /// Set or clear the tag of a session
    Tag(tag::TagArgs),
    /// Fork a session: copy it, to continue from the copy
    Fork(fork::ForkArgs),
    /// Delete a session and all of its files
    Delete(delete::DeleteArgs),
}

pub fn run(args: &SessionsArgs, out: &mut Output) -> anyhow::Result<Exit> {
    if !args.backend.is_claude_only() {
        return run_others(args, out);
    }
    match &args.command {
        SessionsCommand::List(command) => command.run(&args.root, out),
        SessionsCommand::Info(command) => command.run(&args.root, out),
        SessionsCommand::Messages(command) => command.run(&args.root, out),
        SessionsCommand::Subagents(command) => command.run(&args.root, out),
        SessionsCommand::Show(command) => command.run(&args.root, out),
        SessionsCommand::Tree(command) => command.run(&args.root, out),
        SessionsCommand::Check(command) => command.run(&args.root, out),
        SessionsCommand::Repair(command) => command.run(&args.root, out),
        SessionsCommand::Search(command) => command.run(&args.root, out),
        SessionsCommand::Stats(command) => command.run(&args.root, out),
        SessionsCommand::Cost(command) => command.run(&args.root, out),
        SessionsCommand::Export(command) => command.run(&args.root, out),
        SessionsCommand::Follow(command) => command.run(&args.root, out),
        SessionsCommand::Index(command) => command.run(&args.root, out),
        SessionsCommand::Archive(command) => command.run(&args.root, out),
        SessionsCommand::Du(command) => command.run(&args.root, out),
        SessionsCommand::Prune(command) => command.run(&args.root, out),
        SessionsCommand::Rename(command) => command.run(&args.root, out),
        SessionsCommand::Tag(command) => command.run(&args.root, out),
        SessionsCommand::Fork(command) => command.run(&args.root, out),
        SessionsCommand::Delete(command) => command.run(&args.root, out),
    }
}

/// Runs a command with sessions of other agents.
fn run_others(args: &SessionsArgs, out: &mut Output) -> anyhow::Result<Exit> {
    match &args.command {
        SessionsCommand::List(command) => command.run_others(&args.backend, &args.root, out),
        SessionsCommand::Show(command) => command.run_others(&args.backend, &args.root, out),
        SessionsCommand::Search(command) => command.run_others(&args.backend, &args.root, out),
        SessionsCommand::Cost(command) => command.run_others(&args.backend, &args.root, out),
        SessionsCommand::Export(command) => command.run_others(&args.backend, &args.root, out),
        SessionsCommand::Info(_)
        | SessionsCommand::Messages(_)
        | SessionsCommand::Subagents(_)
        | SessionsCommand::Tree(_)
        | SessionsCommand::Check(_)
        | SessionsCommand::Repair(_)
        | SessionsCommand::Stats(_)
        | SessionsCommand::Follow(_)
        | SessionsCommand::Index(_)
        | SessionsCommand::Archive(_)
        | SessionsCommand::Du(_)
        | SessionsCommand::Prune(_)
        | SessionsCommand::Rename(_)
        | SessionsCommand::Tag(_)
        | SessionsCommand::Fork(_)
        | SessionsCommand::Delete(_) => Err(backend::only_claude("This command").into()),
    }
}
