//! The fleet of a server, from the file in its data folder.

use std::path::Path;

use tidings_bridge::fleet::{Access, Fleet, FleetFile, MemberKind};
use tidings_commands::error::CannotRun;

use super::declared::{DeclaredSettings, Observed};
use super::settings::{self, Settings};

/// Connects to the fleet that the data folder belongs to, if it belongs to one.
pub(super) async fn open(settings: &Settings) -> anyhow::Result<Option<Fleet>> {
    let Some(mut file) = FleetFile::read(&settings.data)? else {
        if settings.given.fleet.is_some() {
            let message = "This data folder is in no fleet".to_owned();
            let hint = "`tidings fleet init` creates one, and `tidings fleet join` joins one";
            return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
        }
        return Ok(None);
    };
    let given = &settings.given;
    file.url = given.fleet.clone().unwrap_or(file.url);
    let labels = settings::labels(&given.fleet_labels)?;
    Ok(Some(Fleet::open(file, given.fleet_access()?, labels, jiff::Timestamp::now()).await?))
}

/// Checks that the data folder is that of a hub, and turns off what a hub does not do.
pub(super) fn as_hub(settings: &mut Settings) -> anyhow::Result<()> {
    if !is_hub(&settings.data)? {
        let message = "This data folder is not that of a hub".to_owned();
        let hint =
            "join as a hub: `tidings fleet invite --hub` on the first server, `tidings fleet join CODE` here";
        return Err(CannotRun { code: CannotRun::USAGE, message, hint }.into());
    }
    settings.given.observe = Observed::None;
    settings.given.archive_mib = 0;
    Ok(())
}

pub(super) fn is_hub(data: &Path) -> anyhow::Result<bool> {
    Ok(FleetFile::read(data)?.is_some_and(|file| file.kind == MemberKind::Hub))
}

impl DeclaredSettings {
    /// Access to the NATS server.
    fn fleet_access(&self) -> anyhow::Result<Access> {
        let nkey = self.fleet_nkey.as_deref().map(fs_err::read_to_string).transpose()?;
        Ok(Access {
            credentials: self.fleet_creds.clone().map(Into::into),
            nkey: nkey.map(|seed| seed.trim().to_owned()),
            tls_ca: self.fleet_ca.clone().map(Into::into),
            api_prefix: self.fleet_api_prefix.clone(),
            ..Access::default()
        })
    }
}
