//! Hosts that hold a terminal, as `tidings attach` and the server find them.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use tidings_base::files;
use uuid::Uuid;

use super::{TerminalReader, TerminalWriter};
use crate::error::{Error, ErrorKind};
use crate::host::folder::{TerminalProcess, check_folder_of_hosts};
use crate::host::old_wires::{self, OldTerminal};
use crate::host::start::TerminalStart;
use crate::host::wire::{FromHost, Message, TerminalRole, ToHost};
use crate::host::{HostFolder, LEASE, Record, Start};
use crate::limits::HOST_ANSWER;
use crate::transport::{NewHost, socket};

/// Characters of the id of a host, which users type.
const ID_CHARS: usize = 10;

/// A host that holds a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalHost {
    /// Its id.
    pub id: String,
    /// Its processes.
    pub process: TerminalProcess,
    pub(in crate::host) address: Address,
}

/// The way to a host.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::host) enum Address {
    /// Its folder, and the secret of its record.
    Folder(HostFolder, String),
    /// A host of an earlier version.
    Old(OldTerminal),
}

impl TerminalHost {
    /// A new id.
    pub fn new_id() -> String {
        Uuid::new_v4().simple().to_string()[..ID_CHARS].to_owned()
    }

    /// Starts a host with a program in a terminal, and connects to it. `program` and `args` start a host,
    /// such as `tidings host`.
    ///
    /// A program may end at once: then its output and its exit come over this connection only.
    pub async fn start(
        data: &Path,
        id: String,
        (program, args): (&Path, &[&str]),
        mut start: TerminalStart,
    ) -> Result<(Self, TerminalReader, TerminalWriter), Error> {
        let failed = |source: io::Error| {
            Error::new(ErrorKind::Spawn, "Failed to start the host of the terminal", "check the data folder")
                .caused_by(source)
        };
        let hosts = data.join("hosts");
        files::create_private_folder(&hosts).and_then(|()| check_folder_of_hosts(&hosts)).map_err(failed)?;
        clean(data);
        let folder = HostFolder::new(hosts.join(&id));
        let secret = Uuid::new_v4().to_string();
        let record = Record {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            id: id.clone(),
            session: String::new(),
            secret: secret.clone(),
            started: String::new(),
            note: String::new(),
            terminal: Some(TerminalProcess::default()),
        };
        let args = args.iter().map(Into::into).collect();
        let new = NewHost { program: program.to_owned(), args, record, lease: LEASE, spool_bytes_max: None };
        let host_pid = socket::spawn(&folder, &new).map_err(failed)?;
        if let (Some(name), Some(pid)) = (&start.host_variable, host_pid) {
            start.env.insert(name.into(), pid.to_string().into());
        }
        let address = Address::Folder(folder.clone(), secret);
        let (host, size) = (TerminalHost { id, process: TerminalProcess::default(), address }, start.size);
        let start = serde_json::to_vec(&Start::of_terminal(start)).map_err(|error| failed(error.into()))?;
        let launched = async {
            let opening = [Message::with(ToHost::Start, start)];
            let connected = host.open(&opening, TerminalRole::Keys, Some(size)).await;
            let (mut reader, writer) = connected.map_err(failed)?;
            started(&mut reader).await.map(|()| (reader, writer))
        };
        let silent = |_| failed(io::ErrorKind::TimedOut.into());
        let launched = tokio::time::timeout(HOST_ANSWER, launched).await.map_err(silent)?;
        let (reader, writer) = launched?;
        // It is gone if the program has ended.
        let process = folder.record().ok().and_then(|record| record.terminal).unwrap_or_default();
        Ok((TerminalHost { process, ..host }, reader, writer))
    }

    /// The hosts of a data folder. Whether one still runs shows when it is connected to.
    pub fn list(data: &Path) -> Vec<Self> {
        let hosts = data.join("hosts");
        let is_ours = check_folder_of_hosts(&hosts).is_ok();
        let entries =
            is_ours.then(|| std::fs::read_dir(hosts).ok()).flatten().into_iter().flatten().flatten();
        let read = |entry: std::fs::DirEntry| {
            let folder = HostFolder::new(entry.path());
            let record = folder.record().ok()?;
            let process = record.terminal.filter(|_| entry.file_name() == record.id.as_str())?;
            Some(TerminalHost { id: record.id, process, address: Address::Folder(folder, record.secret) })
        };
        entries.filter_map(read).chain(old_wires::terminals(data).into_iter().map(Into::into)).collect()
    }

    /// The host whose terminal a process runs in.
    pub fn find(data: &Path, pid: u32, proc_start: Option<&str>) -> Option<Self> {
        Self::list(data).into_iter().find(|host| {
            let is_same_start = match (&host.process.proc_start, proc_start) {
                (Some(left), Some(right)) => left == right,
                _ => true,
            };
            host.process.pid == pid && is_same_start
        })
    }

    /// True if the host runs.
    pub fn is_alive(&self) -> bool {
        self.connect().is_ok()
    }

    pub(super) fn connect(&self) -> io::Result<UnixStream> {
        match &self.address {
            Address::Folder(folder, _) => folder.connect(),
            Address::Old(old) => old.connect(),
        }
    }
}

/// Waits for the first message about the screen.
async fn started(reader: &mut TerminalReader) -> Result<(), Error> {
    let ended = || Error::new(ErrorKind::Spawn, "The process that holds the terminal ended at once", "");
    loop {
        match reader.next().await.map_err(|error| ended().caused_by(error))?.ok_or_else(ended)?.head {
            FromHost::Size(_) => return Ok(()),
            FromHost::Failed { message, hint, .. } => {
                return Err(Error::new(ErrorKind::Spawn, message, hint));
            }
            FromHost::Refused { message, .. } => return Err(Error::new(ErrorKind::Spawn, message, "")),
            _ => {}
        }
    }
}

/// Removes what killed hosts left behind.
fn clean(data: &Path) {
    for host in TerminalHost::list(data).iter().filter(|host| !host.is_alive()) {
        match &host.address {
            // A folder that cannot be removed is tried again the next time.
            Address::Folder(folder, _) => drop(folder.remove()),
            Address::Old(old) => old.remove(),
        }
    }
}

/// Omits the secret.
impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Folder(folder, _) => f.debug_tuple("Folder").field(folder).finish(),
            Address::Old(old) => f.debug_tuple("Old").field(old).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn record(id: &str, terminal: Option<TerminalProcess>) -> Record {
        let text = String::new;
        let (program, session, secret) = (text(), text(), "s3".to_owned());
        Record { program, id: id.to_owned(), session, secret, started: text(), note: text(), terminal }
    }

    #[test]
    fn a_host_is_found_by_its_process_and_links_are_not_followed() {
        let data = tempfile::tempdir().unwrap();
        let hosts = data.path().join("hosts");
        let folder = |name: &str| HostFolder::new(hosts.join(name));
        assert_eq!(TerminalHost::list(data.path()), []);
        files::create_private_folder(&hosts).unwrap();
        let process = TerminalProcess { pid: 7, proc_start: Some("11".to_owned()), host_pid: 6 };
        let listener = folder("one").create(&record("one", Some(process.clone()))).unwrap();
        let ended = TerminalProcess { pid: 8, ..process.clone() };
        drop(folder("ended").create(&record("ended", Some(ended))).unwrap());
        drop(folder("pipes").create(&record("pipes", None)).unwrap());
        drop(folder("three").create(&record("four", Some(process))).unwrap());
        symlink(hosts.join("one"), hosts.join("two")).unwrap();
        let find = |pid, start| TerminalHost::find(data.path(), pid, start).map(|found| found.id);
        assert_eq!(find(7, Some("11")).as_deref(), Some("one"));
        assert_eq!(find(7, Some("12")), None, "another process has the number now");
        assert_eq!(find(9, None), None);
        assert_eq!(TerminalHost::list(data.path()).len(), 2);
        clean(data.path());
        assert_eq!((find(7, None).as_deref(), find(8, None)), (Some("one"), None), "it has ended");
        assert!(folder("pipes").path().exists(), "the server reads what is left of those");
        drop(listener);
        clean(data.path());
        assert_eq!(TerminalHost::list(data.path()), []);
    }
}
