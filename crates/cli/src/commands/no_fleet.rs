//! Takes the place of `fleet` in a program without that feature.

use clap::Args;
use tidings_bridge::fleet::without_fleets;
use tidings_commands::error::Exit;
use tidings_commands::output::Output;

use super::remote::RemoteArgs;

pub(crate) use NoFleetArgs as FleetArgs;

/// Connect several servers (not in this program: it was built without fleets)
#[derive(Debug, Args)]
pub(crate) struct NoFleetArgs {
    #[arg(hide = true, allow_hyphen_values = true)]
    command: Vec<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

impl NoFleetArgs {
    #[expect(clippy::unused_self, reason = "as with fleets")]
    pub(crate) fn run(&self, _: &mut Output) -> anyhow::Result<Exit> {
        Err(without_fleets().into())
    }
}
