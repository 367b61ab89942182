//! HTTP parts that the API, authentication and the server share: routes with their scopes, extractors, errors
//! as responses, WebSocket upgrades, and a client for requests to other servers.

mod client;
mod connection;
mod extract;
pub(crate) mod keys;
pub(crate) mod openapi;
mod problem;
pub(crate) mod route;
pub(crate) mod scope;
mod tls_provider;
mod upgrade;

pub use client::http_client;
pub(crate) use connection::{Connection, ConnectionSlot};
pub(crate) use extract::{Answer, Body, Command, Path, Query, idempotency_key};
pub(crate) use problem::{RequestName, name_requests};
pub use tls_provider::choose_tls;
pub(crate) use upgrade::UpgradeRequest;
