//! The fleet of a server, from the file in its data folder.

use std::path::Path;

use tidings_bridge::fleet::{Access, Fleet, FleetFile, MemberKind};
use tidings_commands::error::CannotRun;

use super::layer::Observed;
use super::settings::{FleetSettings, Settings};

/// Connects to the fleet that the data folder belongs to, if it belongs to one.
pub(super) async fn open(settings: &Settings) -> anyhow::Result<Option<Fleet>> {
    let Some(mut file) = FleetFile::read(&settings.data)? else {
        if settings.fleet.url.is_some() {
            let message = "This data folder is in no fleet".to_owned();
            let hint = "`tidings fleet init` creates one, and `tidings fleet join` joins one";
            return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
        }
        return Ok(None);
    };
    file.url = settings.fleet.url.clone().unwrap_or(file.url);
    let access = settings.fleet.access()?;
    Ok(Some(Fleet::open(file, access, settings.fleet.labels.clone(), jiff::Timestamp::now()).await?))
}

/// Checks that the data folder is that of a hub, and turns off what a hub does not do.
pub(super) fn as_hub(settings: &mut Settings) -> anyhow::Result<()> {
    if !is_hub(&settings.data)? {
        let message = "This data folder is not that of a hub".to_owned();
        let hint =
            "join as a hub: `tidings fleet invite --hub` on the first server, `tidings fleet join CODE` here";
        return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
    }
    settings.observe = Observed::None;
    settings.archive_bytes = 0;
    Ok(())
}

pub(super) fn is_hub(data: &Path) -> anyhow::Result<bool> {
    Ok(FleetFile::read(data)?.is_some_and(|file| file.kind == MemberKind::Hub))
}

impl FleetSettings {
    /// Access to the NATS server.
    pub(super) fn access(&self) -> anyhow::Result<Access> {
        let nkey = self.nkey.as_ref().map(fs_err::read_to_string).transpose()?;
        Ok(Access {
            credentials: self.creds.clone(),
            nkey: nkey.map(|seed| seed.trim().to_owned()),
            tls_ca: self.ca.clone(),
            api_prefix: self.api_prefix.clone(),
            ..Access::default()
        })
    }
}
