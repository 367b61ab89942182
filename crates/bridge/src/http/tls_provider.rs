//! The TLS provider of the process.

/// Installs the TLS provider of this process, unless one is installed. TLS clients need it too.
pub fn choose_tls() {
    drop(rustls::crypto::ring::default_provider().install_default());
}
