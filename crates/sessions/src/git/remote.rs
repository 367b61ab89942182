//! The repository that a folder is a copy of, by a name that all its copies share.

use std::net::IpAddr;

use super::{Git, values};
use crate::Error;
use crate::limits::REPOSITORY_NAME_BYTES_MAX;

/// Arguments that list the addresses of remote repositories.
const REMOTES: [&str; 4] = ["config", "-z", "--get-regexp", r"^remote\..*\.url$"];

/// The remote that `git clone` makes.
const USUAL: &[u8] = b"remote.origin.url";

impl Git {
    /// The name of the remote repository: that of `origin`, or of the first remote by name. It contains no
    /// credentials.
    pub async fn repository_name(&self) -> Result<Option<String>, Error> {
        let found = self.run(&REMOTES).await?;
        let remotes = values(&found.bytes);
        let url = remotes.get(USUAL).or_else(|| remotes.values().next()).copied().flatten();
        Ok(url.and_then(|url| std::str::from_utf8(url).ok()).and_then(repository_name))
    }
}

/// The host and the path in the address of a repository. All forms of an address have the same name; one that
/// only this machine understands has none.
fn repository_name(url: &str) -> Option<String> {
    let url = url.trim();
    let (authority, path) = match url.split_once("://") {
        Some((scheme, rest)) => {
            let is_network = ["https", "http", "ssh", "git", "git+ssh", "ssh+git"]
                .contains(&&*scheme.to_ascii_lowercase());
            rest.split_once('/').filter(|_| is_network)?
        }
        // `host:path`, as of scp. Other paths are local, and a single letter is a drive.
        None => url.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1)?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        // The port differs between ssh and https, and says nothing about the repository.
        None => host.split(':').next()?,
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let path = path.split(['?', '#']).next()?.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    // An `@` in the path may be part of a password with a slash.
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '@';
    let name = format!("{host}/{path}");
    let is_name = !host.is_empty() && !path.is_empty() && !is_here && !name.contains(is_odd);
    (is_name && name.len() <= REPOSITORY_NAME_BYTES_MAX).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_an_address_have_one_name_without_credentials() {
        for url in [
            "https://example.com/acme/shop.git",
            "https://example.com/acme/shop",
            "http://Example.com:8080/acme/shop/",
            "https://ada:s3cret@example.com/acme/shop.git",
            "https://token@example.com:443/acme/shop.git?token=s3cret#x",
            "ssh://git@example.com/acme/shop.git",
            "ssh://git@example.com:2222/acme/shop.git/",
            "git://example.com./acme/shop.git",
            "git@example.com:acme/shop.git",
            "git@example.com:/acme/shop.git",
            "example.com:acme/shop",
        ] {
            assert_eq!(repository_name(url).as_deref(), Some("example.com/acme/shop"), "{url}");
        }
        assert_eq!(repository_name("ssh://git@[2001:db8::1]:22/a/b").as_deref(), Some("2001:db8::1/a/b"));
    }

    #[test]
    fn addresses_of_this_machine_and_unclear_ones_have_no_name() {
        for url in [
            "",
            "/srv/git/shop.git",
            "../shop",
            "./a:b",
            "file:///srv/git/shop.git",
            "ext::sh -c whoami",
            "C:\\work\\shop",
            "https://localhost:3000/acme/shop.git",
            "http://127.0.0.2/acme/shop",
            "ssh://git@[::1]/acme/shop",
            "https://example.com/",
            "https://example.com",
            // Parts of these could be a password.
            "https://ada:s3/cret@example.com/acme/shop",
            "ada:s3cret@example.com:acme/shop",
            "https://example.com/acme/sh\top",
        ] {
            assert_eq!(repository_name(url), None, "{url}");
        }
    }
}
