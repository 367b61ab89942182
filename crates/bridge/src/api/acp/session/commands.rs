//! Commands of the editor for one session: prompts, answers, and settings.

use serde_json::json;
use serde_json::value::RawValue;
use tidings_acp::agent::{EditorAnswer, PromptEnd, SessionState, options_set, stopped};
use tidings_acp::limits::PROMPTS_MAX;
use tidings_acp::rpc::{Id, RpcError};
use tidings_api::{Code, CommandRequest, Input, SessionCommand};
use tidings_journal::Cursor;
use tidings_journal::broadcast::Delivery;
use tidings_sessions::Error;

use super::{Detached, EditorSession, Step, options};
use crate::api::acp::rpc_error;

/// A command of the editor for one session.
pub(in crate::api::acp) enum EditorCommand {
    Prompt { id: Id, input: Box<Input> },
    Cancel,
    CancelRequest(Id),
    SetMode { id: Id, mode: String },
    SetOption { id: Id, option: String, value: String },
    Answer(Id, Result<Box<RawValue>, RpcError>),
    Close(Id),
}

impl EditorSession {
    /// Runs a command of the editor, and responds to it.
    pub(super) async fn command(&mut self, command: EditorCommand) -> Step {
        match command {
            EditorCommand::Prompt { id, input } => self.prompt(id, *input).await,
            EditorCommand::Cancel => {
                self.cancel().await;
                Ok(())
            }
            EditorCommand::CancelRequest(request) => {
                let cancelled = self.feed.encoder.prompts.take(|id| *id == request);
                if cancelled.is_empty() {
                    return Ok(());
                }
                self.cancel().await;
                let error = RpcError::new(RpcError::CANCELLED, "The request was cancelled", "");
                self.respond(&request, &Err(error)).await
            }
            EditorCommand::SetMode { id, mode } => {
                let done = self.set_mode(mode).await.map(|()| json!({}));
                self.respond(&id, &done.map_err(|error| rpc_error(&error))).await
            }
            EditorCommand::SetOption { id, option, value } => {
                let done = self.set_option(&option, value).await;
                let state = self.feed.encoder.translator.state();
                let done = done.map(|()| options_set(state)).map_err(|error| rpc_error(&error));
                self.respond(&id, &done).await
            }
            EditorCommand::Answer(id, result) => self.answer(&id, &result).await,
            EditorCommand::Close(id) => {
                self.cancel().await;
                self.end_prompts(&PromptEnd::Cancelled).await?;
                self.respond(&id, &Ok(json!({}))).await?;
                Err(Detached)
            }
        }
    }

    async fn prompt(&mut self, id: Id, mut input: Input) -> Step {
        if self.feed.encoder.prompts.len() >= PROMPTS_MAX {
            let error = RpcError::new(RpcError::INTERNAL, "Too many prompts wait", "wait for some of them");
            return self.respond(&id, &Err(error)).await;
        }
        input.session_id = None;
        let accepted = match self.api.sessions.input(&self.caller, &self.key, input).await {
            Ok(accepted) => accepted,
            Err(error) => return self.respond(&id, &Err(rpc_error(&error))).await,
        };
        self.feed.encoder.prompts.add(id, accepted.seq);
        let position = self.feed.events.cursor();
        if accepted.seq > position.seq {
            return Ok(());
        }
        // A prompt from an earlier connection: its turn may have ended meanwhile.
        let before = Cursor::new(position.epoch, accepted.seq.saturating_sub(1));
        let Ok((_, mut events)) = self.api.sessions.subscribe(&self.key, options(Some(before), false)).await
        else {
            return Ok(());
        };
        let mut ended = Vec::new();
        while events.cursor().seq < position.seq {
            let Ok(Delivery::Event(event)) = events.next().await else { break };
            if let Some(message) = event.message() {
                let done = self.feed.encoder.prompts.observe(event.cursor.seq, &message);
                ended.extend(done.into_iter().map(|(id, end)| (id, end, event.cursor.to_string())));
            }
        }
        for (id, end, cursor) in ended {
            self.respond(&id, &stopped(&end, &cursor)).await?;
        }
        self.check_agent().await
    }

    /// Cancels the prompts of this editor, and the turn that runs for them.
    async fn cancel(&mut self) {
        let prompts = &mut self.feed.encoder.prompts;
        let is_own = prompts.is_empty() || prompts.has_running();
        let queued = prompts.cancel();
        for uuid in queued {
            // One that the agent has is interrupted when its turn begins.
            drop(self.api.sessions.cancel(&self.caller, &self.key, &uuid).await);
        }
        if is_own {
            self.interrupt();
        }
    }

    /// Interrupts the turn. The session goes on meanwhile, since the agent's last events come first.
    pub(super) fn interrupt(&self) {
        let (sessions, caller, key) = (self.api.sessions.clone(), self.caller.clone(), self.key.clone());
        drop(tokio::spawn(async move {
            let request = CommandRequest::default();
            if let Err(error) = sessions.command(&caller, &key, SessionCommand::Interrupt, request).await {
                tracing::debug!(session = key, %error, "failed to interrupt a turn for an editor");
            }
        }));
    }

    async fn set_mode(&mut self, mode: String) -> Result<(), Error> {
        let request = CommandRequest { mode: Some(mode.clone()), ..CommandRequest::default() };
        self.api.sessions.command(&self.caller, &self.key, SessionCommand::Mode, request).await?;
        self.feed.encoder.translator.state_mut().mode = mode;
        Ok(())
    }

    async fn set_option(&mut self, option: &str, value: String) -> Result<(), Error> {
        match option {
            "mode" => self.set_mode(value).await,
            "model" => {
                let model = SessionState::model_of(&value);
                let request = CommandRequest { model: model.clone(), ..CommandRequest::default() };
                self.api.sessions.command(&self.caller, &self.key, SessionCommand::Model, request).await?;
                self.feed.encoder.translator.state_mut().model = model;
                Ok(())
            }
            id if self.feed.encoder.translator.state().options.iter().any(|option| option.id == id) => {
                let request = CommandRequest {
                    option: Some(id.to_owned()),
                    value: Some(value.clone()),
                    ..CommandRequest::default()
                };
                self.api.sessions.command(&self.caller, &self.key, SessionCommand::Option, request).await?;
                let values = [(id.to_owned(), value)].into();
                self.feed.encoder.translator.state_mut().note_options(&values);
                Ok(())
            }
            _ => {
                let message = format!("There is no option `{option}`");
                let hint = "the options are those of the last `config_option_update`";
                Err(Error::new(Code::Invalid, message, hint))
            }
        }
    }

    async fn answer(&mut self, id: &Id, result: &Result<Box<RawValue>, RpcError>) -> Step {
        let Some(request) = self.asked.remove(id) else { return Ok(()) };
        let to = request.ask.tool_use_id().to_owned();
        let (caller, key, sessions) = (&self.caller, self.key.as_str(), &self.api.sessions);
        let is_cancelling = self.feed.encoder.prompts.is_cancelling();
        let answered = match request.ask.answer(request.method, result) {
            // A cancelled turn withdraws its requests by itself.
            EditorAnswer::Permission(answer) if answer.interrupt && is_cancelling => return Ok(()),
            EditorAnswer::Question(answer) if answer.cancel && is_cancelling => return Ok(()),
            EditorAnswer::Permission(answer) => {
                sessions.answer_permission(caller, key, &to, answer).await.map(drop)
            }
            EditorAnswer::Question(answer) => {
                sessions.answer_question(caller, key, &to, answer).await.map(drop)
            }
            EditorAnswer::None => {
                let text =
                    "The editor did not answer a request; answer it on the page or with `tidings attach`";
                Err(Error::new(Code::Unprocessable, text, ""))
            }
        };
        match answered {
            // Another client was faster.
            Err(error) if matches!(error.code(), Code::AlreadyAnswered | Code::NotFound | Code::Gone) => {
                Ok(())
            }
            Err(error) => {
                let line = self.feed.encoder.translator.notice("warning", error.message());
                self.send(line).await
            }
            Ok(()) => Ok(()),
        }
    }
}
