//! Claude Code that this server runs, with or without a host.

use futures_core::future::BoxFuture;
use tidings::control::{EffortLevel, GetSettings, ModelInfo};
use tidings_agent::{AgentSession, Command};
use tidings_api::{AgentOption, AgentOptionValue, Code, ModelChoice, ModelList, Rewound, SessionCapability};
use tidings_protocol::control::SlashCommand;

use super::{Backend, BackendCall, Offer, PromptOutcome, Setting};
use crate::limits::AGENT_OFFER_WAIT;
use crate::running::prompt::{prompt, shown_prompt};
use crate::settings::Queued;
use crate::starting::launch;
use crate::text::Way;
use crate::{Error, capabilities};

/// A running Claude Code, driven by its control protocol.
pub(crate) struct ClaudeCode(pub(crate) AgentSession);

/// Actions on a session whose agent this server runs, or will start for the next prompt.
const OFFERED: [SessionCapability; 9] = [
    SessionCapability::Prompt,
    SessionCapability::Interrupt,
    SessionCapability::Answer,
    SessionCapability::SetModel,
    SessionCapability::SetMode,
    SessionCapability::Rewind,
    SessionCapability::Compact,
    SessionCapability::Clear,
    SessionCapability::Stop,
];

/// Id of the option for the effort of the model, and the name of the CLI's setting for it.
pub(crate) const EFFORT: &str = "effort";
const EFFORT_SETTING: &str = "effortLevel";

impl ClaudeCode {
    /// The levels of effort that its model has; none if it has no effort, or none runs that knows.
    fn effort_levels(&self, model: Option<&str>) -> Vec<EffortLevel> {
        let models = self.0.client().info().models;
        let is_it = |known: &&ModelInfo| {
            model.is_some_and(|model| known.value == model || known.resolved_model.as_deref() == Some(model))
        };
        let current = models.iter().find(is_it).or_else(|| models.first());
        current
            .filter(|model| model.supports_effort == Some(true))
            .and_then(|model| model.supported_effort_levels.clone())
            .unwrap_or_default()
    }

    /// The effort of the model as an option, if it has one.
    async fn effort_option(&self) -> Option<AgentOption> {
        let request = self.0.client().request_within(GetSettings::default(), AGENT_OFFER_WAIT);
        let applied = request.await.ok()?.applied?;
        let levels = self.effort_levels(applied.model.as_deref());
        let value = applied.effort?.as_str().to_owned();
        let values = levels.iter().map(|level| AgentOptionValue {
            value: level.as_str().to_owned(),
            name: level.as_str().to_owned(),
            ..AgentOptionValue::default()
        });
        let category = "thought_level".to_owned();
        (!levels.is_empty()).then(|| AgentOption {
            id: EFFORT.to_owned(),
            name: "Effort".to_owned(),
            description: Some("How hard the model works".to_owned()),
            scope: capabilities::of_option(Some(&category)).scope().to_string(),
            category: Some(category),
            value,
            values: values.collect(),
        })
    }

    /// The actions that it offers, which are the same before it is started.
    pub(crate) fn full_offer() -> Offer {
        Offer { capabilities: OFFERED.to_vec(), limited: None }
    }
}

impl Backend for ClaudeCode {
    fn offer(&self) -> Offer {
        let mut offer = Self::full_offer();
        if self.0.client().info().models.iter().any(|model| model.supports_effort == Some(true)) {
            offer.capabilities.push(SessionCapability::SetOption);
        }
        offer
    }

    fn text_way(&self) -> Way {
        let version = self.0.client().info().claude_code_version;
        Way::of_version(version.and_then(|version| version.parse().ok()))
    }

    fn prompt<'a>(&'a self, queued: &'a Queued) -> BackendCall<'a, PromptOutcome> {
        Box::pin(async move {
            queued.check_way(self.text_way())?;
            self.0.prompt(prompt(queued)?, shown_prompt(queued)).await?;
            Ok(PromptOutcome::Handed)
        })
    }

    fn interrupt(&self) -> BackendCall<'_, ()> {
        Box::pin(async {
            self.0.client().interrupt().await?;
            Ok(())
        })
    }

    fn run(&self, command: Command) -> BackendCall<'_, ()> {
        Box::pin(async move { Ok(self.0.command(command).await?) })
    }

    fn set<'a>(&'a self, setting: Setting<'a>) -> BackendCall<'a, ()> {
        Box::pin(async move {
            match setting {
                Setting::Model(model) => drop(self.0.client().set_model(model).await?),
                Setting::Mode(mode) => {
                    let wanted = launch::mode_on_the_wire(mode);
                    let confirmed = self.0.client().set_permission_mode(wanted.clone()).await?;
                    if let Some(other) = confirmed.filter(|other| *other != wanted) {
                        let message = format!("The agent is in the mode `{other}` now");
                        return Err(Error::new(Code::Conflict, message, "choose a mode that it has"));
                    }
                }
                Setting::Option { id: EFFORT, value } => {
                    // The CLI ignores a level that it does not know.
                    let option = self.effort_option().await;
                    if !option.is_some_and(|option| option.values.iter().any(|known| known.value == value)) {
                        let message = format!("The model has no effort `{value}`");
                        let hint = "`GET /v1/sessions/{id}/models` lists the levels of the model";
                        return Err(Error::new(Code::Invalid, message, hint));
                    }
                    let settings = serde_json::json!({ EFFORT_SETTING: value });
                    self.0.client().apply_settings(&settings).await?;
                }
                Setting::Option { .. } => return Err(self.offer().refusal(SessionCapability::SetOption)),
            }
            Ok(())
        })
    }

    fn rewind<'a>(&'a self, prompt: &'a str, dry_run: bool) -> BackendCall<'a, Rewound> {
        Box::pin(async move {
            let client = self.0.client();
            let reply =
                if dry_run { client.preview_rewind(prompt).await } else { client.rewind_files(prompt).await };
            let reply = match reply {
                Ok(reply) => reply,
                // The agent has no such prompt, or stores no files; a retry fails in the same way.
                Err(error) if error.kind() == tidings::ErrorKind::Control => {
                    return Err(cannot_rewind(&error.to_string()));
                }
                Err(error) => return Err(error.into()),
            };
            if !reply.can_rewind {
                return Err(cannot_rewind(reply.error.as_deref().unwrap_or("the agent gives no reason")));
            }
            Ok(Rewound {
                files: reply.files_changed.unwrap_or_default(),
                insertions: reply.insertions,
                deletions: reply.deletions,
                skipped_links: reply.skipped_links,
            })
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.close())
    }

    fn is_closed(&self) -> bool {
        self.0.client().is_closed()
    }

    fn works_in_background(&self) -> bool {
        self.0.client().works_in_background()
    }

    fn models(&self) -> Vec<ModelChoice> {
        self.0.client().info().models.into_iter().map(choice).collect()
    }

    fn commands(&self) -> Vec<SlashCommand> {
        self.0.client().info().commands
    }

    fn choices(&self) -> BoxFuture<'_, ModelList> {
        Box::pin(async {
            let options = self.effort_option().await.into_iter().collect();
            ModelList { items: self.models(), options, ..ModelList::default() }
        })
    }
}

pub(super) fn choice(model: tidings::control::ModelInfo) -> ModelChoice {
    let name = if model.display_name.is_empty() { model.value.clone() } else { model.display_name };
    ModelChoice { value: model.value, name, description: model.description, model: model.resolved_model }
}

fn cannot_rewind(why: &str) -> Error {
    let hint = "send the `uuid` of a prompt of this session, which is in its event `UserPrompt`";
    Error::new(Code::Conflict, format!("Failed to rewind files: {why}"), hint)
}
