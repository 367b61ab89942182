//! `tidings hook`: reports the sessions that people start themselves to the server.
//!
//! `install` writes a plugin folder for Claude Code. Its hooks run `tidings hook run`, which passes each
//! event to the server's socket and prints the server's answer.

mod client;
mod entries;
mod folder;
mod ignore;
pub(crate) mod inline;
mod install;
mod plugin;
mod policy;
mod run;
mod settings;
mod settings_text;
mod status;
mod uninstall;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use tidings_commands::error::Exit;
use tidings_commands::output::Output;

pub(crate) use self::run::run;

use self::folder::Scope;
use super::remote::RemoteArgs;
use super::serve;
use super::start::Answering;

/// Show the sessions that you start with `claude` in the server too
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum HookCommand {
    /// Install the hooks, as a plugin folder of Claude Code
    Install(HookInstallArgs),
    /// Remove what `install` wrote
    Uninstall(HookUninstallArgs),
    /// Report whether the hooks are installed, and what keeps them from working
    Status(HookStatusArgs),
    /// Keep the sessions of a folder, and of the folders below it, out of the server
    Ignore(HookIgnoreArgs),
    /// Show or set the policy for the sessions that you start yourself, per folder
    Policy(HookPolicyArgs),
}

const EXAMPLES: &str = "\
Examples:
  tidings hook install              for every session that you start from now on
  tidings hook status
  tidings hook ignore ~/private     sessions there are not reported
  tidings hook uninstall

After the installation, go on using `claude` as before: its sessions appear in the server, and its permission requests \
can be answered there or in the terminal; the first answer wins. Without a server the hooks end at once and change \
nothing.";

/// Install the hooks, as a plugin folder of Claude Code
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_INSTALL)]
pub(crate) struct HookInstallArgs {
    #[command(flatten)]
    target: Target,

    /// Data folder of the server [default: the default of `tidings serve`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Form of the hooks [default: settings if `claude` does not load plugin folders, else plugin]
    #[arg(long = "as", value_name = "FORM")]
    form: Option<HookForm>,
}

/// The form in which Claude Code gets the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HookForm {
    /// A plugin folder; settings files are not touched
    Plugin,
    /// Entries of the settings file, for Claude Code before 2.1.197
    Settings,
}

const EXAMPLES_OF_INSTALL: &str = "\
Examples:
  tidings hook install
  tidings hook install --dry-run              print what would be written
  tidings hook install --scope project        only for sessions in this folder
  tidings hook install --data /srv/tidings    for a server with this data folder

Writes the folder `skills/tidings` below `$CLAUDE_CONFIG_DIR` or ~/.claude (with --scope project: below .claude in the \
current folder). Claude Code loads it as a plugin when the next session starts. A second `install` updates the folder; \
run it again after you moved the program. A folder of that name that Tidings did not write is refused.

Claude Code before 2.1.197 does not load plugin folders: there the hooks become entries of the settings file (with \
--scope project: of settings.local.json). A copy of the file is saved in the folder `tidings-hooks` beside it, and \
`uninstall` puts it back, unless the file was edited since.";

/// Remove what `install` wrote
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_UNINSTALL)]
pub(crate) struct HookUninstallArgs {
    #[command(flatten)]
    target: Target,
}

const EXAMPLES_OF_UNINSTALL: &str = "\
Examples:
  tidings hook uninstall
  tidings hook uninstall --scope project
  tidings hook uninstall --dry-run

Running sessions keep their hooks until they end. Only files that `install` wrote are removed; a settings file that \
it extended is put back as it was, and left alone if it was edited since.";

/// Arguments of `install` and `uninstall`.
#[derive(Debug, Args)]
struct Target {
    /// Sessions that get the hooks
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: Scope,

    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Report whether the hooks are installed, and what keeps them from working
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_STATUS)]
pub(crate) struct HookStatusArgs {
    /// Data folder of the server [default: the one in the installed hooks, or the default of `tidings serve`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Print JSON for scripts
    #[arg(long)]
    json: bool,
}

const EXAMPLES_OF_STATUS: &str = "\
Examples:
  tidings hook status
  tidings hook status --json | jq '.problems[].message'

Checks the user's hooks and those of the current folder. Exit code 1 means that the hooks are not installed or cannot \
work.";

/// Keep the sessions of a folder, and of the folders below it, out of the server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_IGNORE)]
pub(crate) struct HookIgnoreArgs {
    /// Folder to ignore
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Report the sessions of this folder again
    #[arg(long)]
    remove: bool,

    /// Data folder of the server [default: the default of `tidings serve`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

const EXAMPLES_OF_IGNORE: &str = "\
Examples:
  tidings hook ignore ~/private
  tidings hook ignore ~/private --remove

Takes effect with the next event of a session. `tidings hook status` lists the ignored folders.";

/// Show or set the policy for the sessions that you start yourself, per folder
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_OF_POLICY)]
pub(crate) struct HookPolicyArgs {
    /// Folder; without one, all folders with a policy are listed
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Policy for permission requests of sessions in the folder and below it
    #[arg(value_name = "POLICY", requires = "folder")]
    policy: Option<Answering>,

    /// Remove the policy of the folder; `ask` applies again
    #[arg(long, conflicts_with = "policy", requires = "folder")]
    remove: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES_OF_POLICY: &str = "\
Examples:
  tidings hook policy                      list the folders with a policy
  tidings hook policy ~/shop standard      harmless calls run without a question
  tidings hook policy ~/shop --remove

Without a policy, every permission request of a session that you start yourself is asked. The server stores the \
policies outside of the folders, and only a credential with the scope `admin` can change them; changes are in the \
audit log. They apply to sessions that appear afterwards; those of the server have policies of their own.";

impl HookCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            HookCommand::Status(status) => status.json,
            HookCommand::Policy(policy) => policy.remote.json,
            HookCommand::Install(_) | HookCommand::Uninstall(_) | HookCommand::Ignore(_) => false,
        }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        match self {
            HookCommand::Install(install) => install.run(out),
            HookCommand::Uninstall(uninstall) => uninstall.run(out),
            HookCommand::Status(status) => status.run(out),
            HookCommand::Ignore(ignore) => ignore.run(out),
            HookCommand::Policy(policy) => policy.run(out),
        }
    }
}

/// Data folder of the server: the given one, or the default of `tidings serve`.
fn data_folder(given: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    given.map_or_else(serve::configured_data, |given| Ok(std::path::absolute(given)?))
}
