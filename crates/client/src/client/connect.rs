//! Joining a session: the carrier, the tasks, the handshake.

use std::sync::Arc;

use tidings_protocol::control::{Call, ControlOutcome, Initialize, InitializeReply};
use tidings_protocol::messages::Message;

use super::core::{Core, reply};
use super::writer::Writer;
use super::{Client, Life, Subscriber, reader};
use crate::error::{Error, ErrorKind};
use crate::find::{self, Version};
use crate::handlers::Hook;
use crate::options::{Options, Plan};
use crate::transport::{Link, Process, Resumed, Transport};

impl Client {
    /// Starts `claude` on this machine and shakes hands.
    pub async fn connect(options: Options) -> Result<Self, Error> {
        Client::connect_over(Process::new(), options).await
    }

    /// Joins a session over any carrier and shakes hands, unless that was done before.
    pub async fn connect_over(transport: impl Transport + 'static, options: Options) -> Result<Self, Error> {
        Ok(Client::connect_and_follow(transport, options).await?.0)
    }

    /// The same, with a subscriber that [is waited for](Client::follow) and hears everything from the first line on.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn connect_and_follow(
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<(Self, Subscriber), Error> {
        let Plan { launch, initialize, warnings } = options.plan()?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let link = Box::new(transport).open(launch).await?;
        let (program, resumed) = (link.program.clone(), link.resumed.clone());
        let (client, subscriber) = Client::start(link, &options);
        let known = match resumed {
            Some(resumed) => client.resume(&resumed),
            None => client.shake_hands(initialize, &options).await,
        };
        match known {
            Ok(()) => Ok((client, subscriber)),
            Err(error) => Err(explain(error, program).await),
        }
    }

    fn start(link: Link, options: &Options) -> (Self, Subscriber) {
        let Link { incoming, outgoing, stop, .. } = link;
        let life = Arc::new(Life::new());
        let core = Arc::new(Core::new(options, Writer::start(outgoing), stop));
        drop(life.0.set(Arc::clone(&core)));
        let subscriber = core.subscribers.add_lossless();
        drop(tokio::spawn(reader::run(Arc::clone(&core), incoming, options.process.on_stderr.clone())));
        if let Some(token) = options.process.cancel.clone() {
            let core = Arc::clone(&core);
            drop(tokio::spawn(async move {
                let mut ended = core.ended.subscribe();
                tokio::select! {
                    () = token.cancelled() => core.begin_close(),
                    _ = ended.wait_for(Option::is_some) => {}
                }
            }));
        }
        (Client::new(core, Some(life)), subscriber)
    }

    async fn shake_hands(&self, initialize: Initialize, options: &Options) -> Result<(), Error> {
        let core = &self.core;
        let call = Call::Initialize(Box::new(initialize));
        let success = core.call(call, core.limits.initialize).await?;
        let info = reply::<Initialize>(&success)?;
        check(&info, options)?;
        drop(core.info.set(info));
        // Questions that nobody had answered when somebody else left this session.
        for (id, request) in success.pending_requests() {
            core.asked(id, request.call);
        }
        Ok(())
    }

    /// Takes what was said at an earlier handshake as said to us. Questions that were open then are told by the carrier.
    fn resume(&self, resumed: &Resumed) -> Result<(), Error> {
        let answer = resumed.initialize.message();
        if let Message::ControlResponse { response, .. } = answer
            && let ControlOutcome::Success(success) = response.outcome
        {
            drop(self.core.info.set(reply::<Initialize>(&success)?));
        }
        if let Some(init) = &resumed.init {
            self.core.note_session(init);
        }
        Ok(())
    }

    /// Shakes hands again: the CLI says how things stand, and asks again what is still open.
    pub async fn reinitialize(&self, options: &Options) -> Result<InitializeReply, Error> {
        let Plan { initialize, .. } = options.plan()?;
        let call = Call::Initialize(Box::new(initialize));
        let success = self.core.call(call, self.core.limits.initialize).await?;
        for (id, request) in success.pending_requests() {
            self.core.asked(id, request.call);
        }
        reply::<Initialize>(&success)
    }
}

/// What the CLI must be able to do.
fn check(info: &InitializeReply, options: &Options) -> Result<(), Error> {
    let version = info.claude_code_version.as_ref().and_then(|version| version.parse::<Version>().ok());
    version.map_or(Ok(()), find::check)?;
    let must_block = options.handlers.hooks.iter().any(Hook::must_block);
    if must_block && (info.hook_on_failure_supported != Some(true) || info.hooks_applied == Some(false)) {
        let message = "This Claude Code cannot promise to block when a hook fails";
        return Err(Error::new(
            ErrorKind::VersionTooOld,
            message,
            "run `claude update`, or drop `block_on_failure`",
        ));
    }
    Ok(())
}

/// A CLI that does not know the handshake leaves or stays silent; its version says more than that.
async fn explain(error: Error, program: Option<std::path::PathBuf>) -> Error {
    if !matches!(error.kind(), ErrorKind::Exit | ErrorKind::Timeout) {
        return error;
    }
    let Some(program) = program else { return error };
    match find::version(&program).await.map(find::check) {
        Ok(Err(too_old)) => too_old,
        _ => error,
    }
}
