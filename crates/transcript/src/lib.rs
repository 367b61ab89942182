//! Claude Code sessions on disk.
//!
//! - [`roots`] finds the files; [`reader`] reads them line by line, and every line is accounted for.
//! - [`session`] has a session as a tree: branches, sub-agents, compactions, who speaks, which result belongs to which call.
//! - [`export`] writes a session as text, Markdown, HTML or JSON.
//! - [`redact`] takes secrets out of text and JSON.
//! - [`follow`] reads them while they are being written.
//! - [`cost`] sums up tokens and dollars, each response counted once.
//! - [`cache`] keeps facts about files from run to run.
//! - [`check`] says which rules a file does not keep; [`repair`] writes a copy that keeps them.
//! - [`search`] finds text in all of them.
//! - [`counts`] counts turns, tools, errors and branches in one pass.
//! - [`list`] tells of every session what its file's ends tell.
//! - [`manage`] lists, reads, names, forks and deletes sessions as the official SDKs do.
//! - [`belongings`] lists all that belongs to a session; [`du`] measures it, [`retention`] says when Claude Code will
//!   delete it, [`prune`] removes it.
#![cfg_attr(feature = "archive", doc = "- [`archive`] keeps compressed copies.")]
#![cfg_attr(feature = "index", doc = "- [`index`] makes searching tens of gigabytes quick.")]
//!
//! Nothing here prints, reads the environment or looks at a clock: places, times and ids are handed in.

#[cfg(feature = "archive")]
pub mod archive;
pub mod belongings;
pub mod blocks;
pub mod cache;
pub mod check;
pub mod cost;
pub mod counts;
pub mod du;
mod encoding;
mod error;
pub mod export;
mod finding;
pub mod follow;
#[cfg(feature = "index")]
pub mod index;
pub mod limits;
pub mod list;
pub mod manage;
mod open;
pub mod prune;
pub mod reader;
pub mod redact;
mod relatives;
pub mod repair;
pub mod retention;
pub mod roots;
pub mod search;
pub mod session;

pub use error::{Error, ErrorKind};
pub use finding::{Finding, Place, Rule, Severity};
