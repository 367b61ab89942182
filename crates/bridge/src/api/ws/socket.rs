//! The connection of one client on `/v1/ws`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tidings_api::{Code, RequestId, Scope, SocketAck, SocketMessage, SocketRequest};
use tidings_journal::broadcast::SubscribeOptions;
use tidings_journal::limits::LONG_EVENT_BYTES;
use tidings_sessions::{Caller, Error};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_util::sync::CancellationToken;

use super::close::Close;
use super::feed::{SocketEncoder, SocketFeed, SocketSource, SocketText, SocketUpdate, to_json};
use super::heartbeat::Heartbeat;
use super::input_order::InputOrder;
use super::link::{Message, WebSocket};
use super::requests::{self, ParsedRequest, Reply};
use crate::api::feed::Feed;
use crate::api::future_set::FutureSet;
use crate::api::stream_lifetime::{StreamLifetime, retry_ms};
use crate::api::visibility::{self, Visibility};
use crate::api::{Api, deltas};
use crate::auth::Peer;
use crate::limits::{FAREWELL_WAIT, REQUESTS_MAX, SIGN_IN_WAIT, SUBSCRIPTIONS_MAX, WRITE_WAIT};

/// Serves one client until the connection ends.
pub(crate) async fn serve(
    api: Api,
    (caller, peer): (Option<Caller>, Peer),
    mut lifetime: StreamLifetime,
    mut socket: WebSocket,
) {
    let Ok(_permit) = Arc::clone(&api.sockets).try_acquire_owned() else {
        close_socket(socket, &Close::too_many(&api, None)).await;
        return;
    };
    let close = match sign_in(&api, caller, peer, &mut socket).await {
        Ok(caller) => {
            lifetime.bind(&caller);
            let mut connection = SocketConnection::new(api, (caller, peer), lifetime, socket);
            let close = connection.run().await;
            socket = connection.socket;
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
                Message::Text(text) => {
                    let ParsedRequest::Request(request) = requests::read(&text) else {
                        return Err(Close::NoCredential);
                    };
                    return match *request {
                        SocketRequest::Auth { id, token } => Ok((id, token)),
                        _ => Err(Close::NoCredential),
                    };
                }
                Message::Binary(_) => return Err(Close::NoCredential),
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
            }
        }
    };
    let (id, token) = timeout(SIGN_IN_WAIT, first).await.map_err(|_| Close::NoCredential)??;
    let caller = (api.sign_in)(&token, peer).map_err(|error| match error.code() {
        Code::TooMany => Close::too_many(api, Some(&error)),
        Code::Forbidden => Close::Forbidden,
        _ => Close::NoCredential,
    })?;
    caller.require(Scope::Read).map_err(|_| Close::Forbidden)?;
    let ack = to_json(&SocketMessage::Ack(Box::new(SocketAck { id, ..SocketAck::default() })));
    match timeout(WRITE_WAIT, socket.send(Message::from(ack))).await {
        Ok(Ok(())) => Ok(caller),
        _ => Err(Close::Gone),
    }
}

/// Sends the close frame and waits for the client to read it. A socket that is dropped with unread input
/// resets the connection, and what was sent is lost.
pub(crate) async fn close_socket(mut socket: WebSocket, close: &Close) {
    if *close == Close::Gone {
        return;
    }
    let goodbye = async {
        match close.message() {
            Some(message) => socket.send(message).await.ok()?,
            // The reply to the client's close frame is already in the buffer.
            None => socket.flush().await.ok()?,
        }
        while socket.recv().await?.is_ok() {}
        Some(())
    };
    _ = timeout(FAREWELL_WAIT, goodbye).await;
}

pub(crate) fn received(message: Option<Result<Message, SocketError>>) -> Result<Message, Close> {
    match message {
        None => Err(Close::Gone),
        Some(Ok(Message::Close(_))) => Err(Close::Left),
        Some(Ok(message)) => Ok(message),
        Some(Err(error)) => {
            // The library does not expose the kind of this error.
            let text = error.to_string();
            let is_long = text.contains("too long") || text.contains("too big") || text.contains("too large");
            Err(if is_long { Close::TooLong } else { Close::Broken })
        }
    }
}

struct SocketConnection {
    api: Api,
    caller: Caller,
    peer: Peer,
    lifetime: StreamLifetime,
    socket: WebSocket,
    /// Subscriptions, each waiting for its next messages.
    feeds: FutureSet<(SocketFeed, SocketUpdate)>,
    /// Cancellation tokens of the subscriptions, by session key.
    stops: HashMap<Arc<str>, CancellationToken>,
    /// Requests in progress.
    requests: FutureSet<SocketMessage>,
    input_order: InputOrder,
    heartbeat: Heartbeat,
    retry_ms: u64,
}

impl SocketConnection {
    fn new(api: Api, (caller, peer): (Caller, Peer), lifetime: StreamLifetime, socket: WebSocket) -> Self {
        let retry_ms = retry_ms(&api.sessions.config().ids);
        SocketConnection {
            api,
            caller,
            peer,
            lifetime,
            socket,
            feeds: FutureSet::new(),
            stops: HashMap::new(),
            requests: FutureSet::new(),
            input_order: InputOrder::default(),
            heartbeat: Heartbeat::new(),
            retry_ms,
        }
    }

    async fn run(&mut self) -> Close {
        loop {
            let step = tokio::select! {
                biased;
                end = self.lifetime.ended() => Err(Close::from_end(end, self.retry_ms)),
                message = self.requests.next() => self.send(&message).await,
                // Back-pressure: no more input is read while too many requests are in progress.
                message = self.socket.recv(), if self.requests.len() < REQUESTS_MAX => match received(message) {
                    Ok(message) => self.receive(message).await,
                    Err(close) => Err(close),
                },
                (feed, update) = self.feeds.next() => self.forward(feed, update).await,
                ping = self.heartbeat.next() => match ping {
                    Ok(ping) => self.write(ping).await,
                    Err(close) => Err(close),
                },
            };
            if let Err(close) = step {
                return close;
            }
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), Close> {
        self.heartbeat.answered();
        let Message::Text(text) = message else { return Ok(()) };
        let request = match requests::read(&text) {
            ParsedRequest::Request(request) => *request,
            ParsedRequest::Ignored => return Ok(()),
            ParsedRequest::Invalid(id, error) => return self.answer(id, Err(error)).await,
        };
        match request {
            SocketRequest::Ping { id } => self.answer(id, Ok(SocketAck::default())).await,
            SocketRequest::Auth { id, token } => {
                let result = self.sign_in_again(&token);
                // A client that guesses credentials is disconnected.
                if let Some(error) = result.as_ref().err().filter(|error| error.code() == Code::TooMany) {
                    return Err(Close::too_many(&self.api, Some(error)));
                }
                self.answer(id, result).await
            }
            SocketRequest::Subscribe { id, session, after, deltas } => {
                let result = self.subscribe(session, after, deltas.as_deref()).await;
                let (ack, feed) = match result {
                    Ok((ack, feed)) => (Ok(ack), Some(feed)),
                    Err(error) => (Err(error), None),
                };
                self.answer(id, ack).await?;
                if let Some(feed) = feed {
                    self.wait_for(feed);
                }
                Ok(())
            }
            SocketRequest::Unsubscribe { id, session } => {
                let result = self.unsubscribe(session).await;
                self.answer(id, result).await
            }
            SocketRequest::Input { id, session, input } => {
                let (before, done) = self.input_order.enter(&session);
                self.spawn_request(id, async move |api, caller| {
                    before.await;
                    let _done = done;
                    requests::input(&api.sessions, &caller, &session, input).await
                });
                Ok(())
            }
            SocketRequest::Answer { id, session, to, permission, batch, question } => {
                let reply = match Reply::of(permission, batch, question) {
                    Ok(reply) => reply,
                    Err(error) => return self.answer(id, Err(error)).await,
                };
                self.spawn_request(id, async move |api, caller| {
                    requests::answer(&api.sessions, &caller, &session, &to, reply).await
                });
                Ok(())
            }
            SocketRequest::Command { id, session, command, with } => {
                let before = self.input_order.before(&session);
                self.spawn_request(id, async move |api, caller| {
                    before.await;
                    requests::command(&api.sessions, &caller, &session, command, with).await
                });
                Ok(())
            }
        }
    }

    /// Runs a request concurrently, and sends its reply when it is done.
    fn spawn_request<F, W>(&mut self, id: Option<RequestId>, work: W)
    where
        W: FnOnce(Api, Caller) -> F + Send + 'static,
        F: Future<Output = Result<SocketAck, Error>> + Send + 'static,
    {
        let (api, caller) = (self.api.clone(), self.caller.clone());
        let ids = api.sessions.config().ids.clone();
        self.requests.push(async move {
            let result = work(api, caller).await;
            requests::outcome(id, result, || ids.next())
        });
    }

    fn sign_in_again(&mut self, token: &str) -> Result<SocketAck, Error> {
        let caller = (self.api.sign_in)(token, self.peer)?;
        caller.require(Scope::Read)?;
        // Subscriptions belong to the credential that opened them and end with it.
        if caller.device != self.caller.device {
            let message = "This socket belongs to another credential";
            return Err(Error::new(Code::Forbidden, message, "open another socket"));
        }
        self.caller = caller;
        Ok(SocketAck::default())
    }

    async fn subscribe(
        &mut self,
        session: Option<String>,
        after: Option<String>,
        deltas: Option<&str>,
    ) -> Result<(SocketAck, SocketFeed), Error> {
        let sessions = &self.api.sessions;
        let Some(session) = session else {
            let receiver = sessions.notices();
            let visibility = Visibility::new(self.caller.clone());
            let source = SocketSource::Notices { sessions: sessions.clone(), receiver, visibility };
            return Ok((SocketAck::default(), self.start_feed("", source)?));
        };
        visibility::check(sessions, &self.caller, &session).await?;
        let merging = deltas.map_or(Ok(None), deltas::merging)?;
        let after = after.filter(|after| !after.is_empty()).map(|after| after.parse()).transpose()?;
        let may_answer = self.caller.scopes.has(Scope::Decide);
        let watch = SubscribeOptions { may_answer, merging, ..SubscribeOptions::after(after) };
        let (subscribed, events) = sessions.subscribe(&session, watch).await?;
        let key = subscribed.state.key.clone();
        let source = SocketSource::Session(Box::new(Feed::new(events, SocketEncoder::new(&key))));
        let ack = SocketAck {
            seq: Some(subscribed.state.head),
            cursor: Some(subscribed.head.clone()),
            session: Some(key.clone()),
            subscribed: Some(subscribed),
            ..SocketAck::default()
        };
        Ok((ack, self.start_feed(&key, source)?))
    }

    /// Starts a subscription. An earlier one with the same key ends.
    fn start_feed(&mut self, key: &str, source: SocketSource) -> Result<SocketFeed, Error> {
        if self.stops.len() >= SUBSCRIPTIONS_MAX && !self.stops.contains_key(key) {
            let message = format!("This socket already has {SUBSCRIPTIONS_MAX} subscriptions");
            return Err(Error::new(Code::TooMany, message, "unsubscribe from some of them"));
        }
        let (key, stop) = (Arc::<str>::from(key), CancellationToken::new());
        if let Some(before) = self.stops.insert(Arc::clone(&key), stop.clone()) {
            before.cancel();
        }
        Ok(SocketFeed { key, stop, source })
    }

    async fn unsubscribe(&mut self, session: Option<String>) -> Result<SocketAck, Error> {
        let key = match session {
            Some(session) if self.stops.contains_key(session.as_str()) => session,
            Some(session) => visibility::session(&self.api.sessions, &self.caller, &session).await?.key,
            None => String::new(),
        };
        if let Some(stop) = self.stops.remove(key.as_str()) {
            stop.cancel();
        }
        Ok(SocketAck::default())
    }

    fn wait_for(&mut self, mut feed: SocketFeed) {
        self.feeds.push(async move {
            let update = feed.next().await;
            (feed, update)
        });
    }

    async fn forward(&mut self, mut feed: SocketFeed, update: SocketUpdate) -> Result<(), Close> {
        let (messages, is_last) = match update {
            SocketUpdate::Some(messages) => (messages, false),
            SocketUpdate::Last(messages) => (messages, true),
            SocketUpdate::Stopped => return Ok(()),
        };
        let bytes: usize = messages.iter().map(SocketText::len).sum();
        // A long event takes longer on a slow connection; one that makes no progress times out in the
        // connection itself.
        let write_wait = WRITE_WAIT + Duration::from_secs((bytes / LONG_EVENT_BYTES) as u64 * 4);
        let socket = &mut self.socket;
        let writing = async {
            for message in messages {
                message.write(socket).await?;
            }
            socket.flush().await
        };
        tokio::select! {
            biased;
            written = writing => written.map_err(|_| Close::Gone)?,
            end = self.lifetime.ended() => return Err(Close::from_end(end, self.retry_ms)),
            () = feed.fallen_behind() => return Err(Close::Behind),
            () = tokio::time::sleep(write_wait) => return Err(Close::Behind),
        }
        if !is_last {
            self.wait_for(feed);
        } else if self.stops.get(&feed.key).is_some_and(|_| !feed.stop.is_cancelled()) {
            self.stops.remove(&feed.key);
        }
        Ok(())
    }

    async fn answer(&mut self, id: Option<RequestId>, result: Result<SocketAck, Error>) -> Result<(), Close> {
        let ids = self.api.sessions.config().ids.clone();
        let message = requests::outcome(id, result, || ids.next());
        self.send(&message).await
    }

    async fn send(&mut self, message: &SocketMessage) -> Result<(), Close> {
        // Requests without an id get a reply only if they fail.
        if matches!(&message, SocketMessage::Ack(ack) if ack.id.is_none()) {
            return Ok(());
        }
        self.write(to_json(message)).await
    }

    async fn write(&mut self, message: impl Into<Message>) -> Result<(), Close> {
        tokio::select! {
            biased;
            written = self.socket.send(message.into()) => written.map_err(|_| Close::Gone),
            end = self.lifetime.ended() => Err(Close::from_end(end, self.retry_ms)),
            () = tokio::time::sleep(WRITE_WAIT) => Err(Close::Behind),
        }
    }
}
