//! The credential of the web page, in a cookie.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use tidings_sessions::secret::Secret;

use super::hosts::Scheme;
use crate::limits::COOKIES_SAME_NAME_MAX;

/// The longest lifetime that browsers accept.
const LIFETIME_S: u32 = 400 * 24 * 60 * 60;

/// The `Set-Cookie` header with the credential. Scripts cannot read it, and requests from other sites do not
/// carry it.
pub(crate) fn set(name: &str, secret: &Secret, path: &str, scheme: Scheme) -> String {
    let path = if path.is_empty() { "/" } else { path };
    let secure = match scheme {
        Scheme::Http => "",
        Scheme::Https => "; Secure",
    };
    format!(
        "{name}={}; Path={path}; Max-Age={LIFETIME_S}; HttpOnly; SameSite=Strict{secure}",
        secret.reveal()
    )
}

/// The values of the cookies with this name.
pub(crate) fn get<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = pairs.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value).take(COOKIES_SAME_NAME_MAX)
}
