//! Finding the way to type into a process.

use tidings::host::terminal::TerminalFolder;
use tidings_transcript::running::RunningCli;

use super::Steering;
use crate::sessions::Config;

impl Steering {
    /// The terminal host of a process, if it has one.
    pub(in crate::sessions::observed) async fn find(config: &Config, process: &RunningCli) -> Option<Self> {
        let folder = TerminalFolder::new(config.observe.as_ref()?.data.as_deref()?);
        let (pid, start) = (process.pid, process.proc_start.clone());
        let look = move || {
            let record = folder.find(pid, start.as_deref())?;
            folder.is_alive(&record).then_some(Steering::Terminal(folder, record))
        };
        tokio::task::spawn_blocking(look).await.ok().flatten()
    }
}
