//! Connecting to a session: transport, tasks and handshake.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidings_protocol::control::{Call, ControlOutcome, Initialize, InitializeReply};
use tidings_protocol::messages::Message;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::core::Core;
use super::writer::Writer;
use super::{Client, SessionGuard, Subscriber, reader};
use crate::error::{Error, ErrorKind};
use crate::find::{self, Version};
use crate::handlers::Hook;
use crate::limits::{DEADLINE_MAX, VERSION_TIMEOUT};
use crate::options::later::{self, LaterOption};
use crate::options::{Options, Plan};
use crate::pool::ProcessPermit;
use crate::transport::{Link, Process, Resumed, Transport};

impl Client {
    /// Starts `claude` on this machine and performs the handshake.
    ///
    /// Without a tokio runtime it fails with [`ErrorKind::Invalid`].
    pub async fn connect(options: Options) -> Result<Self, Error> {
        Client::connect_over(Process::new(), options).await
    }

    /// Connects to a session over any transport, and performs the handshake unless that was done before.
    pub async fn connect_over(transport: impl Transport + 'static, options: Options) -> Result<Self, Error> {
        Ok(Client::connect_and_follow(transport, options).await?.0)
    }

    /// Connects as [`Client::connect_over`], with a [lossless](Client::follow) subscriber that receives
    /// everything from the first line on.
    pub async fn connect_and_follow(
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<(Self, Subscriber), Error> {
        Client::connect_with(transport, options, None).await
    }

    /// Connects with the permit of a pool, which the session keeps until its process is gone.
    pub(crate) async fn connect_with(
        transport: impl Transport + 'static,
        options: Options,
        permit: Option<ProcessPermit>,
    ) -> Result<(Self, Subscriber), Error> {
        let span = tracing::debug_span!("connect_with");
        // Boxed, since every future that connects contains it.
        let connecting = async move {
            check_runtime()?;
            let plan = options.plan()?;
            let later = plan.later_options();
            let Plan { launch, initialize, warnings } = plan;
            for warning in warnings {
                tracing::warn!("{warning}");
            }
            let link = Box::new(transport).open(launch).await?;
            // The version of another program explains nothing.
            let program = link.program.clone().filter(|_| options.process.agent_name.is_claude());
            let resumed = link.resumed.clone();
            let (client, subscriber) = Client::start(link, &options);
            if let Some(permit) = permit {
                client.hold(permit);
            }
            match resumed {
                Some(resumed) => client.resume(&resumed)?,
                None => client.shake_hands_or_explain(initialize, &options, &later, program).await?,
            }
            Ok((client, subscriber))
        };
        Box::pin(connecting.instrument(span)).await
    }

    fn start(link: Link, options: &Options) -> (Self, Subscriber) {
        let Link { incoming, outgoing, stop, .. } = link;
        let guard = Arc::new(SessionGuard::new());
        let core =
            Arc::new(Core::new(options, Writer::start(outgoing, options.process.agent_name.clone()), stop));
        drop(guard.0.set(Arc::clone(&core)));
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
        (Client::new(core, Some(guard)), subscriber)
    }

    /// Performs the handshake. A CLI that does not support it, or one of the flags, exits or stays silent,
    /// and its version explains more; the time for both is that of the handshake.
    async fn shake_hands_or_explain(
        &self,
        initialize: Initialize,
        options: &Options,
        later: &[&LaterOption],
        program: Option<PathBuf>,
    ) -> Result<(), Error> {
        let limit = self.core.timeouts.initialize.min(DEADLINE_MAX);
        let deadline = Instant::now() + limit;
        let late = deadline - VERSION_TIMEOUT.min(limit / 2);
        // Boxed, since they would make every future that connects large.
        let mut handshake = Box::pin(self.shake_hands(initialize, options, later, program.as_deref()));
        let mut version = Box::pin(async {
            tokio::time::sleep_until(late).await;
            version_problem(program.as_deref(), later).await
        });
        let mut problem = None;
        let error = loop {
            tokio::select! {
                biased;
                result = &mut handshake => match result {
                    Ok(()) => return Ok(()),
                    Err(error) => break error,
                },
                found = &mut version, if problem.is_none() => problem = Some(found),
            }
        };
        if !matches!(error.kind(), ErrorKind::Exit | ErrorKind::Timeout) {
            return Err(error);
        }
        let problem = match problem {
            Some(problem) => problem,
            None => tokio::time::timeout_at(deadline, version_problem(program.as_deref(), later))
                .await
                .ok()
                .flatten(),
        };
        // The program's own words explain more than that it is another program.
        let problem =
            problem.filter(|problem| problem.kind() != ErrorKind::NotFound || error.stderr().is_empty());
        Err(problem.unwrap_or(error))
    }

    async fn shake_hands(
        &self,
        initialize: Initialize,
        options: &Options,
        later: &[&LaterOption],
        program: Option<&Path>,
    ) -> Result<(), Error> {
        let core = &self.core;
        let call = Call::Initialize(Box::new(initialize));
        let success = core.call(call, core.timeouts.initialize).await?;
        let info = core.reply::<Initialize>(&success)?;
        check_version(&info, later, program).await?;
        check(&info, options)?;
        drop(core.info.set(info));
        // Requests that were still open when the previous client left this session.
        for (id, request) in success.pending_requests() {
            core.handle_request(id, request.call);
        }
        Ok(())
    }

    /// Restores the state of an earlier handshake. The transport delivers the requests that are still open.
    fn resume(&self, resumed: &Resumed) -> Result<(), Error> {
        let answer = resumed.initialize.message();
        if let Message::ControlResponse { response, .. } = answer
            && let ControlOutcome::Success(success) = response.outcome
        {
            drop(self.core.info.set(self.core.reply::<Initialize>(&success)?));
        }
        if let Some(init) = &resumed.init {
            self.core.note_session(init);
        }
        Ok(())
    }

    /// Repeats the handshake: the CLI reports its state and sends the open requests again.
    pub async fn reinitialize(&self, options: &Options) -> Result<InitializeReply, Error> {
        let Plan { initialize, .. } = options.plan()?;
        let call = Call::Initialize(Box::new(initialize));
        let success = self.core.call(call, self.core.timeouts.initialize).await?;
        for (id, request) in success.pending_requests() {
            self.core.handle_request(id, request.call);
        }
        self.core.reply::<Initialize>(&success)
    }
}

/// Refuses to start a session without a runtime, in which tokio itself would panic.
pub(crate) fn check_runtime() -> Result<(), Error> {
    tokio::runtime::Handle::try_current().map(drop).map_err(|error| {
        let hint = "call it inside a tokio runtime, such as that of `#[tokio::main]`";
        Error::invalid("There is no tokio runtime", hint).caused_by(error)
    })
}

/// Checks the version of the CLI. Earlier ones do not name it in the handshake, and are run once more.
async fn check_version(
    info: &InitializeReply,
    later: &[&LaterOption],
    program: Option<&Path>,
) -> Result<(), Error> {
    let version = match (&info.claude_code_version, program) {
        (Some(version), _) => version.parse().ok(),
        // A program that names no version there either is a stand-in.
        (None, Some(program)) => Box::pin(find::version(program)).await.ok(),
        (None, None) => None,
    };
    version.map_or(Ok(()), |version| check_supported(version, later))
}

fn check_supported(version: Version, later: &[&LaterOption]) -> Result<(), Error> {
    find::check(version)?;
    later::check(version, later)
}

/// Checks that the CLI took what the handshake contained.
fn check(info: &InitializeReply, options: &Options) -> Result<(), Error> {
    if options.sends_mcp_servers() && info.mcp_servers_applied != Some(true) {
        let message = "Claude Code did not take the MCP servers of the handshake";
        return Err(Error::new(ErrorKind::VersionTooOld, message, "remove `mcp_servers_by_handshake`"));
    }
    let must_block = options.handlers.hooks.iter().any(Hook::must_block);
    if must_block && (info.hook_on_failure_supported != Some(true) || info.hooks_applied == Some(false)) {
        let message = "This version of Claude Code cannot block when a hook fails";
        return Err(Error::new(
            ErrorKind::VersionTooOld,
            message,
            "run `claude update`, or remove `block_on_failure`",
        ));
    }
    Ok(())
}

/// The error of a program that is too old for the SDK or for one of the options, or is not Claude Code.
async fn version_problem(program: Option<&Path>, later: &[&LaterOption]) -> Option<Error> {
    match find::version(program?).await {
        Ok(version) => check_supported(version, later).err(),
        Err(error) => Some(error).filter(|error| error.kind() == ErrorKind::NotFound),
    }
}
