//! Agents that outlive the server: starting them under a host, detaching from them, and adopting them.

use std::sync::Arc;
use std::time::Duration;

use tidings::Frame;
use tidings::transport::Transport;
use tidings_agent::permissions::{Answer, Denied, Response};
use tidings_agent::questions::Reply;
use tidings_agent::session::Checkpoint;
use tidings_agent::{AskKey, Setup, UiMessage};
use tidings_api::{Code, QueueState, ServerPhase};
use tidings_journal::AskId;
use tidings_protocol::ui::{AnsweredBy, RequestOutcome};

use crate::Error;
use crate::hosts::{AttachedHost, FoldState, FoldStore, FoundHost};
use crate::limits::REPEATED_REQUEST_WAIT;
use crate::live_session::{Change, LiveSession};
use crate::requests::stored_answer;
use crate::running::actor::Actor;
use crate::settings::{Queued, SessionSettings};
use crate::starting::launch;

impl Actor {
    /// The transport of a new agent: a host, if agents outlive the server.
    pub(crate) fn hosted(&self, mut setup: Setup) -> Result<(Box<dyn Transport>, Setup), Error> {
        let config = self.launch_config()?;
        let Some(hosts) = config.hosts.as_ref().filter(|hosts| !hosts.lease().is_zero()) else {
            return Ok(((config.carrier)(&config), setup));
        };
        let mut memory = self.entry.memory();
        let base = memory.row.host_offset.unwrap_or_default();
        let (transport, hosted) = hosts.start(&self.entry.key, self.entry.fence, base);
        setup.snapshot_store = Some(Arc::new(FoldStore(hosted.clone())));
        memory.host = Some(hosted);
        memory.is_detached = false;
        Ok((launch::prefixed(transport, &config), setup))
    }

    /// Detaches from the agent. Its later output is for the next server.
    pub(crate) fn detach(&mut self) {
        let (host, agent) = {
            let mut memory = self.entry.memory();
            memory.is_detached = memory.host.is_some();
            memory.slot = None;
            memory.adopted_lock = None;
            (memory.host.take(), memory.agent.take())
        };
        if let Some(host) = host {
            host.handle.detach();
        }
        drop(agent);
    }

    /// Adopts a running agent.
    pub(crate) async fn adopt(&mut self, found: &FoundHost) -> Result<(), Error> {
        let gone = |message: &str| Error::new(Code::Gone, message, "the next prompt resumes the session");
        let hosts = self.config.hosts.clone().ok_or_else(|| gone("This server has no agent hosts"))?;
        self.entry.check_folders(&self.config.roots)?;
        let kept = FoldState::read(&found.folder, self.entry.handle);
        let kept =
            kept.map_err(|error| gone(&format!("Failed to read the fold state of the agent: {error}")))?;
        let (options, mut setup) = self.plan()?;
        self.entry.hold_slot();
        self.lock_cli_session()?;
        self.entry.lock_adopted(found).await?;
        let (transport, hosted) = hosts.attach(found, self.entry.fence, kept.end);
        let stored = {
            let mut memory = self.entry.memory();
            memory.host = Some(hosted.clone());
            // From the stored phase, which the fold state may be behind.
            memory.is_turn_open = matches!(memory.phase(), ServerPhase::Running | ServerPhase::NeedsYou);
            memory.row.host_offset.unwrap_or_default().saturating_sub(found.base)
        };
        let open = self.entry.journal().asks(Some(&self.entry.key)).await?;
        for ask in &open {
            let mut memory = self.entry.memory();
            match ask.kind.as_str() {
                "question" => memory.questions.insert(ask.id.to_string()),
                _ => memory.permissions.insert(ask.id.to_string()),
            };
        }
        setup.checkpoint = Some(Checkpoint { fold: kept.fold, end: kept.end, stored });
        setup.snapshot_store = Some(Arc::new(FoldStore(hosted.clone())));
        let config = self.launch_config()?;
        let carrier = launch::prefixed(transport, &config);
        let agent = self.run_agent(carrier, options, setup).await?;
        self.set_idle().await?;
        // It is unknown if these arrived. The host knows: it does not write a prompt twice.
        for queued in self.entry.handed() {
            match queued.check_way(agent.text_way()) {
                Ok(()) => drop(agent.prompt(&queued).await?),
                Err(refused) => self.drop_refused(&queued, &refused).await?,
            }
        }
        drop(tokio::spawn(resend_answers(Arc::clone(&self.entry), hosted)));
        Ok(())
    }

    /// Sets the phase of a session whose agent was being started when the server died.
    async fn set_idle(&self) -> Result<(), Error> {
        if self.entry.memory().phase() != ServerPhase::Starting {
            return Ok(());
        }
        let idle = |_: &mut SessionSettings, _: &_| {
            Ok(Change { phase: Some(ServerPhase::Idle), ..Change::default() })
        };
        self.entry.change(idle).await.map(drop)
    }
}

impl LiveSession {
    fn handed(&self) -> Vec<Queued> {
        let memory = self.memory();
        memory.settings.queue.iter().filter(|queued| queued.state == QueueState::Handed).cloned().collect()
    }

    /// True if the events are about a request that was answered before the agent got the answer. The agent
    /// repeats the request and gets the same answer; users are not asked again.
    pub(crate) async fn was_answered(&self, events: &[UiMessage]) -> Result<bool, Error> {
        let mut is_any = false;
        for event in events {
            let id = match event {
                UiMessage::PermissionDetails(details) => &details.tool_use_id,
                UiMessage::QuestionDetails(details) => &details.tool_use_id,
                _ => continue,
            };
            let id = AskId::new(id)?;
            let is_old = self.is_repeated(&id).await?;
            if !is_old || self.journal().outcome(&self.key, &id).await?.is_none() {
                return Ok(false);
            }
            is_any = true;
        }
        Ok(is_any)
    }

    /// True if the agent made this request before it was adopted and the request is stored: then it is still
    /// open, or was answered.
    pub(crate) async fn is_repeated(&self, id: &AskId) -> Result<bool, Error> {
        let (is_old, is_open) = {
            let memory = self.memory();
            let is_id = |asked: &Frame| call(asked).as_deref() == Some(id.as_str());
            let is_old =
                memory.host.as_ref().is_some_and(|host| host.handle.open_questions().iter().any(is_id));
            let is_open = memory.permissions.contains(id.as_str()) || memory.questions.contains(id.as_str());
            (is_old, is_open)
        };
        Ok(is_old && (is_open || self.journal().outcome(&self.key, id).await?.is_some()))
    }
}

/// Sends the agent the answers that it has not received: those given before the server died, or before the
/// request was repeated.
async fn resend_answers(entry: Arc<LiveSession>, hosted: AttachedHost) {
    for question in hosted.handle.open_questions() {
        let Some(id) = call(question) else { continue };
        let Ok(ask) = AskId::new(&id) else { continue };
        let asked_again = async {
            while !entry.awaits(&id) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if tokio::time::timeout(REPEATED_REQUEST_WAIT, asked_again).await.is_err() {
            // It was withdrawn, or a rule has decided it.
            continue;
        }
        // Later answers reach the agent directly; earlier ones are in the journal.
        match entry.journal().outcome(&entry.key, &ask).await {
            Ok(Some(winner)) => entry.resend(&id, &winner),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(session = %entry.key, ask = id, %error, "failed to read an answer");
            }
        }
    }
}

impl LiveSession {
    /// True if the agent waits for the answer to a request.
    fn awaits(&self, id: &str) -> bool {
        let key = AskKey::new(self.handle, id);
        self.questions.get(&key).is_some()
            || self.permissions.pending_for_session(self.handle).iter().any(|ask| ask.key == key)
    }

    /// Sends an answer again.
    fn resend(&self, id: &str, winner: &RequestOutcome<String>) {
        let key = AskKey::new(self.handle, id);
        let (answer, by) = match winner {
            RequestOutcome::Answered { answer, by } => (answer.as_str(), by.clone()),
            // Requests without an answer are denied.
            _ => ("denied", AnsweredBy::Rule("lost".to_owned())),
        };
        // A concurrent answer is the same one.
        if self.questions.get(&key).is_some() {
            match serde_json::from_str::<Option<Vec<Reply>>>(answer) {
                Ok(Some(replies)) => drop(self.questions.respond(&key, replies, by)),
                _ => drop(self.questions.decline(&key, by)),
            }
            return;
        }
        // What cannot be read allows nothing.
        let again = stored_answer::decode(answer).unwrap_or_else(|| Answer::Deny(Denied::default()));
        let response = match by {
            AnsweredBy::Person(name) => Response::person(name, again),
            AnsweredBy::Rule(rule) | AnsweredBy::Grant(rule) => Response::rule(rule, again),
        };
        drop(self.permissions.respond_to_request(&key, response, self.clock.now()));
    }
}

/// The tool call that a request of the agent is about.
fn call(question: &Frame) -> Option<String> {
    let id = question.get("request")?.get("tool_use_id")?.text()?;
    Some(id.get().into_owned())
}
