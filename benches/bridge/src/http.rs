//! A minimal HTTP client for a server on this machine.

use std::fs::File;
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

use crate::Failure;

/// Sends one request on a connection of its own, to an address, or to a Unix socket by its path. Returns the
/// status and the body.
pub(crate) fn ask(
    address: &str,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, String), Failure> {
    let (stream, host): (OwnedFd, &str) = if address.starts_with('/') {
        let stream = UnixStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        (stream.into(), "localhost")
    } else {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        (stream.into(), address)
    };
    let mut stream = File::from(stream);
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())?;
    let mut reader = BufReader::new(stream);
    let status = status(&mut reader)?;
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    Ok((status, text))
}

/// The same; every status but success is an error.
pub(crate) fn expect(
    address: &str,
    token: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, Failure> {
    let (status, text) = ask(address, token, method, path, body)?;
    if !(200..300).contains(&status) {
        return Err(format!("{method} {path}: {status} {text}").into());
    }
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

/// A connection that has become a WebSocket: to an address, or to a Unix socket by its path.
pub(crate) fn upgrade(address: &str, token: &str) -> Result<File, Failure> {
    let (stream, host): (OwnedFd, &str) = if address.starts_with('/') {
        (UnixStream::connect(address)?.into(), "localhost")
    } else {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        (stream.into(), address)
    };
    let mut stream = File::from(stream);
    let head = format!(
        "GET /v1/ws HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: tidings.v1\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    // The server sends nothing before a subscription, so the buffer of this reader loses nothing.
    match status(&mut BufReader::new(&stream))? {
        101 => Ok(stream),
        other => Err(format!("the server answers {other} to a WebSocket").into()),
    }
}

/// Reads the head of a response.
fn status(reader: &mut impl std::io::BufRead) -> Result<u16, Failure> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("no HTTP")?;
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    Ok(status)
}
