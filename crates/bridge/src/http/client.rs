//! Client for requests to other servers.

use std::path::Path;

use super::choose_tls;

/// A client with the TLS provider of ring. It ignores the environment; proxies are for the caller to set.
///
/// On a machine without root certificates, such as a bare container, it trusts no server, and requests to
/// `http` addresses work all the same.
pub fn http_client() -> reqwest::ClientBuilder {
    choose_tls();
    let client =
        reqwest::Client::builder().no_proxy().user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")));
    if has_root_certificates() { client } else { client.tls_certs_only([]) }
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
