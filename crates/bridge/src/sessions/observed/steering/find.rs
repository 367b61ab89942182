//! Finding the way to type into a process.

use tidings::host::terminal::TerminalFolder;
use tidings_transcript::running::RunningCli;

use super::{Steering, TmuxPane};
use crate::sessions::Config;

impl Steering {
    /// The terminal host of a process, or its pane of tmux if the server may type there.
    pub(in crate::sessions::observed) async fn find(config: &Config, process: &RunningCli) -> Option<Self> {
        let observe = config.observe.as_ref()?;
        let (folder, may_tmux) = (observe.data.as_deref().map(TerminalFolder::new), observe.type_into_tmux);
        let (pid, start) = (process.pid, process.proc_start.clone());
        let look = move || {
            let host = folder.and_then(|folder| {
                let record = folder.find(pid, start.as_deref())?;
                folder.is_alive(&record).then_some(Steering::Terminal(folder, record))
            });
            host.or_else(|| TmuxPane::of_process(pid).filter(|_| may_tmux).map(Steering::Tmux))
        };
        tokio::task::spawn_blocking(look).await.ok().flatten()
    }
}
