//! TLS, with certificates that may be renewed while the server runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fs_err as fs;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tidings_api::Code;
use tidings_sessions::Error;
use tokio::sync::watch;

/// Paths of the certificate and its key, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Reads both.
    pub(super) fn load(&self) -> Result<Arc<ServerConfig>, Error> {
        let refused = |path: &Path, reason: String| {
            let message = format!("Failed to use `{}`: {reason}", path.display());
            Error::new(Code::Invalid, message, "both files are PEM, and the key belongs to the certificate")
        };
        let read =
            |path: &Path| fs::read(path).map_err(|error| Error::new(Code::Invalid, error.to_string(), ""));
        let certificates: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&read(&self.certificate)?)
                .collect::<Result<_, _>>()
                .map_err(|error| refused(&self.certificate, error.to_string()))?;
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?)
            .map_err(|error| refused(&self.key, error.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
            .map_err(|error| refused(&self.certificate, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Reloads them whenever they have changed. A pair that does not match is ignored, and the old one stays
    /// in use.
    pub(super) async fn follow(self, used: &watch::Sender<Arc<ServerConfig>>, every: Duration) {
        let mut seen = self.changed();
        loop {
            tokio::time::sleep(every).await;
            let now = self.changed();
            if now == seen {
                continue;
            }
            seen = now;
            match self.load() {
                Ok(config) => {
                    used.send_replace(config);
                    tracing::info!("the certificate was renewed");
                }
                Err(error) => tracing::warn!("{error}"),
            }
        }
    }

    fn changed(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|path| fs::metadata(path).and_then(|found| found.modified()).ok())
    }
}
