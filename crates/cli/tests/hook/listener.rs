//! A socket in place of the server, which the test itself reads and answers.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::io::ioctl_fionbio;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket};

use crate::serve::machine::PATIENCE;

pub(crate) struct Listener(UnixListener);

/// A connection of a hook, and its request.
pub(crate) struct HookConnection {
    stream: UnixStream,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Listener {
    /// Listens on the usual socket of a data folder.
    pub(crate) fn new(data: &Path) -> Self {
        Self::at(&data.join("server.sock"))
    }

    pub(crate) fn at(socket: &Path) -> Self {
        drop(fs::remove_file(socket));
        Listener(UnixListener::bind(socket).unwrap())
    }

    /// Listens with a queue that is full: nothing is accepted, and no further connection fits.
    pub(crate) fn full(data: &Path) -> (Self, Vec<OwnedFd>) {
        let address = SocketAddrUnix::new(data.join("server.sock")).unwrap();
        let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&listener, &address).unwrap();
        listen(&listener, 0).unwrap();
        let mut waiting = Vec::new();
        loop {
            let client = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
            ioctl_fionbio(&client, true).unwrap();
            if connect(&client, &address).is_err() {
                return (Listener(UnixListener::from(listener)), waiting);
            }
            waiting.push(client);
        }
    }

    /// Accepts a hook and reads its whole request.
    pub(crate) fn accept(&self) -> HookConnection {
        let (mut stream, _) = self.0.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).unwrap();
        HookConnection { stream, head, body: String::from_utf8(body).unwrap() }
    }

    /// True if no hook has connected.
    pub(crate) fn is_unused(&self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        let result = self.0.accept();
        self.0.set_nonblocking(false).unwrap();
        result.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }
}

impl HookConnection {
    /// Sends a part of a reply. The hook may have given up before.
    pub(crate) fn send(&mut self, text: &str) {
        drop(self.stream.write_all(text.as_bytes()));
    }

    /// Sends a reply and closes the connection.
    pub(crate) fn reply(mut self, text: &str) {
        self.send(text);
    }

    /// Waits until the hook closes its side.
    pub(crate) fn wait_for_close(mut self) {
        let mut rest = Vec::new();
        // A reset counts too.
        drop(self.stream.read_to_end(&mut rest));
        assert!(rest.is_empty());
    }
}
