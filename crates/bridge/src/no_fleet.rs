//! Takes the place of `fleet` in a program without that feature: no server is in a fleet.

use std::path::Path;

use axum::Router;
use tidings_api::{Code, FleetContinue, FleetProject, FleetStatus, FleetStorage, SessionView};
use tidings_sessions::{Caller, Error, Sessions};
use tokio_util::sync::CancellationToken;

use crate::auth::Auth;
use crate::notify::Notifications;

pub use NoFleet as Fleet;
pub(crate) use NotForwarded as Forwarded;

/// A server's place in its fleet; there is none.
#[derive(Debug, Clone)]
pub enum NoFleet {}

/// Roles of a server in its fleet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemberKind {
    Node,
    Hub,
}

/// Marks a request that another server has forwarded; there is none.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NotForwarded {}

/// Refuses the data folder of a server that is in a fleet: it would silently be in none.
pub fn check_data(data: &Path) -> Result<(), Error> {
    if data.join("fleet.json").exists() { Err(without_fleets()) } else { Ok(()) }
}

/// The error of everything that needs a fleet.
pub fn without_fleets() -> Error {
    let hint = "install it from a package, or build it with `--features fleet`";
    Error::new(Code::Unavailable, "This program was built without fleets", hint)
}

impl NoFleet {
    pub(crate) fn node(&self) -> &String {
        match *self {}
    }

    pub(crate) fn is_hub(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_draining(&self) -> bool {
        match *self {}
    }

    pub(crate) fn drain(&self, _: bool) {
        match *self {}
    }

    pub(crate) fn attach(&self, _: &Sessions) {
        match *self {}
    }

    pub(crate) async fn run(self, _: (Sessions, Auth, Notifications), _: Router, _: CancellationToken) {
        match self {}
    }

    pub(crate) fn problem(&self) -> Option<String> {
        match *self {}
    }

    pub(crate) fn status(&self) -> FleetStatus {
        match *self {}
    }

    pub(crate) fn choose(&self, _: &str) -> Result<String, Error> {
        match *self {}
    }

    pub(crate) fn invite(&self, _: MemberKind, _: Vec<String>) -> Result<String, Error> {
        match *self {}
    }

    pub(crate) async fn remove(&self, _: &str) -> Result<(), Error> {
        match *self {}
    }

    pub(crate) async fn storage(&self) -> Result<FleetStorage, Error> {
        match *self {}
    }

    pub(crate) async fn set_storage(&self, _: u64) -> Result<FleetStorage, Error> {
        match *self {}
    }

    pub(crate) async fn projects(&self, _: &Sessions, _: &Caller) -> Result<Vec<FleetProject>, Error> {
        match *self {}
    }

    pub(crate) async fn continue_here(
        &self,
        _: &Sessions,
        _: &Caller,
        _: &str,
        _: FleetContinue,
    ) -> Result<SessionView, Error> {
        match *self {}
    }
}
