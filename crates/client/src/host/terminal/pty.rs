//! A pseudo-terminal, and the program in it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetpgrp, tcsetwinsize};

use crate::host::wire::TerminalSize;

/// Opens a pseudo-terminal as the controlling terminal of this process, which must lead a session without
/// one, and starts the program as its foreground job. Returns the other end of the terminal.
///
/// The program has a parent in its session. Without one the system would not let it suspend itself.
pub(super) fn start(mut command: Command, size: TerminalSize) -> io::Result<(OwnedFd, Pid)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    resize(&master, size)?;
    let name = ptsname(&master, Vec::new())?;
    let name = PathBuf::from(name.into_string().map_err(|_| io::ErrorKind::InvalidData)?);
    let terminal = OpenOptions::new().read(true).write(true).open(name)?;
    rustix::process::ioctl_tiocsctty(&terminal)?;
    let standard = || -> io::Result<File> { terminal.try_clone() };
    command.stdin(standard()?).stdout(standard()?).stderr(standard()?).process_group(0);
    let child = command.spawn()?;
    // It is reaped by number, together with what its tools leave behind.
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
    tcsetpgrp(&terminal, pid)?;
    Ok((master, pid))
}

/// Sets the size of a terminal. The program is told.
pub(super) fn resize(master: impl AsFd, size: TerminalSize) -> io::Result<()> {
    let TerminalSize { rows, cols } = size.bounded();
    Ok(tcsetwinsize(master, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?)
}
