//! Takes the place of `fleet` in a program without that feature: a server that is in a fleet does not start.

use std::path::Path;

use tidings_bridge::fleet::{Fleet, check_data, without_fleets};

use super::settings::Settings;

pub(super) async fn open(settings: &Settings) -> anyhow::Result<Option<Fleet>> {
    if settings.given.fleet.is_some() { Err(without_fleets().into()) } else { Ok(None) }
}

pub(super) fn as_hub(_: &mut Settings) -> anyhow::Result<()> {
    Err(without_fleets().into())
}

pub(super) fn is_hub(data: &Path) -> anyhow::Result<bool> {
    check_data(data)?;
    Ok(false)
}
