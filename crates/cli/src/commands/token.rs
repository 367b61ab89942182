//! `tidings token`: device credentials.

use clap::{Args, Subcommand};
use serde::Serialize;
use tidings_api::{Device, NewDevice, Scope};
use tidings_bridge::auth::read_admin_token;
use tidings_commands::error::{CannotRun, Exit};
use tidings_commands::output::{Output, printable};
use tidings_remote::RemoteServer;

use crate::commands::remote::RemoteArgs;

/// List, create and revoke device credentials
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum TokenCommand {
    /// List the devices that have a credential, oldest first
    List(TokenListArgs),
    /// Create a credential for a program; it is shown only once
    Create(TokenCreateArgs),
    /// Add scopes to a device, such as `always` for prompts to sessions in which things run unasked
    Grant(TokenGrantArgs),
    /// Revoke the credential of a device, and close its connections
    Revoke(TokenRevokeArgs),
    /// Print the admin token of a server on this machine; it is accepted on its local socket only
    Admin(TokenAdminArgs),
}

const EXAMPLES: &str = "\
Examples:
  tidings token list
  tidings token create --name ci --scope read --scope prompt --folder /srv/app
  tidings token grant phone --scope always
  tidings token revoke 3f2a9c01d4e5
  curl --unix-socket ~/.local/share/tidings/server.sock -H \"Authorization: Bearer $(tidings token admin)\" \
    http://localhost/v1/sessions

The admin token is refused on the address of the server. Scripts use a token from `tidings token create` there, \
and client commands with --server read it from TIDINGS_TOKEN.";

/// JSON line with the admin token.
#[derive(Serialize)]
struct AdminLine<'a> {
    token: &'a str,
}

#[derive(Debug, Args)]
pub(crate) struct TokenListArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreateArgs {
    #[command(flatten)]
    device: NewDeviceArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenRevokeArgs {
    /// Id or name of the device
    device: String,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenGrantArgs {
    /// Id or name of the device
    device: String,
    /// Scope to add: read, prompt, decide, edit, always or admin; can be given several times
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', value_parser = scope, required = true)]
    scopes: Vec<Scope>,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TokenAdminArgs {
    #[command(flatten)]
    remote: RemoteArgs,
}

/// Name and rights of a new device.
#[derive(Debug, Args)]
pub(crate) struct NewDeviceArgs {
    /// Name of the device
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Scope: read, prompt, decide, edit, always or admin; can be given several times [default: read, prompt
    /// and decide]
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', value_parser = scope)]
    scopes: Vec<Scope>,

    /// Limit it to sessions in this folder of the server, an absolute path; can be given several times
    #[arg(long = "folder", value_name = "DIR", value_parser = folder)]
    folders: Vec<String>,

    /// Let its credential expire after this time [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    expires_in: Option<u64>,
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse().map_err(|error: tidings_api::UnknownScope| format!("{error}; {}", error.hint()))
}

/// Accepts absolute paths only: the server may be on another machine, without our current folder.
fn folder(text: &str) -> Result<String, &'static str> {
    let is_absolute = text.starts_with('/') && !text.split('/').any(|part| part == "..");
    is_absolute.then(|| text.to_owned()).ok_or("give an absolute path without `..`, such as `/srv/app`")
}

impl NewDeviceArgs {
    pub(crate) fn new_device(&self) -> NewDevice {
        let scopes = self.scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        NewDevice {
            name: self.name.clone(),
            scopes: Some(scopes).filter(|scopes: &Vec<String>| !scopes.is_empty()),
            folders: self.folders.clone(),
            expires_in_s: self.expires_in,
        }
    }
}

impl TokenCommand {
    /// True if `--json` was given, so that errors are printed as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            TokenCommand::List(TokenListArgs { remote })
            | TokenCommand::Create(TokenCreateArgs { remote, .. })
            | TokenCommand::Grant(TokenGrantArgs { remote, .. })
            | TokenCommand::Revoke(TokenRevokeArgs { remote, .. })
            | TokenCommand::Admin(TokenAdminArgs { remote }) => remote.json,
        }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            match self {
                TokenCommand::List(command) => command.run(out).await,
                TokenCommand::Create(command) => command.run(out).await,
                TokenCommand::Grant(command) => command.run(out).await,
                TokenCommand::Revoke(command) => command.run(out).await,
                TokenCommand::Admin(command) => command.run(out),
            }
        })
    }
}

impl TokenListArgs {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let devices = self.remote.remote()?.devices().await?;
        for device in &devices {
            let line = if self.remote.json { serde_json::to_string(device)? } else { text(device) };
            out.text(&format!("{line}\n"))?;
        }
        if devices.is_empty() && !self.remote.json {
            out.note("No device has a credential; `tidings pair` adds one.")?;
        }
        Ok(Exit::Success)
    }
}

fn text(device: &Device) -> String {
    let folders = printable(&device.folders.join(", "));
    let parts = [
        Some(format!("{}  {}  {}", device.id, printable(&device.name), device.scopes.join(","))),
        Some(format!("only in {folders}")).filter(|_| !device.folders.is_empty()),
        Some(format!("since {}", day(&device.created))),
        device.last_seen.as_deref().map(|seen| format!("seen {}", day(seen))),
        device.expires.as_deref().map(|expires| format!("until {expires}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// Date of a timestamp.
fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

impl TokenCreateArgs {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let made = self.remote.remote()?.add_device(&self.device.new_device()).await?;
        if self.remote.json {
            out.json(&made)?;
        } else {
            out.note(&format!("{} ({}); this is shown once:", printable(&made.device.name), made.device.id))?;
            out.text(&format!("{}\n", made.token.unwrap_or_default()))?;
        }
        Ok(Exit::Success)
    }
}

impl TokenRevokeArgs {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let remote = self.remote.remote()?;
        let device = find(&remote, &self.device).await?;
        remote.revoke(&device.id).await?;
        out.note(&format!("Revoked {} ({})", printable(&device.name), device.id))?;
        Ok(Exit::Success)
    }
}

impl TokenGrantArgs {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let remote = self.remote.remote()?;
        let device = find(&remote, &self.device).await?;
        let device = remote.grant(&device.id, &self.scopes).await?;
        if self.remote.json {
            out.json(&device)?;
        } else {
            out.text(&format!("{}\n", text(&device)))?;
        }
        Ok(Exit::Success)
    }
}

/// The device with an id or a name.
async fn find(remote: &RemoteServer, wanted: &str) -> anyhow::Result<Device> {
    let named = |device: &Device| device.id == wanted || device.name == wanted;
    let mut found: Vec<Device> = remote.devices().await?.into_iter().filter(named).collect();
    let (count, name) = (found.len(), printable(wanted));
    match found.pop() {
        Some(device) if count == 1 => Ok(device),
        Some(_) => Err(not_one(format!("{count} devices are named `{name}`"))),
        None => Err(not_one(format!("No device is named `{name}`"))),
    }
}

fn not_one(message: String) -> anyhow::Error {
    CannotRun { code: "not_found", message, hint: "give the id of the device, from `tidings token list`" }
        .into()
}

impl TokenAdminArgs {
    fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        // A script would send this machine's admin token to another server.
        if self.remote.remote_url().is_some() {
            return Err(CannotRun {
                code: CannotRun::USAGE,
                message: "The admin token of a remote server is not available here".to_owned(),
                hint: "use TIDINGS_TOKEN, or omit --server and TIDINGS_SERVER for the server on this machine",
            }
            .into());
        }
        let data = self.remote.data()?;
        let token = read_admin_token(&data)?.ok_or_else(|| CannotRun {
            code: "not_found",
            message: format!("No admin token in `{}`", data.display()),
            hint: "start `tidings serve` once, or name its data folder with --data",
        })?;
        let line = if self.remote.json {
            serde_json::to_string(&AdminLine { token: token.reveal() })?
        } else {
            token.reveal().to_owned()
        };
        out.text(&format!("{line}\n"))?;
        Ok(Exit::Success)
    }
}
