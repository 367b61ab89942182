//! `tidings pair`: creates a pairing code for a device.

use clap::Args;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use tidings_api::NewDevice;
use tidings_commands::error::Exit;
use tidings_commands::output::{BOLD, Output, PLAIN, printable};

use super::token::NewDeviceArgs;
use crate::commands::remote::RemoteArgs;

/// Pair a device with a link and a QR code that are valid for one minute
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PairArgs {
    #[command(flatten)]
    device: NewDeviceArgs,

    /// Do not print the QR code
    #[arg(long)]
    no_qr: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings pair --name phone                     may read, prompt and decide
  tidings pair --name tv --scope read           may only read
  tidings pair --scope admin --expires-in 3600  may do everything, for one hour
  tidings pair --json | jq -r .link

The code is valid for one minute and one device. It is in the fragment of the link (after #), which browsers do not \
send to servers or proxies.";

/// True if a link has a loopback address, so that it works on this machine only.
fn is_loopback(link: &str) -> bool {
    let host = link.split_once("://").map_or(link, |(_, rest)| rest);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host.starts_with(name))
}

impl PairArgs {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let remote = self.remote.remote()?;
        let device: NewDevice = self.device.new_device();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let code = runtime.block_on(remote.pairing_code(&device))?;
        if self.remote.json {
            out.json(&code)?;
            return Ok(Exit::Success);
        }
        if !self.no_qr {
            let picture = QrCode::new(&code.link)?.render::<Dense1x2>().quiet_zone(true).build();
            out.note(&picture)?;
        }
        out.note(&format!(
            "Open this within {} seconds, or type {BOLD}{}{PLAIN} into the page:",
            code.expires_in_s,
            printable(&code.code)
        ))?;
        out.text(&format!("{}\n", printable(&code.link)))?;
        if is_loopback(&code.link) {
            out.note("Only this machine can open it; for phones, start the server with --public-url")?;
        }
        Ok(Exit::Success)
    }
}
