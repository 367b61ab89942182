//! Client for requests to other servers.

use super::choose_tls;

/// A client with the TLS provider of ring. It ignores the environment; proxies are for the caller to set.
pub fn http_client() -> reqwest::ClientBuilder {
    choose_tls();
    reqwest::Client::builder().no_proxy().user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
}
