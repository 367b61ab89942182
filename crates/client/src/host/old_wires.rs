//! Hosts of earlier versions: their records, and the messages of those that hold a terminal. A host of pipes
//! has the same records and messages since the first version.
//!
//! Until version 0.1 a host that held a terminal had two files in the folder `terminals` of the data folder:
//! `ID.json` and `ID.sock`. A message was a kind (one byte), a length (four bytes, big-endian) and a body.
//! The server and `tidings attach` find and use such hosts; none is started any more, so this file can be
//! removed two releases later.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::folder::{TerminalProcess, with_socket_path};
use super::terminal::{Address, TerminalHost};
use super::wire::{FromHost, Message, TerminalRole, TerminalSize, ToHost, TypingOutcome};
use crate::limits::RECORD_BYTES_MAX;
use crate::transport::Exit;

/// A host of a terminal, in the folder `terminals`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OldTerminal {
    folder: PathBuf,
    pub(super) id: String,
    socket: String,
    pub(super) process: TerminalProcess,
}

/// Its record.
#[derive(Deserialize)]
struct OldRecord {
    id: String,
    #[serde(flatten)]
    process: TerminalProcess,
    socket: String,
}

/// The longest message.
const MESSAGE_BYTES_MAX: u32 = 16 << 20;

/// The hosts of a data folder. Those that were killed are among them.
pub(super) fn terminals(data: &Path) -> Vec<OldTerminal> {
    let folder = data.join("terminals");
    let Ok(found) = std::fs::symlink_metadata(&folder) else { return Vec::new() };
    let is_ours = found.uid() == rustix::process::geteuid().as_raw();
    if !found.is_dir() || !is_ours || found.mode() & 0o077 != 0 {
        return Vec::new();
    }
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| read_record(&folder, &entry.path())).collect()
}

/// Reads a record. Symbolic links are not followed.
fn read_record(folder: &Path, path: &Path) -> Option<OldTerminal> {
    let name = path.file_name()?.to_str()?;
    if !is_name(name, ".json") {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let OldRecord { id, process, socket } = serde_json::from_slice(&bytes).ok()?;
    let is_named = name.strip_suffix(".json") == Some(id.as_str()) && is_name(&socket, ".sock");
    is_named.then(|| OldTerminal { folder: folder.to_owned(), id, socket, process })
}

/// True if it is a name with this ending, and no path.
fn is_name(name: &str, ending: &str) -> bool {
    let is_plain = |stem: &str| {
        !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    name.strip_suffix(ending).is_some_and(is_plain)
}

impl From<OldTerminal> for TerminalHost {
    fn from(old: OldTerminal) -> Self {
        TerminalHost { id: old.id.clone(), process: old.process.clone(), address: Address::Old(old) }
    }
}

impl OldTerminal {
    pub(super) fn connect(&self) -> io::Result<UnixStream> {
        with_socket_path(&self.folder, &self.socket, |path| UnixStream::connect(path))
    }

    /// Removes what a killed host left behind.
    pub(super) fn remove(&self) {
        for name in [&format!("{}.json", self.id), &self.socket] {
            // It may not exist.
            drop(std::fs::remove_file(self.folder.join(name)));
        }
    }
}

#[derive(Serialize)]
struct Hello {
    role: TerminalRole,
    size: Option<TerminalSize>,
}

/// Encodes a message of a viewer. Other messages are nothing.
pub(super) fn encode(message: &Message<ToHost>) -> Vec<u8> {
    match &message.head {
        ToHost::View(view) => json(b'h', &Hello { role: view.role, size: view.size }),
        ToHost::Keys => frame(b'k', &message.bytes),
        ToHost::Resize { size } => json(b's', size),
        ToHost::Prompt => frame(b'p', &message.bytes),
        ToHost::Interrupt => frame(b'i', b""),
        ToHost::Continue => frame(b'c', b""),
        _ => Vec::new(),
    }
}

/// Reads the next message of a host; `None` at the end of the connection.
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Message<FromHost>>> {
    let Some((kind, body)) = read_frame(from).await? else { return Ok(None) };
    let message = match kind {
        b'o' => Message::with(FromHost::Out { end: 0 }, body),
        b'r' => Message::with(FromHost::Screen, body),
        b's' => Message::new(FromHost::Size(serde_json::from_slice(&body)?)),
        b'a' => {
            let outcome: TypingOutcome = serde_json::from_slice(&body)?;
            Message::new(FromHost::Typed { outcome })
        }
        b'z' => Message::new(FromHost::Suspended),
        b'x' => {
            let OldExit { code, signal } = serde_json::from_slice(&body)?;
            Message::new(FromHost::exit(Exit { code, signal }, 0))
        }
        _ => return Err(invalid()),
    };
    Ok(Some(message))
}

#[derive(Deserialize)]
struct OldExit {
    code: Option<i32>,
    signal: Option<i32>,
}

async fn read_frame(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    if from.read(&mut kind).await? == 0 {
        return Ok(None);
    }
    let bytes = from.read_u32().await?;
    if bytes > MESSAGE_BYTES_MAX {
        return Err(invalid());
    }
    // The buffer grows with what comes, not with what is announced.
    let mut body = Vec::new();
    from.take(bytes.into()).read_to_end(&mut body).await?;
    if body.len() as u64 != u64::from(bytes) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((kind[0], body)))
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let bytes = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(5 + body.len());
    frame.push(kind);
    frame.extend(bytes.to_be_bytes());
    frame.extend(body);
    frame
}

fn json(kind: u8, body: &impl Serialize) -> Vec<u8> {
    // These values always encode.
    frame(kind, &serde_json::to_vec(body).unwrap_or_default())
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message of the terminal host cannot be read")
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::host::wire::View;

    /// The bytes that hosts of version 0.1 read and write.
    #[tokio::test]
    async fn messages_of_a_terminal_host_of_an_earlier_version_are_written_and_read_as_ever() {
        let size = TerminalSize { rows: 24, cols: 80 };
        let view = View { version: 2, secret: String::new(), role: TerminalRole::Look, size: Some(size) };
        let sent: [(Message<ToHost>, &[u8]); 6] = [
            (
                Message::new(ToHost::View(view)),
                b"h\0\0\0\x2c{\"role\":\"look\",\"size\":{\"rows\":24,\"cols\":80}}",
            ),
            (Message::with(ToHost::Keys, "\x1b[A"), b"k\0\0\0\x03\x1b[A"),
            (Message::new(ToHost::Resize { size: None }), b"s\0\0\0\x04null"),
            (Message::with(ToHost::Prompt, "one\ntwo"), b"p\0\0\0\x07one\ntwo"),
            (Message::new(ToHost::Interrupt), b"i\0\0\0\0"),
            (Message::new(ToHost::Continue), b"c\0\0\0\0"),
        ];
        for (message, bytes) in sent {
            assert_eq!(String::from_utf8_lossy(&encode(&message)), String::from_utf8_lossy(bytes));
        }
        let mut received = &b"o\0\0\0\x02\xff\xffr\0\0\0\0s\0\0\0\x15{\"rows\":24,\"cols\":80}\
            a\0\0\0\x07\"draft\"z\0\0\0\0x\0\0\0\x18{\"code\":null,\"signal\":9}"[..];
        for expected in [
            Message::with(FromHost::Out { end: 0 }, [0xff; 2]),
            Message::new(FromHost::Screen),
            Message::new(FromHost::Size(size)),
            Message::new(FromHost::Typed { outcome: TypingOutcome::Draft }),
            Message::new(FromHost::Suspended),
            Message::new(FromHost::exit(Exit { code: None, signal: Some(9) }, 0)),
        ] {
            assert_eq!(read(&mut received).await.unwrap(), Some(expected));
        }
        assert_eq!(read(&mut received).await.unwrap(), None);
        for broken in [&b"o\0\0\0\x05abc"[..], b"o\xff\xff\xff\xff", b"?\0\0\0\0", b"x\0\0\0\x02[]"] {
            assert!(read(&mut &*broken).await.is_err(), "{broken:?}");
        }
    }

    #[test]
    fn records_of_an_earlier_version_are_found_and_links_are_not_followed() {
        let data = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (data.path().join("terminals"), data.path().join("two.json"));
        assert_eq!(terminals(data.path()), []);
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let record = |id: &str, socket: &str| {
            format!(
                r#"{{"id":"{id}","pid":7,"proc_start":"11","host_pid":6,"socket":"{socket}","cwd":"/srv"}}"#
            )
        };
        std::fs::write(folder.join("one.json"), record("one", "one.sock")).unwrap();
        std::fs::write(folder.join("three.json"), record("four", "four.sock")).unwrap();
        std::fs::write(folder.join("five.json"), record("five", "../five.sock")).unwrap();
        std::fs::write(&elsewhere, record("two", "two.sock")).unwrap();
        symlink(&elsewhere, folder.join("two.json")).unwrap();
        let found = terminals(data.path());
        assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["one"]);
        let process = TerminalProcess { pid: 7, proc_start: Some("11".to_owned()), host_pid: 6 };
        assert_eq!(found[0].process, process);
        let _listener = std::os::unix::net::UnixListener::bind(folder.join("one.sock")).unwrap();
        assert!(found[0].connect().is_ok());
        found[0].remove();
        assert_eq!(terminals(data.path()), []);
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        std::fs::write(folder.join("one.json"), record("one", "one.sock")).unwrap();
        assert_eq!(terminals(data.path()), [], "others may read it");
    }
}
