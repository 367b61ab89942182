//! The `tidings` program: the only crate that prints, exits or reads the environment.

mod commands;
mod deferred;
#[cfg(test)]
mod generated;
mod help;
mod usage;

use std::env;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use tidings_api::Code;
use tidings_commands::error::{self, CannotRun, ErrorDetails};
use tidings_commands::output::{self, Output};
use tidings_commands::{backend, frames, rehearse, run, sessions};

use crate::commands::{
    acp, attach, audit, backup, completions, decide, doctor, fleet, inbox, installation, pair, ps, schema,
    send, serve, set, start, stop, summary, take_over, token,
};
#[cfg(unix)]
use crate::commands::{claude, hook, host, resume};
use crate::deferred::Deferred;

/// Watch, approve and search every Claude Code session from any device.
#[derive(Debug, Parser)]
#[command(name = "tidings", version, after_help = EXAMPLES)]
struct Cli {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", display_order = 1000)]
    color: output::Color,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one prompt through Claude Code, or hold a conversation in the terminal
    Run(Box<Deferred<run::RunArgs>>),
    /// Run `claude` so that it can be left, returned to and steered from elsewhere
    #[cfg(unix)]
    Claude(Deferred<claude::ClaudeArgs>),
    /// Serve sessions to browsers, phones and scripts
    Serve(Box<Deferred<serve::ServeArgs>>),
    /// Serve Claude Code to an editor, in the Agent Client Protocol on standard input and output
    Acp(Deferred<acp::AcpArgs>),
    /// Serve the sessions of a fleet's other servers, without agents of its own
    Hub(Box<Deferred<serve::ServeArgs>>),
    /// Connect several servers, so that each shows the sessions of all
    Fleet(Deferred<fleet::FleetArgs>),
    /// List the server's sessions; those that need you come first
    Ps(Deferred<ps::PsArgs>),
    /// List what waits for you, and what happened since you last looked
    Inbox(Deferred<inbox::InboxArgs>),
    /// Start a session on the server, or resume one from disk
    Start(Box<Deferred<start::StartArgs>>),
    /// Watch a session of the server and answer its requests
    Attach(Deferred<attach::AttachArgs>),
    /// Send a prompt to a session of the server
    Send(Deferred<send::SendArgs>),
    /// Approve a pending permission request of a session
    Approve(Deferred<decide::ApproveArgs>),
    /// Deny a pending permission request of a session
    Deny(Deferred<decide::DenyArgs>),
    /// Stop a session of the server; the next prompt starts it again
    Stop(Deferred<stop::StopArgs>),
    /// Change settings of a session of the server
    Set(Deferred<set::SetArgs>),
    /// Continue a session of a terminal on the server
    TakeOver(Deferred<take_over::TakeOverArgs>),
    /// Continue a session here, with `claude` in this terminal
    #[cfg(unix)]
    Resume(Deferred<resume::ResumeArgs>),
    /// Pair a device with a link and a QR code that are valid for one minute
    Pair(Deferred<pair::PairArgs>),
    /// List, create and revoke device credentials
    #[command(subcommand)]
    Token(Deferred<token::TokenCommand>),
    /// Export and verify the audit log of decisions
    #[command(subcommand)]
    Audit(Deferred<audit::AuditCommand>),
    /// Copy a server's data to a new folder; works while the server runs
    Backup(Deferred<backup::BackupArgs>),
    /// Decode, check and convert the lines that a Claude Code process reads and writes
    #[command(subcommand)]
    Frames(Deferred<frames::FramesCommand>),
    /// Read, search, check, export and follow the sessions that Claude Code stored on disk
    Sessions(Deferred<sessions::SessionsArgs>),
    /// Stand in for the Messages API or for `claude` with a script, and record real runs
    #[command(subcommand)]
    Rehearse(Deferred<rehearse::RehearseCommand>),
    /// Show the sessions that you start with `claude` in the server too
    #[cfg(unix)]
    #[command(subcommand)]
    Hook(Deferred<hook::HookCommand>),
    /// Check what Tidings needs, and report how to fix what is missing
    Doctor(Deferred<doctor::DoctorArgs>),
    /// Show the version, how it was installed, where its data is, and how to update it
    #[command(name = "self")]
    Installation(Deferred<installation::SelfArgs>),
    /// Print a completion script for a shell
    Completions(Deferred<completions::CompletionsArgs>),
    /// Write manual pages, one for each command
    Man(Deferred<completions::ManArgs>),
    /// Host one `claude` process across server restarts; started by `tidings serve` and `tidings claude`
    #[cfg(unix)]
    #[command(hide = true)]
    Host(Deferred<host::HostArgs>),
    /// Run an agent of the Agent Client Protocol in place of `claude`; started by `tidings serve`
    #[command(hide = true)]
    Backend(Deferred<backend::BackendArgs>),
    /// Print the schema of the messages that Tidings itself sends
    #[command(subcommand)]
    Schema(Deferred<schema::SchemaCommand>),
}

impl Command {
    /// True if `--json` was given, so that errors are printed as JSON too.
    fn wants_json(&self) -> bool {
        match self {
            Command::Run(run) => run.wants_json(),
            Command::Frames(frames) => matches!(&**frames, frames::FramesCommand::Check(check) if check.json),
            Command::Rehearse(rehearse) => {
                matches!(&**rehearse, rehearse::RehearseCommand::Api(api) if api.json)
            }
            Command::Sessions(sessions) => sessions.root.json,
            Command::Doctor(doctor) => doctor.root.json,
            Command::Installation(installation) => installation.json,
            Command::Serve(serve) | Command::Hub(serve) => serve.json,
            Command::Fleet(fleet) => fleet.remote.json,
            Command::Ps(ps) => ps.remote.json,
            Command::Inbox(inbox) => inbox.remote.json,
            Command::Start(start) => start.remote.json,
            Command::Attach(attach) => attach.remote.json,
            Command::Send(send) => send.remote.json,
            Command::Approve(approve) => approve.wants_json(),
            Command::Deny(deny) => deny.wants_json(),
            Command::Stop(stop) => stop.remote.json,
            Command::Set(set) => set.remote.json,
            Command::TakeOver(take_over) => take_over.remote.json,
            #[cfg(unix)]
            Command::Resume(resume) => resume.remote.json,
            Command::Pair(pair) => pair.remote.json,
            Command::Token(token) => token.wants_json(),
            Command::Audit(audit) => audit.wants_json(),
            Command::Backup(backup) => backup.json,
            #[cfg(unix)]
            Command::Hook(hook) => hook.wants_json(),
            Command::Acp(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Backend(_)
            | Command::Schema(_) => false,
            #[cfg(unix)]
            Command::Claude(_) | Command::Host(_) => false,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tidings serve
  tidings run \"what does this project do?\"
  claude -p --verbose --output-format stream-json hello | tidings frames check
  tidings frames check --json session.ndjson
  tidings frames convert --to seed session.ndjson
  tidings schema typescript > tidings.ts

Exit codes: 0 success, 1 a check or a turn failed, 2 wrong usage, 3 the command could not run, \
4 a person must decide and there is no terminal, 130 interrupted";

fn main() -> ExitCode {
    // Claude Code waits for its hooks, so they start before the command line is parsed.
    let mut args = env::args_os().skip(1);
    if args.next().is_some_and(|arg| arg == "hook") && args.next().is_some_and(|arg| arg == "run") {
        #[cfg(unix)]
        return hook::run(args);
        #[cfg(not(unix))]
        return ExitCode::SUCCESS;
    }
    let cli = match usage::parse::<Cli>(help::grouped(Cli::command())) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    let mut out = Output::new(cli.color);
    let json = cli.command.as_ref().is_some_and(Command::wants_json);
    let result = match &cli.command {
        Some(Command::Run(run)) => run.run(&mut out),
        #[cfg(unix)]
        Some(Command::Claude(claude)) => claude.run(&mut out),
        Some(Command::Serve(serve)) => serve.run(&mut out),
        Some(Command::Acp(acp)) => acp.run(),
        Some(Command::Hub(serve)) => serve.run_hub(&mut out),
        Some(Command::Fleet(fleet)) => fleet.run(&mut out),
        Some(Command::Ps(ps)) => ps.run(&mut out),
        Some(Command::Inbox(inbox)) => inbox.run(&mut out),
        Some(Command::Start(start)) => start.run(&mut out),
        Some(Command::Attach(attach)) => attach.run(&mut out),
        Some(Command::Send(send)) => send.run(&mut out),
        Some(Command::Approve(approve)) => approve.run(&mut out),
        Some(Command::Deny(deny)) => deny.run(&mut out),
        Some(Command::Stop(stop)) => stop.run(&mut out),
        Some(Command::Set(set)) => set.run(&mut out),
        Some(Command::TakeOver(take_over)) => take_over.run(&mut out),
        #[cfg(unix)]
        Some(Command::Resume(resume)) => resume.run(&mut out),
        Some(Command::Pair(pair)) => pair.run(&mut out),
        Some(Command::Token(token)) => token.run(&mut out),
        Some(Command::Audit(audit)) => audit.run(&mut out),
        Some(Command::Backup(backup)) => backup.run(&mut out),
        Some(Command::Frames(command)) => frames::run(command, &mut out),
        Some(Command::Sessions(args)) => sessions::run(args, &mut out),
        Some(Command::Rehearse(command)) => rehearse::run(command, &mut out),
        #[cfg(unix)]
        Some(Command::Hook(hook)) => hook.run(&mut out),
        Some(Command::Doctor(doctor)) => doctor.run(&mut out),
        Some(Command::Installation(installation)) => installation.run(&mut out),
        Some(Command::Completions(completions)) => completions.run(&mut out),
        Some(Command::Man(man)) => man.run(&out),
        #[cfg(unix)]
        Some(Command::Host(args)) => host::run(args),
        Some(Command::Backend(args)) => backend::run(args),
        Some(Command::Schema(command)) => command.run(&mut out),
        None => summary::run(&mut out),
    };
    error::finish(result, json, server_error, &mut out)
}

/// Code and hint of an error of the server, or of one that a server has sent.
fn server_error(error: &anyhow::Error) -> Option<ErrorDetails<'_>> {
    let remote = error.downcast_ref::<tidings_remote::Error>().map(|error| (error.code(), error.hint()));
    let local = || error.downcast_ref::<tidings_sessions::Error>().map(|error| (error.code(), error.hint()));
    let (code, hint) = remote.or_else(local)?;
    let code = match code {
        Code::Invalid => CannotRun::USAGE,
        code => code.as_str(),
    };
    Some(ErrorDetails { code, hint })
}
