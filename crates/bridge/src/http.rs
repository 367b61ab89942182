//! HTTP requests to other servers.

use crate::server::choose_tls;

/// A builder for HTTP clients with ring as TLS provider. Proxies from the environment are off; the caller may
/// set them.
pub fn http_client() -> reqwest::ClientBuilder {
    choose_tls();
    reqwest::Client::builder().no_proxy().user_agent(concat!("tidings/", env!("CARGO_PKG_VERSION")))
}
