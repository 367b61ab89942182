//! Addresses of push services. Any device can name one, so they must not lead into the network of the server.

use std::error::Error as StdError;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Addresses that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Public ones, with TLS.
    Public,
    /// Loopback too, also without TLS, for tests.
    Loopback,
}

/// The name of a push service leads to an address that is not public.
#[derive(Debug)]
pub(super) struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address is not public")
    }
}

impl StdError for NotPublic {}

impl Reach {
    /// Checks the URL of a push service, as far as that is possible without resolving its name.
    pub(super) fn check(self, text: &str) -> Result<Url, &'static str> {
        let url = Url::parse(text).map_err(|_| "is invalid")?;
        let host = url.host_str().ok_or("has no host")?;
        let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        let near =
            self == Reach::Loopback && (host == "localhost" || literal.is_some_and(|it| it.is_loopback()));
        if url.scheme() != "https" && !(near && url.scheme() == "http") {
            return Err("must begin with https://");
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err("contains a user, a password or a fragment");
        }
        match literal {
            Some(address) if !self.allows(address) => Err("leads to an address that is not public"),
            _ => Ok(url),
        }
    }

    fn allows(self, address: IpAddr) -> bool {
        is_public(address) || (self == Reach::Loopback && address.is_loopback())
    }
}

/// Resolves names to addresses that may be called. The connection is made to the addresses that were checked,
/// so a name that resolves differently a second time gains nothing.
impl Resolve for Reach {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = *self;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if found.is_empty() || !found.iter().all(|address| reach.allows(address.ip())) {
                return Err(Box::new(NotPublic) as Box<dyn StdError + Send + Sync>);
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// True if an address belongs to the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        // Multicast, reserved and broadcast.
        || a >= 224)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let (first, second, third) = (parts[0], parts[1], parts[2]);
    let embedded = |high: u16, low: u16| {
        let [one, two] = high.to_be_bytes();
        let [three, four] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(one, two, three, four))
    };
    match (first, second) {
        // Translations of IPv4 addresses: mapped, NAT64 and 6to4.
        (0, 0) if parts[..6] == [0, 0, 0, 0, 0, 0xffff] => embedded(parts[6], parts[7]),
        (0x64, 0xff9b) if parts[2..6] == [0; 4] => embedded(parts[6], parts[7]),
        (0x2002, high) => embedded(high, third),
        // Teredo and documentation.
        (0x2001, 0 | 0xdb8) => false,
        // Everything that is assigned is in here.
        _ => (0x2000..0x4000).contains(&first) && !(first == 0x3fff && second < 0x1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_may_be_called() {
        for public in ["1.1.1.1", "142.250.1.1", "2606:4700:4700::1111", "2a00:1450::1", "64:ff9b::8.8.8.8"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for near in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.1.2.3",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2001::1",
            "2001:db8::1",
            "100::1",
        ] {
            assert!(!is_public(near.parse().unwrap()), "{near}");
        }
    }

    #[test]
    fn only_urls_of_push_services_are_accepted() {
        for (url, public, loopback) in [
            ("https://fcm.googleapis.com/fcm/send/abc", true, true),
            ("https://push.example:8443/abc", true, true),
            ("https://1.1.1.1/abc", true, true),
            ("http://push.example/abc", false, false),
            ("https://127.0.0.1/abc", false, true),
            ("http://127.0.0.1:9/abc", false, true),
            ("http://localhost:9/abc", false, true),
            // The names of numbers: the URL standard makes addresses of them.
            ("https://2130706433/abc", false, true),
            ("https://0x7f.1/abc", false, true),
            ("https://[::1]/abc", false, true),
            ("https://[::ffff:10.0.0.1]/abc", false, false),
            ("https://169.254.169.254/latest", false, false),
            ("https://me:secret@push.example/abc", false, false),
            ("file:///etc/passwd", false, false),
            ("abc", false, false),
        ] {
            assert_eq!(Reach::Public.check(url).is_ok(), public, "{url}");
            assert_eq!(Reach::Loopback.check(url).is_ok(), loopback, "{url}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_refused_when_it_is_resolved() {
        let resolve = |reach: Reach| reach.resolve("localhost".parse().unwrap());
        let refused = resolve(Reach::Public).await.err().expect("loopback is not public");
        assert!(refused.downcast_ref::<NotPublic>().is_some());
        assert!(resolve(Reach::Loopback).await.is_ok());
    }
}
