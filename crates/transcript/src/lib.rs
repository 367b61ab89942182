//! Claude Code sessions on disk.
//!
//! - [`roots`] finds the files; [`reader`] reads them line by line and accounts for every line.
//! - [`id_prefix`] has the rule for prefixes of session ids.
//! - [`session`] holds a session as a tree: branches, sub-agents, compactions, actors, and tool calls with
//!   their results.
//! - [`export`] writes a session as text, Markdown, HTML or JSON.
//! - [`redact`] removes secrets from text and JSON.
//! - [`follow`] reads session files while they are being written.
//! - [`cost`] sums tokens and dollars and counts each response once.
//! - [`cache`] stores derived data about files between runs.
//! - [`check`] validates files; [`repair`] writes a valid copy.
//! - [`search`] finds text in all sessions.
//! - [`counts`] counts turns, tools, errors and branches in one pass.
//! - [`list`] lists sessions with the details that stand at either end of their files.
//! - [`manage`] lists, reads, renames, forks and deletes sessions as the official SDKs do.
//! - [`agents`] reads the sessions of Codex, Gemini CLI and opencode.
//! - [`all_files`] lists all files of a session; [`du`] measures them, [`cleanup_period`] computes when
//!   Claude Code will delete them, [`prune`] removes them.
#![cfg_attr(feature = "archive", doc = "- [`archive`] keeps compressed copies.")]
#![cfg_attr(feature = "index", doc = "- [`index`] makes searching tens of gigabytes quick.")]
//!
//! Nothing here prints, reads the environment or reads a clock: paths, times and ids are parameters.

#[cfg(feature = "analysis")]
pub mod agents;
#[cfg(feature = "analysis")]
pub mod all_files;
#[cfg(feature = "archive")]
pub mod archive;
pub mod blocks;
#[cfg(feature = "analysis")]
pub mod cache;
#[cfg(feature = "analysis")]
mod changed_inputs;
#[cfg(feature = "analysis")]
pub mod check;
#[cfg(feature = "analysis")]
pub mod cleanup_period;
#[cfg(feature = "analysis")]
pub mod cost;
#[cfg(feature = "analysis")]
pub mod counts;
#[cfg(feature = "analysis")]
pub mod du;
#[cfg(feature = "analysis")]
mod encoding;
mod error;
#[cfg(feature = "analysis")]
pub mod export;
mod finding;
#[cfg(feature = "analysis")]
pub mod follow;
pub mod id_prefix;
#[cfg(feature = "index")]
pub mod index;
pub mod limits;
#[cfg(feature = "analysis")]
pub mod list;
pub mod manage;
#[cfg(feature = "analysis")]
mod named;
mod open;
#[cfg(feature = "analysis")]
pub mod prune;
pub mod reader;
#[cfg(feature = "analysis")]
pub mod redact;
#[cfg(feature = "analysis")]
pub mod repair;
pub mod roots;
pub mod running;
#[cfg(feature = "analysis")]
pub mod search;
#[cfg(feature = "analysis")]
pub mod session;

#[cfg(feature = "analysis")]
pub use changed_inputs::ChangedInputs;
pub use error::{Error, ErrorKind};
pub use finding::{Finding, Position, Rule, Severity};
