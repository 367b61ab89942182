//! The connection of one phone on `/v1/mobile`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tidings_api::{Code, Notice, Scope, ServerPhase, SessionView};
use tidings_journal::broadcast::Cut;
use tidings_protocol::mobile::{
    AuthError, AuthSuccess, HealthCheckResponse, HeartbeatMessage, MOBILE_WIRE_VERSION, MobileMessage,
    WrapperHandshakeMessage,
};
use tidings_sessions::Caller;
use tokio::sync::broadcast;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::feed::{PhoneFeed, PhoneUpdate};
use super::incoming::{self, PhoneAction, PhoneMessage, Work};
use super::outgoing::{ProjectEnvelope, Refusal, WithProject, to_json};
use super::position::MessagePosition;
use super::work::{self, WorkContext, WorkResult};
use super::{asks, projects};
use crate::api::Api;
use crate::api::feed::FeedEnd;
use crate::api::future_set::FutureSet;
use crate::api::stream_lifetime::{StreamLifetime, retry_ms};
use crate::api::ws::close::Close;
use crate::api::ws::heartbeat::Heartbeat;
use crate::api::ws::link::{Message, WebSocket};
use crate::api::ws::socket::{close_socket, received};
use crate::auth::Peer;
use crate::limits::{MOBILE_QUEUE_KEPT, REQUESTS_MAX, SIGN_IN_WAIT, SUBSCRIPTIONS_MAX, WRITE_WAIT};

/// Serves one phone until the connection ends.
pub(super) async fn serve(
    api: Api,
    (caller, peer): (Option<Caller>, Peer),
    mut lifetime: StreamLifetime,
    port: u16,
    mut socket: WebSocket,
) {
    let Ok(_permit) = Arc::clone(&api.sockets).try_acquire_owned() else {
        close_socket(socket, &Close::too_many(&api, None)).await;
        return;
    };
    let close = match sign_in(&api, caller, peer, &mut socket).await {
        Ok(caller) => {
            lifetime.bind(&caller);
            let mut phone = Phone::new(api, caller, lifetime, socket);
            let close = phone.run(port).await;
            socket = phone.socket;
            close
        }
        Err(close) => close,
    };
    close_socket(socket, &close).await;
}

/// The caller, from the upgrade request or from the first message.
async fn sign_in(
    api: &Api,
    caller: Option<Caller>,
    peer: Peer,
    socket: &mut WebSocket,
) -> Result<Caller, Close> {
    if let Some(caller) = caller {
        return Ok(caller);
    }
    let first = async {
        loop {
            match received(socket.recv().await)? {
                Message::Text(text) => return Ok(incoming::token(&text)),
                Message::Binary(_) => return Ok(None),
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
            }
        }
    };
    let token = timeout(SIGN_IN_WAIT, first).await.map_err(|_| Close::NoCredential)??;
    let signed_in = token.ok_or_else(tidings_sessions::unauthorized).and_then(|token| {
        let caller = (api.sign_in)(&token, peer)?;
        caller.require(Scope::Read)?;
        Ok(caller)
    });
    match signed_in {
        Ok(caller) => Ok(caller),
        Err(error) => {
            let code = error.code().as_str().to_uppercase();
            let message = MobileMessage::new(AuthError { code, message: error.message().to_owned() });
            // If the message is lost, the close code still gives the reason.
            timeout(WRITE_WAIT, socket.send(Message::from(to_json(&message)))).await.ok();
            Err(if error.code() == Code::TooMany {
                Close::too_many(api, Some(&error))
            } else {
                Close::NoCredential
            })
        }
    }
}

struct Phone {
    api: Api,
    caller: Caller,
    lifetime: StreamLifetime,
    socket: WebSocket,
    notices: broadcast::Receiver<Arc<Notice>>,
    /// Subscriptions, each waiting for its next messages.
    feeds: FutureSet<(PhoneFeed, PhoneUpdate)>,
    /// The joined projects, each with the subscription to its session.
    joined: HashMap<String, Option<PhoneSubscription>>,
    /// The project that was joined last.
    current: Option<String>,
    /// The request in progress; the next ones are in `waiting`. Answers to permission requests do not queue.
    working: FutureSet<Finished>,
    waiting: VecDeque<(Option<String>, Option<String>, Work)>,
    heartbeat: Heartbeat,
    /// The position after the last message of a session that was sent.
    position: Option<MessagePosition>,
}

/// The id of a request, and its result.
type Finished = (Option<String>, Result<WorkResult, Refusal>);

struct PhoneSubscription {
    session: String,
    stop: CancellationToken,
}

impl Phone {
    fn new(api: Api, caller: Caller, lifetime: StreamLifetime, socket: WebSocket) -> Self {
        let notices = api.sessions.notices();
        Phone {
            api,
            caller,
            lifetime,
            socket,
            notices,
            feeds: FutureSet::new(),
            joined: HashMap::new(),
            current: None,
            working: FutureSet::new(),
            waiting: VecDeque::new(),
            heartbeat: Heartbeat::new(),
            position: None,
        }
    }

    async fn run(&mut self, port: u16) -> Close {
        if let Err(close) = self.send_greeting(port).await {
            return close;
        }
        let retry_ms = retry_ms(&self.api.sessions.config().ids);
        loop {
            self.start_next_work();
            let step = tokio::select! {
                biased;
                end = self.lifetime.ended() => Err(Close::from_end(end, retry_ms)),
                (id, result) = self.working.next() => self.finish(id, result).await,
                // Back-pressure: no more input is read while too many requests wait.
                message = self.socket.recv(), if self.waiting.len() < REQUESTS_MAX => match received(message) {
                    Ok(message) => self.receive(message).await,
                    Err(close) => Err(close),
                },
                notice = self.notices.recv() => self.on_notice(notice).await,
                (feed, update) = self.feeds.next() => self.forward(feed, update).await,
                ping = self.heartbeat.next() => match ping {
                    Ok(ping) => self.send_heartbeat(ping).await,
                    Err(close) => Err(close),
                },
            };
            if let Err(close) = step {
                return close;
            }
        }
    }

    async fn send_greeting(&mut self, port: u16) -> Result<(), Close> {
        let config = self.api.sessions.config();
        let session_id = config.ids.next();
        let kept = i64::try_from(MOBILE_QUEUE_KEPT.as_millis()).unwrap_or(i64::MAX);
        let expires_at = config.clock.now().as_millisecond().saturating_add(kept);
        self.send(AuthSuccess { session_id: session_id.clone(), expires_at }.into()).await?;
        let features = ["projects", "permissions", "questions", "session_resume", "sub_agents", "progress"];
        let handshake = WrapperHandshakeMessage {
            wrapper_version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol_version: MOBILE_WIRE_VERSION.to_string(),
            supported_features: features.map(str::to_owned).to_vec(),
            websocket_port: port,
            session_id,
        };
        self.send(handshake.into()).await
    }

    async fn receive(&mut self, message: Message) -> Result<(), Close> {
        self.heartbeat.answered();
        let Message::Text(text) = message else { return Ok(()) };
        let PhoneMessage { id, project, action } = match incoming::read(&text) {
            Ok(incoming) => incoming,
            Err(refusal) => return self.refuse(None, refusal).await,
        };
        match action {
            PhoneAction::Ignore => Ok(()),
            PhoneAction::Heartbeat => self.send(HeartbeatMessage {}.into()).await,
            PhoneAction::HealthCheck => {
                let subscription =
                    self.current.as_ref().and_then(|project| self.joined.get(project)?.as_ref());
                let session = subscription.map(|subscription| subscription.session.clone());
                let sessions = self.api.sessions.list(None, 1).await;
                let status = claude_status(&self.api, session).await;
                let health = HealthCheckResponse {
                    request_id: id.unwrap_or_default(),
                    healthy: sessions.is_ok(),
                    wrapper_version: env!("CARGO_PKG_VERSION").to_owned(),
                    claude_status: status.to_owned(),
                };
                self.send(health.into()).await
            }
            PhoneAction::Answer(response, answers) => {
                let answered = asks::answer(&self.api, &self.caller, id.clone(), response, answers).await;
                match answered {
                    Ok(()) => Ok(()),
                    Err(refusal) => self.refuse(id.as_deref(), refusal).await,
                }
            }
            PhoneAction::Work(work) => {
                self.waiting.push_back((id, project, work));
                Ok(())
            }
        }
    }

    fn start_next_work(&mut self) {
        if self.working.len() > 0 {
            return;
        }
        let Some((id, project, work)) = self.waiting.pop_front() else { return };
        let project = project.or_else(|| self.current.clone());
        let (api, caller) = (self.api.clone(), self.caller.clone());
        self.working.push(async move {
            let context = WorkContext { api, caller, id: id.clone(), project };
            (id, context.run(work).await)
        });
    }

    async fn finish(&mut self, id: Option<String>, result: Result<WorkResult, Refusal>) -> Result<(), Close> {
        let WorkResult { messages, join, leave, feed } = match result {
            Ok(result) => result,
            Err(refusal) => return self.refuse(id.as_deref(), refusal).await,
        };
        if let Some(project) = leave {
            self.leave(&project);
        }
        for message in messages {
            self.write(Message::from(message)).await?;
        }
        if let Some(project) = &join {
            if self.joined.len() >= SUBSCRIPTIONS_MAX && !self.joined.contains_key(project) {
                let message = format!("{SUBSCRIPTIONS_MAX} projects are joined already: leave some of them");
                return self.refuse(id.as_deref(), Refusal::new("RESOURCE_LIMIT", message)).await;
            }
            self.joined.entry(project.clone()).or_insert(None);
            self.current = Some(project.clone());
        }
        if let Some((session, feed)) = feed {
            self.subscribe(session, feed);
        } else if let Some(project) = join {
            // A prompt for a project that was not joined: this phone gets its events too.
            self.subscribe_to_project(&project).await;
        }
        Ok(())
    }

    fn leave(&mut self, project: &str) {
        if let Some(Some(subscription)) = self.joined.remove(project) {
            subscription.stop.cancel();
        }
        if self.current.as_deref() == Some(project) {
            self.current = None;
        }
    }

    /// Subscribes to the session of a project, instead of an earlier session.
    fn subscribe(&mut self, session: String, feed: PhoneFeed) {
        let subscription = PhoneSubscription { session, stop: feed.stop.clone() };
        if let Some(Some(before)) = self.joined.insert(feed.project.to_string(), Some(subscription)) {
            before.stop.cancel();
        }
        self.wait_for(feed);
    }

    fn wait_for(&mut self, mut feed: PhoneFeed) {
        self.feeds.push(async move {
            let update = feed.next().await;
            (feed, update)
        });
    }

    /// Subscribes to the session of a project if that is not done yet: another client may have started it.
    async fn subscribe_to_project(&mut self, project: &str) {
        let Ok(Some(open)) = projects::find(&self.api, &self.caller, project).await else { return };
        let Some(session) = projects::session(&self.api, &self.caller, &open).await else { return };
        let known = self.joined.get(project).and_then(Option::as_ref);
        if known.is_some_and(|known| known.session == session.key) {
            return;
        }
        if let Ok((key, feed)) = work::subscribe(&self.api, &session, project, None).await {
            self.subscribe(key, feed);
        }
    }

    /// Handles a notice: sends the new state of a joined project.
    async fn on_notice(
        &mut self,
        notice: Result<Arc<Notice>, broadcast::error::RecvError>,
    ) -> Result<(), Close> {
        let Ok(notice) = notice else { return Ok(()) };
        let Notice::Session { session } = &*notice else { return Ok(()) };
        let Some(known) = self.joined.get(&session.cwd) else { return Ok(()) };
        if known.as_ref().is_none_or(|known| known.session != session.key) {
            let project = session.cwd.clone();
            self.subscribe_to_project(&project).await;
        }
        self.send_state(session).await
    }

    async fn send_state(&mut self, session: &SessionView) -> Result<(), Close> {
        let project = projects::find(&self.api, &self.caller, &session.cwd).await;
        let Ok(Some(project)) = project else { return Ok(()) };
        if project.session.as_ref().is_none_or(|key| key.as_str() != session.key) {
            return Ok(());
        }
        let data = super::outgoing::ProjectState::new(&project, Some(session));
        let project_id = Some(project.folder.as_str());
        let message = to_json(&ProjectEnvelope { r#type: "project_state", project_id, id: None, data });
        self.write(Message::from(message)).await
    }

    async fn forward(&mut self, feed: PhoneFeed, update: PhoneUpdate) -> Result<(), Close> {
        match update {
            PhoneUpdate::Messages(messages) => {
                for message in &messages {
                    let text = to_json(&WithProject { message, project: &feed.project });
                    self.write(Message::from(text)).await?;
                }
                self.position = Some(feed.position);
                self.wait_for(feed);
                Ok(())
            }
            PhoneUpdate::Stopped | PhoneUpdate::Ended(FeedEnd::Cut(Cut::Deleted, _)) => Ok(()),
            // The phone reconnects with the id of the last message that it has.
            PhoneUpdate::Ended(FeedEnd::Cut(..)) => Err(Close::Behind),
            PhoneUpdate::Ended(FeedEnd::Failed(error)) => {
                self.refuse(None, tidings_sessions::Error::from(error).into()).await
            }
        }
    }

    async fn send_heartbeat(&mut self, ping: Message) -> Result<(), Close> {
        self.write(ping).await?;
        self.send(HeartbeatMessage {}.into()).await
    }

    async fn refuse(&mut self, about: Option<&str>, refusal: Refusal) -> Result<(), Close> {
        let message = refusal.message(about);
        self.send(message.body).await
    }

    async fn send(&mut self, body: tidings_protocol::mobile::MobileBody) -> Result<(), Close> {
        let config = self.api.sessions.config();
        let name = config.ids.next();
        // A phone may resume with the id of a heartbeat, and continues after the last message before it.
        let id = self.position.map_or_else(|| name.clone(), |position| position.id_with(&name));
        let message = MobileMessage::new(body).stamped(id, config.clock.now().as_millisecond());
        self.write(Message::from(to_json(&message))).await
    }

    async fn write(&mut self, message: Message) -> Result<(), Close> {
        match timeout(WRITE_WAIT, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Close::Gone),
            Err(_) => Err(Close::Behind),
        }
    }
}

/// The state of the agent of a session in one word.
async fn claude_status(api: &Api, session: Option<String>) -> &'static str {
    let Some(session) = session else { return "idle" };
    match api.sessions.find(&session).await.map(|session| session.state) {
        Ok(ServerPhase::Failed) => "failed",
        Ok(ServerPhase::Running | ServerPhase::Starting) => "running",
        Ok(ServerPhase::NeedsYou) => "waiting",
        _ => "idle",
    }
}
