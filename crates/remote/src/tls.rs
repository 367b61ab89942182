//! TLS: the provider, the certificates to trust, and why one is not trusted.

use std::path::Path;

use reqwest::ClientBuilder;
use rustls::CertificateError;

/// Trusts the certificates of the system, which take milliseconds to read: only for an address that needs
/// them. On a machine without any, such as a bare container, it trusts no server.
pub(crate) fn trusting(client: ClientBuilder, address: &str) -> ClientBuilder {
    // Another provider may be there already, and is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let needs_none = address.starts_with("http:") || !has_root_certificates();
    if needs_none { client.tls_certs_only([]) } else { client }
}

/// True unless no client could be built for want of root certificates. Only a machine without the usual
/// folders pays for the attempt.
fn has_root_certificates() -> bool {
    let usual =
        ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];
    !cfg!(target_os = "linux")
        || usual.iter().any(|path| Path::new(path).exists())
        || reqwest::Client::builder().no_proxy().build().is_ok()
}

/// The reason why the server's certificate was rejected, if that is the cause of the error.
pub(crate) fn certificate_problem(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(rustls::Error::InvalidCertificate(why)) = error.downcast_ref() {
        return Some(match why {
            CertificateError::UnknownIssuer => "its issuer is unknown".to_owned(),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "it has expired".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "it is for another name".to_owned()
            }
            why if format!("{why:?}").contains("CaUsedAsEndEntity") => {
                "it is a CA certificate, not a server certificate".to_owned()
            }
            why => why.to_string(),
        });
    }
    // `source` of an I/O error skips the error that it wraps.
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    match inner {
        Some(inner) => certificate_problem(inner),
        None => error.source().and_then(certificate_problem),
    }
}
