//! The `tidings` program: the only crate that prints, exits or reads the environment.

mod commands;
mod confirm;
mod error;
mod human;
mod input;
mod later;
mod output;
mod progress;
mod remote;
mod signals;
mod terminal;
mod usage;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

#[cfg(unix)]
use crate::commands::host;
use crate::commands::{
    attach, audit, backup, completions, decide, doctor, frames, pair, ps, rehearse, run, schema, send, serve,
    sessions, start, stop, summary, token,
};
use crate::error::Exit;
use crate::later::Later;
use crate::output::Output;

/// Watch, approve and search every Claude Code session from any device.
#[derive(Debug, Parser)]
#[command(name = "tidings", version, after_help = EXAMPLES)]
struct Cli {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: output::Color,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One prompt through Claude Code, or a conversation in the terminal
    Run(Box<Later<run::RunArgs>>),
    /// Serve sessions to browsers, phones and scripts
    Serve(Box<Later<serve::Serve>>),
    /// Sessions of the server, those that need you first
    Ps(Later<ps::Ps>),
    /// Start a session on the server, or go on there with one that is on disk
    Start(Box<Later<start::Start>>),
    /// Watch a session of the server, and answer what it asks
    Attach(Later<attach::Attach>),
    /// Say something to a session of the server
    Send(Later<send::Send>),
    /// Allow what a session of the server waits for
    Approve(Later<decide::Approve>),
    /// Refuse what a session of the server waits for
    Deny(Later<decide::Deny>),
    /// Stop a session of the server; the next prompt starts it again
    Stop(Later<stop::Stop>),
    /// Let a device in: a link and a picture of it, good for one minute
    Pair(Later<pair::Pair>),
    /// List, make and revoke the credentials of devices
    #[command(subcommand)]
    Token(Later<token::TokenCommand>),
    /// Export and verify the log of who decided what
    #[command(subcommand)]
    Audit(Later<audit::AuditCommand>),
    /// Copy what a server keeps to a new folder, while it runs or not
    Backup(Later<backup::Backup>),
    /// Decode, check and convert the lines a Claude Code process exchanges
    #[command(subcommand)]
    Frames(Later<frames::FramesCommand>),
    /// Read, search, count, check, export and follow what Claude Code left on disk
    Sessions(Later<sessions::SessionsArgs>),
    /// Stand-ins for the Messages API and for `claude`, from one readable script
    #[command(subcommand)]
    Rehearse(Later<rehearse::RehearseCommand>),
    /// Look at what Tidings needs, and say what to do about what is missing
    Doctor(Later<doctor::Doctor>),
    /// Print a completion script for a shell
    Completions(Later<completions::Completions>),
    /// Write manual pages, one for each command
    Man(Later<completions::Man>),
    /// Keep one `claude` while the server comes and goes; started by `tidings serve`
    #[cfg(unix)]
    #[command(hide = true)]
    Host(Later<host::HostArgs>),
    /// Print the schema of the messages that Tidings itself sends
    #[command(subcommand)]
    Schema(Later<schema::SchemaCommand>),
}

impl Command {
    /// Whether errors are wanted as JSON too.
    fn wants_json(&self) -> bool {
        match self {
            Command::Run(run) => run.wants_json(),
            Command::Frames(frames) => matches!(&**frames, frames::FramesCommand::Check(check) if check.json),
            Command::Rehearse(rehearse) => {
                matches!(&**rehearse, rehearse::RehearseCommand::Api(api) if api.json)
            }
            Command::Sessions(sessions) => sessions.place.json,
            Command::Doctor(doctor) => doctor.place.json,
            Command::Serve(serve) => serve.json,
            Command::Ps(ps) => ps.remote.json,
            Command::Start(start) => start.remote.json,
            Command::Attach(attach) => attach.remote.json,
            Command::Send(send) => send.remote.json,
            Command::Approve(approve) => approve.wants_json(),
            Command::Deny(deny) => deny.wants_json(),
            Command::Stop(stop) => stop.remote.json,
            Command::Pair(pair) => pair.remote.json,
            Command::Token(token) => token.wants_json(),
            Command::Audit(audit) => audit.wants_json(),
            Command::Backup(backup) => backup.json,
            _ => false,
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

Exit codes: 0 fine, 1 what was checked is not fine, 2 wrong usage, 3 cannot run, \
4 a person is needed and none is there, 130 interrupted";

fn main() -> ExitCode {
    let cli = match usage::parse::<Cli>(Cli::command()) {
        Ok(cli) => cli,
        Err(exit) => return exit,
    };
    let mut out = Output::new(cli.color);
    let json = cli.command.as_ref().is_some_and(Command::wants_json);
    let result = match &cli.command {
        Some(Command::Run(run)) => run.run(&mut out),
        Some(Command::Serve(serve)) => serve.run(&mut out),
        Some(Command::Ps(ps)) => ps.run(&mut out),
        Some(Command::Start(start)) => start.run(&mut out),
        Some(Command::Attach(attach)) => attach.run(&mut out),
        Some(Command::Send(send)) => send.run(&mut out),
        Some(Command::Approve(approve)) => approve.run(&mut out),
        Some(Command::Deny(deny)) => deny.run(&mut out),
        Some(Command::Stop(stop)) => stop.run(&mut out),
        Some(Command::Pair(pair)) => pair.run(&mut out),
        Some(Command::Token(token)) => token.run(&mut out),
        Some(Command::Audit(audit)) => audit.run(&mut out),
        Some(Command::Backup(backup)) => backup.run(&mut out),
        Some(Command::Frames(command)) => frames::run(command, &mut out),
        Some(Command::Sessions(args)) => sessions::run(args, &mut out),
        Some(Command::Rehearse(command)) => rehearse::run(command, &mut out),
        Some(Command::Doctor(doctor)) => doctor.run(&mut out),
        Some(Command::Completions(completions)) => completions.run(&mut out),
        Some(Command::Man(man)) => man.run(&out),
        #[cfg(unix)]
        Some(Command::Host(args)) => host::run(args),
        Some(Command::Schema(command)) => schema::run(command).and_then(|text| {
            out.text(&text)?;
            Ok(Exit::Fine)
        }),
        None => summary::run(&mut out),
    };
    error::finish(result, json, &mut out)
}
