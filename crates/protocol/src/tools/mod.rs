//! Typed views of tool inputs and outputs.
//!
//! A tool's input and output are foreign data that change with every release of the CLI, so messages carry
//! them raw. Typed access needs the tool's name: [`ToolInput::read`] reads the `input` of a `tool_use` block,
//! [`ToolOutput::read`] the `tool_use_result` next to a tool's result. The data of a tool without a view stay
//! raw, and a view writes back exactly what was read.
//!
//! ```
//! use tidings_protocol::json::Raw;
//! use tidings_protocol::tools::ToolInput;
//!
//! let input = Raw::parse(r#"{"command":"cargo test","timeout":60000}"#)?;
//! let ToolInput::Bash(bash) = ToolInput::read("Bash", input)? else { unreachable!() };
//! assert_eq!(bash.command, "cargo test");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tools are declared in one table, `table.rs`.

mod agent;
mod artifact;
mod ask;
mod bash;
mod edit;
mod input;
mod macros;
mod mcp;
mod monitor;
mod name;
mod notebook;
mod output;
mod patch;
mod plan;
mod projects;
mod propose;
mod read;
mod report;
mod schedule;
mod search;
mod skill;
mod summary;
mod table;
mod tasks;
mod todo;
mod web;
mod workflow;
mod worktree;
mod write;

pub use agent::*;
pub use artifact::*;
pub use ask::*;
pub use bash::*;
pub use edit::*;
pub use mcp::*;
pub use monitor::*;
pub use name::{ToolFamily, mcp_parts};
pub use notebook::*;
pub use patch::*;
pub use plan::*;
pub use projects::*;
pub use propose::*;
pub use read::*;
pub use report::*;
pub use schedule::*;
pub use search::*;
pub use skill::*;
pub use summary::SUMMARY_CHARS_MAX;
pub use table::{ToolInput, ToolOutput, canonical_name, family};
pub use tasks::*;
pub use todo::*;
pub use web::*;
pub use workflow::*;
pub use worktree::*;
pub use write::*;
