//! Changes of a session's settings by clients.

use tidings_api::{PatchSession, Scope, SessionView};
use tidings_journal as journal;

use super::Sessions;
use super::live_session::Change;
use super::running::command_ids;
use super::settings::SessionSettings;
use crate::capabilities::{self, Bypass};
use crate::{Caller, Error};

impl Sessions {
    /// Changes settings of a session: its title, labels, budget or policy, or what it does after a limit.
    pub async fn patch(
        &self,
        caller: &Caller,
        name: &str,
        patch: PatchSession,
    ) -> Result<SessionView, Error> {
        caller.require(Scope::Prompt)?;
        let bypass = Bypass::from_setting(self.config().allow_bypass);
        let used = self.active_for(caller, name).await?;
        let wanted = patch.clone();
        let client_id = command_ids::optional_stored_id(caller, patch.client_id.as_deref())?;
        let what = command_ids::digest(&("patch", &PatchSession { client_id: None, ..patch.clone() }));
        let change = |settings: &mut SessionSettings, row: &journal::Session| {
            if let Some(id) = &client_id {
                if settings.done_before(id, &what)?.is_some() {
                    return Ok(Change::default());
                }
                settings.remember(id, what, row.head.seq, row.head.to_string());
            }
            let needs = capabilities::of_patch(&patch, settings.launch.policy, &settings.budget)?;
            capabilities::require(caller, bypass, &needs)?;
            Ok(settings.apply(patch, self.config().clock.now()))
        };
        let view = used.entry.change(change).await?.0;
        self.audit_settings(caller, &view.key, &wanted).await;
        // The turn that is under way may have more time now, or less.
        used.entry.wake.notify_one();
        Ok(view)
    }
}
