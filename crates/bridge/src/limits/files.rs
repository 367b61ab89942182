//! Limits of reading folders, files, repositories and archives.

use std::time::Duration;

/// Time between the start of the server and its first look for sessions to archive: the start comes first.
pub(crate) const ARCHIVE_FIRST_AFTER: Duration = Duration::from_secs(60);

/// Interval at which sessions are archived.
pub(crate) const ARCHIVE_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// Time before its deletion at which a session is archived: a machine may be off for days.
pub(crate) const ARCHIVE_MARGIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Sessions in one list of the archive.
pub(crate) const ARCHIVE_LIST_MAX: usize = 1000;

/// Archived sessions that stay unpacked after they were read; the one that was read longest ago goes first.
pub(crate) const ARCHIVE_UNPACKED_MAX: usize = 8;

/// Bytes of archived sessions that one search unpacks, the newest sessions first: some seconds of work.
pub(crate) const ARCHIVE_SEARCH_BYTES_MAX: u64 = 1 << 30;

/// Bytes that `git` may print: the paths of a very large repository, or the longest diff that the page shows.
pub(crate) const GIT_BYTES_MAX: usize = 4 << 20;

/// Bytes of a diff that are shown.
pub(crate) const DIFF_BYTES_MAX: usize = 1 << 20;

/// Untracked files that are listed.
pub(crate) const UNTRACKED_MAX: usize = 1000;

/// Entries of a folder in one list of a file browser.
pub(crate) const FILE_ITEMS_MAX: usize = 2000;

/// Bytes of a file that are shown.
pub(crate) const FILE_SHOWN_BYTES_MAX: u64 = 512 << 10;

/// Bytes of the files that one prompt mentions, which the server adds to it. A queue has room for them.
pub(crate) const MENTIONED_BYTES_MAX: usize = 256 << 10;

/// Mentions of files in one prompt that the server resolves.
pub(crate) const MENTIONS_MAX: usize = 16;

/// Files that are staged, or left out of a diff, at once: their names are arguments of `git`.
pub(crate) const STAGED_PATHS_MAX: usize = 1000;

/// Bytes of the message of a commit.
pub(crate) const COMMIT_MESSAGE_BYTES_MAX: usize = 20_000;

/// Bytes of the name of a branch that is made for a session.
pub(crate) const BRANCH_BYTES_MAX: usize = 100;

/// Time that `git` may take.
pub(crate) const GIT_WAIT: Duration = Duration::from_secs(10);

/// Time that `git` may take to stage, commit, or make a worktree.
pub(crate) const GIT_WRITE_WAIT: Duration = Duration::from_secs(120);
