//! `tidings token`: credentials of devices.

use clap::{Args, Subcommand};
use serde::Serialize;
use tidings_bridge::Scope;
use tidings_bridge::auth::read_admin_token;
use tidings_protocol::api::{Device, DeviceList, NewCredential, NewDevice};

use crate::error::{CannotRun, Exit};
use crate::human;
use crate::output::{Output, printable};
use crate::remote::RemoteArgs;

/// List, make and revoke the credentials of devices
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum TokenCommand {
    /// Devices that have a credential, the oldest first
    List(List),
    /// Make a credential for a program; it is shown this once
    Create(Create),
    /// End the credential of a device, and close what it holds open
    Revoke(Revoke),
    /// Print the admin token of a server on this machine, for scripts
    Admin(Admin),
}

const EXAMPLES: &str = "\
Examples:
  tidings token list
  tidings token create --name ci --scope read --scope prompt --folder /srv/app
  tidings token revoke 3f2a9c01d4e5
  curl -H \"Authorization: Bearer $(tidings token admin)\" http://127.0.0.1:7717/v1/sessions";

/// The admin token, for scripts.
#[derive(Serialize)]
struct AdminLine<'a> {
    token: &'a str,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The id or the name of the device
    device: String,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Admin {
    #[command(flatten)]
    remote: RemoteArgs,
}

/// What a new device is called and may do.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// What the device is called
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// What it may: read, prompt, decide, edit, always or admin; can be given several times [default: read, prompt and
    /// decide]
    #[arg(long = "scope", value_name = "SCOPE", value_delimiter = ',', value_parser = scope)]
    scopes: Vec<Scope>,

    /// Limit it to sessions in this folder of the server, a whole path; can be given several times
    #[arg(long = "folder", value_name = "DIR", value_parser = folder)]
    folders: Vec<String>,

    /// End its credential after so many seconds [default: never]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    expires_in: Option<u64>,
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse().map_err(|error: tidings_bridge::Error| format!("{error}; {}", error.hint()))
}

/// The server may be on another machine, where the folder that this runs in is not there.
fn folder(text: &str) -> Result<String, &'static str> {
    let is_whole = text.starts_with('/') && !text.split('/').any(|part| part == "..");
    is_whole.then(|| text.to_owned()).ok_or("name the folder from the root on, such as `/srv/app`")
}

impl Wanted {
    pub(crate) fn device(&self) -> NewDevice {
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
    /// Whether errors are wanted as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            TokenCommand::List(List { remote })
            | TokenCommand::Create(Create { remote, .. })
            | TokenCommand::Revoke(Revoke { remote, .. })
            | TokenCommand::Admin(Admin { remote }) => remote.json,
        }
    }

    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            match self {
                TokenCommand::List(command) => command.run(out).await,
                TokenCommand::Create(command) => command.run(out).await,
                TokenCommand::Revoke(command) => command.run(out).await,
                TokenCommand::Admin(command) => command.run(out),
            }
        })
    }
}

impl List {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let list: DeviceList = self.remote.remote()?.get("/v1/devices").await?;
        for device in &list.items {
            let line = if self.remote.json { serde_json::to_string(device)? } else { text(device) };
            out.text(&format!("{line}\n"))?;
        }
        if list.items.is_empty() && !self.remote.json {
            out.note("No device has a credential; `tidings pair` lets one in.")?;
        }
        Ok(Exit::Fine)
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

/// The day of a time.
fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

impl Create {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let made: NewCredential = self.remote.remote()?.post("/v1/devices", &self.wanted.device()).await?;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&made)?))?;
        } else {
            out.note(&format!("{} ({}); this is shown once:", printable(&made.device.name), made.device.id))?;
            out.text(&format!("{}\n", made.token.unwrap_or_default()))?;
        }
        Ok(Exit::Fine)
    }
}

impl Revoke {
    async fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let remote = self.remote.remote()?;
        let list: DeviceList = remote.get("/v1/devices").await?;
        let named = |device: &&Device| device.id == self.device || device.name == self.device;
        let found: Vec<&Device> = list.items.iter().filter(named).collect();
        let [device] = found.as_slice() else {
            let count = u64::try_from(found.len()).unwrap_or(u64::MAX);
            let message =
                format!("`{}` is the name of {}", printable(&self.device), human::plural(count, "device"));
            return Err(CannotRun {
                code: "not_found",
                message,
                hint: "name it by its id, from `tidings token list`",
            }
            .into());
        };
        remote.delete(&format!("/v1/devices/{}", device.id)).await?;
        out.note(&format!("{} ({}) is out", printable(&device.name), device.id))?;
        Ok(Exit::Fine)
    }
}

impl Admin {
    fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        // That of this machine, sent there, would tell another server how to rule this one.
        if self.remote.elsewhere().is_some() {
            return Err(CannotRun {
                code: CannotRun::USAGE,
                message: "The admin token of a server elsewhere stays there".to_owned(),
                hint: "use its TIDINGS_TOKEN, or leave out --server and TIDINGS_SERVER for the one of this machine",
            }
            .into());
        }
        let data = self.remote.data()?;
        let token = read_admin_token(&data)?.ok_or_else(|| CannotRun {
            code: "not_found",
            message: format!("There is no token in `{}`", data.display()),
            hint: "start `tidings serve` once, or name its folder with --data",
        })?;
        let line = if self.remote.json {
            serde_json::to_string(&AdminLine { token: token.reveal() })?
        } else {
            token.reveal().to_owned()
        };
        out.text(&format!("{line}\n"))?;
        Ok(Exit::Fine)
    }
}
