//! Stopping a child process where there are no signals: dropping the child kills it.

use tokio::process::Child;

use crate::options::Orphans;
use crate::transport::Stop;

#[derive(Debug)]
pub(super) struct ProcessStop {
    pid: Option<u32>,
    killed: tokio_util::sync::CancellationToken,
}

impl ProcessStop {
    pub(super) fn new(child: &Child, _owner: String, _orphans: Orphans) -> Self {
        ProcessStop { pid: child.id(), killed: tokio_util::sync::CancellationToken::new() }
    }

    pub(super) fn ended(&self) {}

    pub(super) async fn killed(&self) {
        self.killed.cancelled().await;
    }
}

impl Stop for ProcessStop {
    fn kill(&self) {
        self.killed.cancel();
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }
}
