//! Several servers as one fleet, over NATS `JetStream`.
//!
//! Every node is the owner of its sessions, and its journal is the source of truth. A [`Replicator`]
//! publishes the events of a node's sessions in signed [`Unit`]s, and a [`Consumer`] hands the units of all
//! other nodes to the caller, verified and in order. [`Roster`] holds the state that all nodes share:
//! members, heartbeats, devices, and the [`RosterLease`] of each session that another node continues.
//! [`Commands`] sends signed requests to the owner of a session.
//!
//! The crate is the only one that names NATS, and it knows nothing of HTTP and of sessions.

mod commands;
mod consumer;
mod error;
mod invite;
mod key_exchange;
mod key_text;
mod keyring;
mod keys;
pub mod limits;
mod link;
mod names;
mod replicator;
mod roster;
mod storage;
mod unit;

pub use commands::{Commands, Handler, IncomingRequest};
pub use consumer::{Consumer, ConsumerCheckpoint, Sink};
pub use error::{ErrorKind, FleetError};
pub use invite::{Invite, JoinRequest, JoinService, join};
pub use key_exchange::fetch_key;
pub use key_text::random_name;
pub use keyring::{FleetSecret, Keyring};
pub use keys::{Identity, PublicKey, SigningKey};
pub use link::{Access, Counters, FleetLink, LinkOptions, LinkStatus};
pub use names::Name;
pub use replicator::{Replicator, SessionSource, SourcePage};
pub use roster::{
    Admin, AuditHead, Beat, FleetMember, HeadPage, Liveness, MemberKind, Roster, RosterLease, RosterRecord,
    SessionHead, SharedCode, UsedCode, page_of,
};
pub use storage::Storage;
pub use unit::{Unit, UnitEvent};

/// The future of a call.
pub type FleetCall<'a, T> = futures_core::future::BoxFuture<'a, Result<T, FleetError>>;
