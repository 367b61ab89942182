//! Paths of routes, with their queries.

use std::fmt::{Display, Write as _};

/// Percent-encodes a text as a segment of a path, or as a value of a query.
pub fn segment(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing into a String cannot fail.
            _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// A path with a query.
#[derive(Debug, Clone)]
pub(crate) struct Route(String);

impl Route {
    pub(crate) fn new(path: &str) -> Self {
        Route(path.to_owned())
    }

    /// Adds a parameter, if it has a value.
    pub(crate) fn with(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            let mark = if self.0.contains('?') { '&' } else { '?' };
            _ = write!(self.0, "{mark}{name}={}", segment(&value.to_string()));
        }
        self
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_stays_in_its_place() {
        let route = Route::new("/v1/transcripts/search")
            .with("q", Some("a&b=c d/é"))
            .with("tool", None::<&str>)
            .with("limit", Some(3));
        assert_eq!(route.as_str(), "/v1/transcripts/search?q=a%26b%3Dc%20d%2F%C3%A9&limit=3");
    }
}
