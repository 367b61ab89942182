//! Sessions of `tidings claude` on this machine: `attach` shows their terminal itself.

use std::io::{self, IsTerminal as _};

use tidings::host::terminal::TerminalHost;
use tidings_api::SessionCapability;

use super::AttachArgs;
use crate::commands::claude::find;
use crate::commands::session_lookup;

impl AttachArgs {
    /// The terminal of the session, if it has one and the user has one too.
    pub(super) fn terminal(&self, name: &str) -> anyhow::Result<Option<TerminalHost>> {
        let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !has_terminal || self.wait || self.remote.json || self.remote.remote_url().is_some() {
            return Ok(None);
        }
        let data = self.remote.data()?;
        if let Some(found) = find::by_name(&data, name) {
            return Ok(Some(found));
        }
        // Without a server there are no other names.
        let Ok(remote) = self.remote.remote() else { return Ok(None) };
        if TerminalHost::list(&data).is_empty() {
            return Ok(None);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let session = runtime.block_on(session_lookup::session(&remote, name))?;
        if !session.capabilities.contains(&SessionCapability::Terminal) {
            return Ok(None);
        }
        Ok(find::by_session(&data, &session.cli_session_ids))
    }
}
