//! `tidings pair`: a device gets in.

use clap::Args;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use tidings_protocol::api::{NewDevice, PairingCode};

use super::token::Wanted;
use crate::error::Exit;
use crate::output::{BOLD, Output, PLAIN, printable};
use crate::remote::RemoteArgs;

/// Let a device in: a link and a picture of it, good for one minute
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Pair {
    #[command(flatten)]
    wanted: Wanted,

    /// Leave the picture out
    #[arg(long)]
    no_qr: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

const EXAMPLES: &str = "\
Examples:
  tidings pair --name phone                     it may look, prompt and answer
  tidings pair --name tv --scope read           it may only look
  tidings pair --scope admin --expires-in 3600  everything, for an hour
  tidings pair --json | jq -r .link

The code is good for one minute and one device. It stands behind the # of the link, so no server and no proxy sees it.";

/// Whether a link leads to whatever machine opens it.
fn is_of_this_machine(link: &str) -> bool {
    let host = link.split_once("://").map_or(link, |(_, rest)| rest);
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| host.starts_with(name))
}

impl Pair {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let remote = self.remote.remote()?;
        let wanted: NewDevice = self.wanted.device();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let code: PairingCode = runtime.block_on(remote.post("/v1/pair/codes", &wanted))?;
        if self.remote.json {
            out.text(&format!("{}\n", serde_json::to_string(&code)?))?;
            return Ok(Exit::Fine);
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
        if is_of_this_machine(&code.link) {
            out.note(
                "Only this machine can open it: start the server with --public-url for phones, see docs/phone.md",
            )?;
        }
        Ok(Exit::Fine)
    }
}
