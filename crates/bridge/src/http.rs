//! Asking other servers.

/// A client whose TLS is that of ring. Proxies and everything else that the environment could say are left to the
/// caller.
pub fn http_client() -> reqwest::ClientBuilder {
    // Whoever else is in this process may have chosen one; any will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
}
