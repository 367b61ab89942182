//! Finding the way to type into a process.

use tidings::host::terminal::TerminalHost;
use tidings_transcript::running::RunningCli;

use super::{MessagingSocket, Steering, TmuxPane};
use crate::Config;

impl Steering {
    /// The host of a process's terminal, or its pane of tmux or its messaging socket if the server may use
    /// it.
    pub(in crate::observed) async fn find(config: &Config, process: &RunningCli) -> Option<Self> {
        let observe = config.observe.as_ref()?;
        let (data, may_tmux) = (observe.data.clone(), observe.type_into_tmux);
        let (pid, start) = (process.pid, process.proc_start.clone());
        let process = observe.send_messages.then(|| process.clone());
        let look = move || {
            let host = data.and_then(|data| TerminalHost::find(&data, pid, start.as_deref()));
            let host = host.filter(TerminalHost::is_alive).map(Steering::Terminal);
            let pane = || TmuxPane::of_process(pid).filter(|_| may_tmux).map(Steering::Tmux);
            let socket =
                || process.and_then(|process| MessagingSocket::of_process(&process)).map(Steering::Messages);
            host.or_else(pane).or_else(socket)
        };
        tokio::task::spawn_blocking(look).await.ok().flatten()
    }
}
