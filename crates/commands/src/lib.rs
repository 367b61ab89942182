//! The commands of `tidings` that work without a server, and what all commands share: output, errors, and the
//! conversation in a terminal.
//!
//! With the program itself it is the only crate that prints, exits or reads the environment.

#![expect(
    missing_docs,
    missing_debug_implementations,
    reason = "the other half of the program, for no one else"
)]

pub mod agents;
pub mod backend;
pub mod confirm;
pub mod console;
pub mod error;
pub mod frames;
pub mod human;
pub mod input;
pub mod output;
pub mod pager;
pub mod pick;
pub mod progress;
pub mod rehearse;
pub mod run;
pub mod schema;
pub mod session_label;
pub mod sessions;
pub mod settings_file;
pub mod signals;
pub mod table;
pub mod terminal;
