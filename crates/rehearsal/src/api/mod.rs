//! Stand-in for the Messages API on loopback, so that the real CLI runs without a key, a network or a bill.
//! Other agents find as much of their APIs as a turn needs (`other_apis`).
//!
//! [`Server::start`] binds an address and answers from a [`Script`](crate::script::Script); [`Server::stop`]
//! returns a [`Report`] on the expectations of the script. Ids and token counts are derived from counters and
//! lengths, so that each run gives the same result.
//!
//! ```
//! use tidings_rehearsal::api::{Server, Settings};
//! use tidings_rehearsal::script::Script;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let script = Script::parse("[[turn]]\ntext = \"Hello!\"")?;
//! let listen = "127.0.0.1:0".parse()?;
//! let server = Server::start(&script, Settings::new(listen), |_request| {}).await?;
//! // Run `claude` with ANTHROPIC_BASE_URL set to this:
//! let url = server.url();
//! let report = server.stop().await;
//! assert_eq!(report.unused_turns, [0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod blocks;
mod body;
mod chunks;
mod connection;
mod ids;
mod json;
mod limits;
mod log;
mod message;
mod models;
mod other_apis;
mod report;
mod request;
mod routes;
mod safeguards;
mod server;
mod state;
mod tokens;

pub use log::{AnsweredBy, Entry, MessageShape};
pub use report::{Expectation, Report};
pub use server::{Bodies, Reach, Server, Settings, StartError};
