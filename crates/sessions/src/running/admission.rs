//! Admission of prompts: what their text may do, and how loose the session is that they are for.

use std::path::{Path, PathBuf};

use tidings_api::{Code, CreateSession, Policy};

use crate::backends::Backend as _;
use crate::capabilities::{self, Capability};
use crate::live_session::{LiveSession, Memory};
use crate::requests::policy;
use crate::text::{self, DeliveredText, Denies, TextTarget, Way};
use crate::{Caller, Config, Error, Sessions};

/// The parts of a session that decide about a text.
#[derive(Debug, Clone)]
struct TextFacts {
    way: Way,
    folder: PathBuf,
    config_dir: Option<PathBuf>,
    denies: Denies,
}

impl Sessions {
    /// Decides about the text of a prompt to a session: how it is delivered, or that it is refused.
    pub(crate) async fn admit_text(
        &self,
        caller: &Caller,
        entry: &LiveSession,
        text: &str,
    ) -> Result<DeliveredText, Error> {
        let before_start = self.way_before_start(entry.memory().settings.launch.demo);
        let facts = TextFacts::of(&entry.memory(), before_start, entry.config_dir.clone());
        admit(caller, facts, text).await
    }

    /// The same for the first prompt of a session that does not exist yet.
    pub(crate) async fn admit_first_text(
        &self,
        caller: &Caller,
        new: &CreateSession,
        is_demo: bool,
        text: &str,
    ) -> Result<(), Error> {
        let way = match &new.backend {
            Some(_) => Way::OtherAgent,
            None => self.way_before_start(is_demo),
        };
        let config_dir = self.config().config_dir(is_demo).map(Path::to_owned);
        let facts =
            TextFacts { way, folder: PathBuf::from(&new.cwd), config_dir, denies: Denies::Credentials };
        admit(caller, facts, text).await.map(drop)
    }

    /// The way to Claude Code while it does not run. The agent itself decides when it gets the prompt; a
    /// version that is known to ignore the mark is refused earlier.
    fn way_before_start(&self, is_demo: bool) -> Way {
        match self.known_version().filter(|_| !is_demo) {
            Some(version) => Way::of_version(Some(version)),
            None => Way::Message,
        }
    }
}

async fn admit(caller: &Caller, facts: TextFacts, text: &str) -> Result<DeliveredText, Error> {
    #[cfg(unix)]
    let text = match facts.way {
        Way::Typed | Way::PeerMessage => tidings::host::terminal::typed_text(text),
        Way::Message | Way::UnmarkedMessage | Way::OtherAgent | Way::Answer => text.to_owned(),
    };
    #[cfg(not(unix))]
    let text = text.to_owned();
    let caller = caller.clone();
    let decide = move || {
        let target = TextTarget {
            folder: &facts.folder,
            config_dir: facts.config_dir.as_deref(),
            denies: facts.denies,
        };
        text::admit(&caller, facts.way, target, &text)
    };
    let lost = |_| Error::new(Code::Internal, "Failed to check a prompt", "try again");
    tokio::task::spawn_blocking(decide).await.map_err(lost)?
}

impl TextFacts {
    fn of(memory: &Memory, before_start: Way, config_dir: Option<PathBuf>) -> Self {
        let (way, denies) = match (&memory.observed, &memory.agent) {
            // A process that a person started has their own rules; what it would interpret is refused.
            (Some(process), _) => (process.text_way(), Denies::Credentials),
            (None, Some(agent)) => (agent.text_way(), memory.settings.denies),
            (None, None) if memory.settings.launch.backend.is_some() => {
                (Way::OtherAgent, Denies::Credentials)
            }
            (None, None) => (before_start, Denies::Credentials),
        };
        TextFacts { way, folder: PathBuf::from(&memory.row.cwd), config_dir, denies }
    }
}

impl LiveSession {
    /// Decides about a text beside prompts: the reason of a denial, an answer to a question, a comment.
    pub(crate) fn admit_answer(&self, caller: &Caller, text: &str) -> Result<String, Error> {
        let folder = self.memory().row.cwd.clone();
        let target = TextTarget { folder: Path::new(&folder), config_dir: None, denies: Denies::Credentials };
        text::admit(caller, Way::Answer, target, text).map(|delivered| delivered.text)
    }

    /// Refuses a prompt to a session in which more runs unasked than the caller could allow: a prompt uses
    /// the looseness of its session.
    pub(crate) fn check_looseness(&self, caller: &Caller, config: &Config) -> Result<(), Error> {
        let needs = looseness(&self.memory(), config);
        let Some((what, scope)) = needs
            .into_iter()
            .map(|(what, capability)| (what, capability.scope()))
            .find(|(_, scope)| !caller.scopes.has(*scope))
        else {
            return Ok(());
        };
        let message = format!(
            "{what}, so a prompt to it needs the scope `{scope}`, which `{}` does not have",
            caller.name
        );
        let hint = "an admin can grant the scope to the device, or make the session ask again";
        Err(Error::new(Code::Forbidden, message, hint))
    }
}

/// The settings of a session with which calls run unasked, and the capability to choose each.
fn looseness(memory: &Memory, config: &Config) -> Vec<(String, Capability)> {
    let launch = &memory.settings.launch;
    let mut needs = Vec::new();
    let mode = match &memory.observed {
        Some(process) => process.permission_mode(),
        None => Some(launch.permission_mode.clone().unwrap_or_else(|| capabilities::USUAL_MODE.to_owned())),
    };
    needs.push(match mode {
        Some(mode) => (format!("This session is in the mode `{mode}`"), of_mode(&mode)),
        // The CLI starts in a mode in which most calls run unasked.
        None => ("The mode of this session is not known".to_owned(), Capability::RunUnasked),
    });
    let policy = policy::allowed(launch.policy, config);
    let of_policy = capabilities::of_policy_alone(policy).unwrap_or(Capability::AskNobody);
    needs.push((format!("This session has the policy `{}`", policy_name(policy)), of_policy));
    if !launch.allowed_tools.is_empty() {
        needs.push(("This session has tools that run unasked".to_owned(), Capability::RunUnasked));
    }
    if !launch.add_dirs.is_empty() {
        needs.push(("This session reads other folders unasked".to_owned(), Capability::RunUnasked));
    }
    needs
}

/// The policy as it is written in JSON.
fn policy_name(policy: Policy) -> String {
    let name = serde_json::to_value(policy).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// The capability that a mode needs; an unknown one counts as the loosest.
fn of_mode(mode: &str) -> Capability {
    capabilities::of_mode_name(Some(mode)).unwrap_or(Capability::AskNobody)
}
