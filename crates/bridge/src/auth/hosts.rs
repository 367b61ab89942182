//! Allowed hosts and origins.
//!
//! A page whose own name resolves to this machine sends that name as `Host` (T2), and a page of another site
//! sends its own origin as `Origin` (T1). Both are compared with lists, not with patterns.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tidings_api::Code;
use tidings_sessions::Error;

/// The allowed hosts and origins of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
    any_local_address: bool,
}

/// The host in a `Host` header, without its port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Name(String),
    Address(IpAddr),
}

/// The origin of a page. All three parts are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) scheme: Scheme,
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// The scheme of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Without encryption.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// The scheme as in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl Names {
    /// The loopback names of this machine.
    pub fn loopback() -> Self {
        let hosts = vec![
            Host::Name("localhost".to_owned()),
            Host::Address(Ipv4Addr::LOCALHOST.into()),
            Host::Address(Ipv6Addr::LOCALHOST.into()),
        ];
        Names { hosts, ..Names::default() }
    }

    /// Adds the address that the server listens on; if that is the unspecified address, the local address of
    /// each connection is allowed. Unlike a name, an address cannot be made to resolve to another machine.
    #[must_use]
    pub fn and_address(mut self, address: IpAddr) -> Self {
        if address.is_unspecified() {
            self.any_local_address = true;
        } else {
            self.hosts.push(Host::Address(address.to_canonical()));
        }
        self
    }

    /// Adds a public URL, such as `https://box.example`, as host and as origin.
    pub fn and_url(mut self, url: &str) -> Result<Self, Error> {
        let origin = Origin::parse(url.trim_end_matches('/')).ok_or_else(|| {
            let hint = "write it as `https://box.example` or `http://192.168.1.5:7717`, without a path";
            Error::new(Code::Invalid, format!("Not a public URL: `{url}`"), hint)
        })?;
        self.hosts.push(origin.host.clone());
        self.origins.push(origin);
        Ok(self)
    }

    /// True if a public URL was added, behind which there may be a proxy.
    pub(crate) fn has_public_url(&self) -> bool {
        !self.origins.is_empty()
    }

    /// True if the host is allowed on a connection to the address `local`.
    pub(crate) fn allows_host(&self, host: &Host, local: Option<IpAddr>) -> bool {
        let local = local.map(|local| Host::Address(local.to_canonical()));
        self.hosts.contains(host) || self.any_local_address && local.is_some_and(|local| local == *host)
    }

    /// True if the origin is allowed. `host` is the allowed host of the request, and `own` the scheme of the
    /// server.
    pub(crate) fn allows_origin(
        &self,
        origin: &Origin,
        own: Scheme,
        (host, port): (&Host, Option<u16>),
    ) -> bool {
        let same = origin.scheme == own && origin.host == *host && origin.port == port.unwrap_or(own.port());
        same || self.origins.contains(origin)
    }

    /// The scheme of pages that use this host.
    pub(crate) fn scheme_of(&self, host: &Host, own: Scheme) -> Scheme {
        let public = self.origins.iter().find(|origin| origin.host == *host);
        public.map_or(own, |origin| origin.scheme)
    }
}

impl Origin {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let (host, port) = authority(rest)?;
        Some(Origin { scheme, host, port: port.unwrap_or(scheme.port()) })
    }
}

/// Parses a name or an address with an optional port. Returns `None` for text that programs could parse
/// differently.
pub(crate) fn authority(text: &str) -> Option<(Host, Option<u16>)> {
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
        (Host::Address(IpAddr::V6(address.parse::<Ipv6Addr>().ok()?).to_canonical()), port)
    } else {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        };
        (named(name)?, port)
    };
    let port = match port {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    Some((host, port))
}

fn named(name: &str) -> Option<Host> {
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return Some(Host::Address(address.into()));
    }
    // A trailing dot marks a fully qualified name and has no other meaning.
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.' | b'_');
    (!name.is_empty() && name.bytes().all(plain)).then_some(Host::Name(name))
}
