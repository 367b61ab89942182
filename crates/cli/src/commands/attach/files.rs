//! Completion of files that are on the server's machine.

use tidings_remote::RemoteSession;
use tokio::task::JoinHandle;

/// Search for files of a session, one at a time.
pub(super) struct FileSearch {
    session: RemoteSession,
    query: String,
    searching: Option<JoinHandle<Vec<String>>>,
}

impl FileSearch {
    pub(super) fn new(session: RemoteSession) -> Self {
        FileSearch { session, query: String::new(), searching: None }
    }

    /// Searches for the files of a text; a search for another text is dropped.
    pub(super) fn search(&mut self, query: &str) {
        if self.query == query && self.searching.is_some() {
            return;
        }
        query.clone_into(&mut self.query);
        let (session, query) = (self.session.clone(), query.to_owned());
        self.searching = Some(tokio::spawn(async move {
            // Without an answer there are no completions.
            session.files(&query).await.map(|found| found.items).unwrap_or_default()
        }));
    }

    /// Waits for the files of the last text; never returns if nothing is searched.
    pub(super) async fn next(&mut self) -> (String, Vec<String>) {
        let Some(searching) = &mut self.searching else { return std::future::pending().await };
        let found = searching.await.unwrap_or_default();
        self.searching = None;
        (self.query.clone(), found)
    }
}
