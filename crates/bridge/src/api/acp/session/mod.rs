//! One session that an editor has open: its updates in order, its prompts, and requests that wait for the
//! editor.

mod commands;

use std::collections::HashMap;

use serde_json::Value;
use tidings_acp::agent::{
    ClientFeatures, EditorRequest, PendingRequest, PromptEnd, Translator, opened, stopped,
};
use tidings_acp::limits::{COMMANDS_WAITING_MAX, EVENTS_BEFORE_CURSOR};
use tidings_acp::rpc::{self, Id, RpcError};
use tidings_api::{Scope, ServerPhase, Subscribed, Verdict};
use tidings_journal::broadcast::{Cut, Delivery, SubscribeOptions, Subscription};
use tidings_journal::limits::MERGED_BYTES_MAX;
use tidings_journal::{Cursor, Event};
use tidings_protocol::ui::{UiMessage, UserPrompt};
use tidings_sessions::running::frames::FRAME;
use tidings_sessions::{Caller, Error};
use tokio::sync::mpsc;

pub(super) use self::commands::EditorCommand;

use super::encoder::{EditorBatch, EditorEncoder, EditorItem};
use super::open;
use crate::api::feed::{Encoder as _, Feed, FeedEnd};
use crate::api::rest::history::prompt_attachments;
use crate::api::{Api, visibility};

/// The way in which an editor opens a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OpenMode {
    /// It is new.
    New,
    /// Everything that happened is replayed before the response.
    Load,
    /// Nothing is replayed, or what happened after a cursor.
    Resume { after: Option<String> },
}

pub(super) struct EditorSession {
    api: Api,
    caller: Caller,
    /// The session, as the editor names it.
    name: String,
    key: String,
    features: ClientFeatures,
    opening: OpenMode,
    lines: mpsc::Sender<String>,
    feed: Feed<EditorEncoder>,
    /// The head at the time of opening, and the requests that were pending then.
    head: Cursor,
    pending: Vec<PendingRequest>,
    /// A notice for the editor about its cursor.
    lost: Option<&'static str>,
    /// Requests that the editor has.
    asked: HashMap<Id, EditorRequest>,
}

/// The editor is gone, or the session is.
struct Detached;

type Step = Result<(), Detached>;

impl EditorSession {
    /// Subscribes to a session.
    pub(super) async fn attach(
        (api, caller): (Api, Caller),
        (name, key): (String, String),
        features: ClientFeatures,
        opening: OpenMode,
        lines: mpsc::Sender<String>,
    ) -> Result<Self, Error> {
        let view = visibility::session(&api.sessions, &caller, &key).await?;
        let state = open::state(&api, &caller, &view).await?;
        let mut encoder = EditorEncoder::new(Translator::new(&name, &view.cwd, features.clone(), state));
        let after: Option<Cursor> = match &opening {
            OpenMode::Resume { after: Some(after) } => Some(after.parse()?),
            OpenMode::Resume { after: None } => Some(view.cursor.parse()?),
            OpenMode::New | OpenMode::Load => None,
        };
        let may_answer = caller.scopes.has(Scope::Decide);
        let mut lost = None;
        let (subscribed, events) = match after {
            Some(after) => {
                let (subscribed, events, is_lost) =
                    primed(&api, &key, after, may_answer, &mut encoder).await?;
                lost =
                    is_lost.then_some("Some updates of this session are missing; load it again to see them");
                (subscribed, events)
            }
            None => api.sessions.subscribe(&key, options(None, may_answer)).await?,
        };
        let head = subscribed.head.parse()?;
        let asks = subscribed.pending_permissions.into_iter().map(PendingRequest::from);
        let pending =
            asks.chain(subscribed.pending_questions.into_iter().map(PendingRequest::from)).collect();
        let feed = Feed::new(events, encoder);
        let asked = HashMap::new();
        Ok(EditorSession {
            api,
            caller,
            name,
            key,
            features,
            opening,
            lines,
            feed,
            head,
            pending,
            lost,
            asked,
        })
    }

    /// Starts the task, which responds to the request that opened the session.
    pub(super) fn start(self, id: Id) -> mpsc::Sender<EditorCommand> {
        let (sender, commands) = mpsc::channel(COMMANDS_WAITING_MAX);
        drop(tokio::spawn(async move {
            // The end of either side ends it; the agent goes on.
            let _: Step = self.run(id, commands).await;
        }));
        sender
    }

    async fn run(mut self, id: Id, mut commands: mpsc::Receiver<EditorCommand>) -> Step {
        if self.opening == OpenMode::Load {
            self.replay().await?;
        }
        self.respond_opened(&id).await?;
        loop {
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => self.command(command).await?,
                    None => return Err(Detached),
                },
                batch = self.feed.next() => match batch {
                    Ok(batch) => self.forward(batch).await?,
                    Err(end) => self.subscribe_again(end).await?,
                },
            }
        }
    }

    /// Sends everything up to the head, with the deltas of each text as one.
    async fn replay(&mut self) -> Step {
        let mut held: Option<(UiMessage, Event)> = None;
        while self.feed.events.cursor().seq < self.head.seq {
            let Ok(Delivery::Event(event)) = self.feed.events.next().await else { break };
            if event.kind.as_str() == FRAME {
                continue;
            }
            let message = event.message().filter(|message| message.is_mergeable());
            if let (Some((text, last)), Some(next)) = (&mut held, &message)
                && text.append(next, MERGED_BYTES_MAX)
            {
                *last = Event::clone(&event);
                continue;
            }
            self.replay_held(held.take()).await?;
            match message {
                Some(message) => held = Some((UiMessage::clone(&message), Event::clone(&event))),
                None => self.replay_event(&event).await?,
            }
        }
        self.replay_held(held).await
    }

    async fn replay_held(&mut self, held: Option<(UiMessage, Event)>) -> Step {
        let Some((message, event)) = held else { return Ok(()) };
        let cursor = event.cursor;
        let lines = self.feed.encoder.translator.translate(&message, &cursor.to_string(), cursor.seq);
        for line in lines {
            self.send(line).await?;
        }
        Ok(())
    }

    async fn replay_event(&mut self, event: &Event) -> Step {
        let mut batch = EditorBatch::default();
        self.feed.encoder.encode(event, &mut batch);
        for item in batch.items {
            match item {
                EditorItem::Line(line) => self.send(line).await?,
                EditorItem::Attachments(prompt, cursor) => self.send_attachments(&prompt, &cursor).await?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends the images and files of a prompt, which events only mention.
    async fn send_attachments(&mut self, prompt: &UserPrompt, cursor: &str) -> Step {
        let uuid = prompt.uuid.as_deref().unwrap_or_default();
        let attachments = prompt_attachments(&self.api, &self.caller, &self.key, uuid).await;
        let attachments = attachments.unwrap_or_else(|error| {
            tracing::debug!(session = self.key, %error, "failed to read the attachments of a prompt");
            Vec::new()
        });
        for line in self.feed.encoder.translator.attachments(prompt, &attachments, cursor) {
            self.send(line).await?;
        }
        Ok(())
    }

    /// Responds to the request that opened the session, and asks what is pending.
    async fn respond_opened(&mut self, id: &Id) -> Step {
        let pending = std::mem::take(&mut self.pending);
        let requests: Vec<EditorRequest> =
            pending.into_iter().filter_map(|ask| self.to_editor(ask)).collect();
        let ids: Vec<Id> = requests.iter().map(|request| request.id.clone()).collect();
        let cursor = match &self.opening {
            OpenMode::Resume { .. } => self.feed.events.cursor(),
            OpenMode::New | OpenMode::Load => self.head,
        };
        let state = self.feed.encoder.translator.state();
        let response = opened(&self.name, state, &cursor.to_string(), &ids);
        self.send(rpc::response(Some(id), &Ok(response))).await?;
        for line in self.feed.encoder.translator.first_updates() {
            self.send(line).await?;
        }
        if let Some(lost) = self.lost {
            let line = self.feed.encoder.translator.notice("warning", lost);
            self.send(line).await?;
        }
        for request in requests {
            self.ask(request).await?;
        }
        Ok(())
    }

    fn to_editor(&self, ask: PendingRequest) -> Option<EditorRequest> {
        if !self.caller.scopes.has(Scope::Decide) {
            return None;
        }
        ask.to_editor(&self.name, &self.features, self.caller.scopes.has(Scope::Always))
    }

    async fn ask(&mut self, request: EditorRequest) -> Step {
        let line = rpc::request(&request.id, request.method, &request.params);
        self.asked.insert(request.id.clone(), request);
        self.send(line).await
    }

    async fn send(&self, line: String) -> Step {
        self.lines.send(line).await.map_err(|_| Detached)
    }

    async fn respond(&self, id: &Id, result: &Result<Value, RpcError>) -> Step {
        self.send(rpc::response(Some(id), result)).await
    }

    async fn forward(&mut self, batch: EditorBatch) -> Step {
        for item in batch.items {
            match item {
                EditorItem::Line(line) => self.send(line).await?,
                EditorItem::Attachments(prompt, cursor) => self.send_attachments(&prompt, &cursor).await?,
                // Requests from before the head were pending then, or are resolved.
                EditorItem::Ask(_, seq) if seq <= self.head.seq => {}
                EditorItem::Ask(ask, _) => {
                    if let Some(request) = self.to_editor(ask) {
                        self.ask(request).await?;
                    } else {
                        let text = "The agent waits for an answer that this editor cannot give; \
                                    answer it on the page or with `tidings attach`";
                        let line = self.feed.encoder.translator.notice("warning", text);
                        self.send(line).await?;
                    }
                }
                EditorItem::Settled(tool_use_id) => {
                    let id = Id::of_text(&format!("{}/{tool_use_id}", self.name));
                    if self.asked.remove(&id).is_some() {
                        self.send(rpc::cancel_request(&id)).await?;
                    }
                }
                EditorItem::Ended(id, end, cursor) => self.respond(&id, &stopped(&end, &cursor)).await?,
                EditorItem::Interrupt => self.interrupt(),
                EditorItem::CheckAgent => self.check_agent().await?,
                EditorItem::CheckOptions => self.check_options().await?,
            }
        }
        Ok(())
    }

    /// Ends the open prompts if the agent has ended without an end of their turns (F57).
    async fn check_agent(&mut self) -> Step {
        if self.feed.encoder.prompts.is_empty() {
            return Ok(());
        }
        let Ok(view) = self.api.sessions.find(&self.key).await else { return Ok(()) };
        let is_over = match view.state {
            ServerPhase::Failed | ServerPhase::Interrupted | ServerPhase::Stopped => true,
            // A prompt in the queue starts it again.
            ServerPhase::Parked => view.queued == 0,
            _ => false,
        };
        if !is_over {
            return Ok(());
        }
        let message = view.error.unwrap_or_else(|| "The agent ended before it had answered".to_owned());
        self.end_prompts(&PromptEnd::Failed(message)).await
    }

    /// Asks the agent for its options, which it knows once it runs.
    async fn check_options(&mut self) -> Step {
        if !self.feed.encoder.translator.state().options.is_empty() {
            return Ok(());
        }
        let Ok(choices) = self.api.sessions.choices_of(&self.key).await else { return Ok(()) };
        if choices.options.is_empty() {
            return Ok(());
        }
        self.feed.encoder.translator.state_mut().options = choices.options;
        let line = self.feed.encoder.translator.changed_options();
        self.send(line).await
    }

    async fn end_prompts(&mut self, end: &PromptEnd) -> Step {
        let cursor = self.feed.events.cursor().to_string();
        for (id, end) in self.feed.encoder.prompts.take_all(end) {
            self.respond(&id, &stopped(&end, &cursor)).await?;
        }
        Ok(())
    }

    async fn subscribe_again(&mut self, end: FeedEnd) -> Step {
        let after = match end {
            FeedEnd::Cut(Cut::Resync(_) | Cut::Gap(_), cursor) => cursor,
            FeedEnd::Cut(Cut::Deleted, _) => {
                self.end_prompts(&PromptEnd::Failed("The session was deleted".to_owned())).await?;
                return Err(Detached);
            }
            FeedEnd::Failed(error) => {
                self.end_prompts(&PromptEnd::Failed(Error::from(error).to_string())).await?;
                return Err(Detached);
            }
        };
        let may_answer = self.caller.scopes.has(Scope::Decide);
        match self.api.sessions.subscribe(&self.key, options(Some(after), may_answer)).await {
            Ok((_, events)) => {
                self.feed.renew(events);
                Ok(())
            }
            Err(error) => {
                self.end_prompts(&PromptEnd::Failed(error.to_string())).await?;
                Err(Detached)
            }
        }
    }
}

/// A subscription after a cursor, with a translator that has seen the events before it. True if the cursor is
/// not known any more; then it starts at the head.
async fn primed(
    api: &Api,
    key: &str,
    after: Cursor,
    may_answer: bool,
    encoder: &mut EditorEncoder,
) -> Result<(Subscribed, Subscription, bool), Error> {
    let (checked, _) = api.sessions.subscribe(key, options(Some(after), false)).await?;
    let is_lost = checked.verdict != Verdict::Ok;
    let after = if is_lost { checked.head.parse()? } else { after };
    let before = Cursor::new(after.epoch, after.seq.saturating_sub(EVENTS_BEFORE_CURSOR));
    let (subscribed, mut events) = api.sessions.subscribe(key, options(Some(before), may_answer)).await?;
    let mut unsent = EditorBatch::default();
    while events.cursor().seq < after.seq {
        let Ok(Delivery::Event(event)) = events.next().await else { break };
        encoder.encode(&event, &mut unsent);
        unsent.items.clear();
    }
    Ok((subscribed, events, is_lost))
}

fn options(after: Option<Cursor>, may_answer: bool) -> SubscribeOptions {
    SubscribeOptions { may_answer, ..SubscribeOptions::after(after) }
}
