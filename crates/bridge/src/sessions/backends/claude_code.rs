//! Claude Code that this server runs, with or without a host.

use futures_core::future::BoxFuture;
use tidings_agent::{AgentSession, Command};
use tidings_protocol::api::{ModelChoice, Rewound, SessionCapability};

use super::{Backend, BackendCall, Offer, PromptOutcome, Setting};
use crate::error::{Code, Error};
use crate::sessions::running::prompt::{prompt, shown_prompt};
use crate::sessions::settings::Queued;
use crate::sessions::starting::launch;
use crate::text::Way;

/// A running Claude Code, driven by its control protocol.
pub(in crate::sessions) struct ClaudeCode(pub(in crate::sessions) AgentSession);

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

impl ClaudeCode {
    /// The actions that it offers, which are the same before it is started.
    pub(in crate::sessions) fn full_offer() -> Offer {
        Offer { capabilities: OFFERED.to_vec(), limited: None }
    }
}

impl Backend for ClaudeCode {
    fn offer(&self) -> Offer {
        Self::full_offer()
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
}

pub(super) fn choice(model: tidings::control::ModelInfo) -> ModelChoice {
    let name = if model.display_name.is_empty() { model.value.clone() } else { model.display_name };
    ModelChoice { value: model.value, name, description: model.description, model: model.resolved_model }
}

fn cannot_rewind(why: &str) -> Error {
    let hint = "send the `uuid` of a prompt of this session, which is in its event `UserPrompt`";
    Error::new(Code::Conflict, format!("Failed to rewind files: {why}"), hint)
}
