//! Options of agents besides model and mode: who may set which.

use tidings_acp::limits::{OPTION_ID_BYTES_MAX, OPTIONS_MAX};
use tidings_api::{AgentOption, Code, CommandRequest};

use super::Sessions;
use super::live_session::LiveSession;
use super::settings::Launch;
use crate::{Caller, Error, capabilities};

const HINT: &str = "`GET /v1/sessions/{id}/models` lists the options of the agent and their values";

/// The option and the value of a command.
pub(crate) fn chosen(request: &CommandRequest) -> Result<(&str, &str), Error> {
    let is_bounded = |text: &&str| !text.is_empty() && text.len() <= OPTION_ID_BYTES_MAX;
    let (option, value) = (request.option.as_deref(), request.value.as_deref());
    option.filter(is_bounded).zip(value.filter(is_bounded)).ok_or_else(|| {
        let message =
            format!("An option needs `option` and `value`, texts of at most {OPTION_ID_BYTES_MAX} bytes");
        Error::new(Code::Invalid, message, HINT)
    })
}

impl Sessions {
    /// Refuses a change of an option that the agent does not have, or that the caller may not make.
    pub(super) async fn check_option(
        &self,
        caller: &Caller,
        entry: &LiveSession,
        request: &CommandRequest,
    ) -> Result<(), Error> {
        let (id, value) = chosen(request)?;
        let Some(agent) = entry.agent() else { return Ok(()) };
        let all = agent.choices().await.options;
        let Some(option) = all.iter().find(|option| option.id == id) else { return Err(unknown(id, &all)) };
        let bypasses = option.values.iter().any(|known| known.value == value && known.bypass);
        self.require(caller, &capabilities::of_option_value(option.category.as_deref(), bypasses))
    }

    /// Records a change of an option in the audit log.
    pub(super) async fn audit_option(&self, caller: &Caller, session: &str, request: &CommandRequest) {
        if let Ok((id, value)) = chosen(request) {
            self.audit_action(caller, Some(session), "set option", &format!("{id} = {value}")).await;
        }
    }
}

impl Launch {
    /// Stores an option for the next start of the agent.
    pub(crate) fn keep_option(&mut self, id: String, value: String) {
        if self.options.len() < OPTIONS_MAX || self.options.contains_key(&id) {
            self.options.insert(id, value);
        }
    }
}

fn unknown(id: &str, all: &[AgentOption]) -> Error {
    let ids: Vec<&str> = all.iter().map(|option| option.id.as_str()).collect();
    let message = match ids.join(", ") {
        ids if ids.is_empty() => format!("The agent has no options now, so `{id}` cannot be set"),
        ids => format!("The agent has no option `{id}`; its options are: {ids}"),
    };
    Error::new(Code::Conflict, message, HINT)
}
