//! Devices, their credentials, and pairing.

use tidings_api::{
    CredentialKind, Device, DeviceList, GrantScopes, Meta, NewCredential, NewDevice, PairRequest,
    PairingCode, Scope,
};

use crate::error::Error;
use crate::route::segment;
use crate::server::RemoteServer;

impl RemoteServer {
    /// Exchanges a one-time code for a credential of this program, and proposes its name. Sent once: after
    /// [`ErrorKind::Cut`](crate::ErrorKind::Cut) the code may be used up.
    pub async fn pair(address: &str, code: &str, name: &str) -> Result<NewCredential, Error> {
        let (code, name) = (code.to_owned(), Some(name.to_owned()));
        let request = PairRequest { code, name, credential: CredentialKind::Token };
        RemoteServer::anonymous(address)?.post("/v1/pair", &request).await
    }

    /// The server, its limits, and the rights of this client.
    pub async fn meta(&self) -> Result<Meta, Error> {
        self.get("/v1/meta").await
    }

    /// Creates a one-time code for the pairing of a device.
    pub async fn pairing_code(&self, device: &NewDevice) -> Result<PairingCode, Error> {
        self.command("/v1/pair/codes", device).await
    }

    /// Devices with a credential, oldest first.
    pub async fn devices(&self) -> Result<Vec<Device>, Error> {
        self.get::<DeviceList>("/v1/devices").await.map(|list| list.items)
    }

    /// Creates a credential.
    pub async fn add_device(&self, device: &NewDevice) -> Result<NewCredential, Error> {
        self.command("/v1/devices", device).await
    }

    /// Adds scopes to a device.
    pub async fn grant(&self, device: &str, scopes: &[Scope]) -> Result<Device, Error> {
        let scopes = scopes.iter().map(|scope| scope.as_str().to_owned()).collect();
        self.patch(&format!("/v1/devices/{}", segment(device)), &GrantScopes { scopes }).await
    }

    /// Revokes the credential of a device.
    pub async fn revoke(&self, device: &str) -> Result<(), Error> {
        self.delete(&format!("/v1/devices/{}", segment(device))).await
    }
}
