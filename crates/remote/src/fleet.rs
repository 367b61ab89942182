//! The fleet of a server.

use tidings_api::FleetStatus;

use crate::error::Error;
use crate::server::RemoteServer;

impl RemoteServer {
    /// The fleet as this server knows it. A server that is in none answers with
    /// [`Code::NotFound`](tidings_api::Code::NotFound).
    pub async fn fleet(&self) -> Result<FleetStatus, Error> {
        self.get("/v1/fleet").await
    }
}
