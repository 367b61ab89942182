//! Asking other servers.

use crate::server::choose_tls;

/// A client whose TLS is that of ring. Proxies and everything else that the environment could say are left to the
/// caller.
pub fn http_client() -> reqwest::ClientBuilder {
    choose_tls();
    reqwest::Client::builder().no_proxy().user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
}
