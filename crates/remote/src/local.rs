//! A server on this machine: what it leaves in its data folder.

use std::fs::Metadata;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tidings_base::files;

use crate::error::{Error, ErrorKind};

/// Name of the server's socket in its data folder, unless the file [`SOCKET_NOTE`] there names another.
pub const SOCKET: &str = "server.sock";

/// File in the data folder in which a server records the path of its socket.
pub const SOCKET_NOTE: &str = "socket-path";

/// File in the data folder in which a server records the path in front of its routes.
pub const BASE_PATH_NOTE: &str = "base-path";

/// File in the data folder with the admin token, which is accepted on the socket only.
const TOKEN: &str = "token";

/// Beginning of every credential.
const TOKEN_PREFIX: &str = "tidings_";

/// Number of hexadecimal digits after it.
const TOKEN_DIGITS: usize = 64;

/// Maximum length of such a file.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The socket, base path and admin token of a server.
pub(crate) struct LocalServer {
    pub(crate) socket: PathBuf,
    pub(crate) base_path: String,
    pub(crate) token: String,
}

impl LocalServer {
    pub(crate) fn find(data: &Path) -> Result<Self, Error> {
        let note = |name: &str| std::fs::read_to_string(data.join(name)).ok();
        let Some(token) = read_token(&data.join(TOKEN))? else { return Err(not_running(data)) };
        let socket = note(SOCKET_NOTE).map_or_else(|| data.join(SOCKET), PathBuf::from);
        if !socket.exists() {
            return Err(not_running(data));
        }
        Ok(LocalServer { socket, base_path: note(BASE_PATH_NOTE).unwrap_or_default(), token })
    }
}

/// Reads the admin token. A file that another user could have written, or could have read, is refused.
fn read_token(path: &Path) -> Result<Option<String>, Error> {
    let failed = |error: io::Error| Error::new(ErrorKind::DataFolder, error.to_string(), "move it away");
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    check_owner(&file.metadata().map_err(failed)?, path)?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    let token = text.trim();
    let digits = token.strip_prefix(TOKEN_PREFIX).unwrap_or_default();
    if digits.len() == TOKEN_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(Some(token.to_owned()));
    }
    let message = format!("Not a token of this program: `{}`", path.display());
    Err(Error::new(ErrorKind::DataFolder, message, "remove the file; the next start creates a new one"))
}

#[cfg(unix)]
fn check_owner(found: &Metadata, path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::MetadataExt as _;
    let refused = |problem: &str, hint: &str| {
        Err(Error::new(ErrorKind::NotPrivate, format!("{problem}: `{}`", path.display()), hint))
    };
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refused("Owned by another user", "name another folder with --data");
    }
    if found.mode() & 0o077 != 0 {
        return refused("Accessible to other users", "remove their permissions with `chmod go-rwx`");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Metadata, _: &Path) -> Result<(), Error> {
    Ok(())
}

pub(crate) fn not_running(data: &Path) -> Error {
    let message = format!("No server is running with the data folder `{}`", data.display());
    let hint = "start it with `tidings serve`, or name its data folder with --data";
    Error::new(ErrorKind::NotRunning, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(token: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut file = files::create_private(&folder.path().join(TOKEN)).unwrap();
        std::io::Write::write_all(&mut file, token.as_bytes()).unwrap();
        folder
    }

    #[test]
    fn only_the_form_of_a_token_is_a_token() {
        let token = format!("{TOKEN_PREFIX}{}", "0a".repeat(32));
        let found = folder(&format!("{token}\n"));
        assert_eq!(read_token(&found.path().join(TOKEN)).unwrap(), Some(token.clone()));
        assert_eq!(read_token(&found.path().join("none")).unwrap(), None);
        for wrong in ["", "admin", "tidings_", &token[..token.len() - 1]] {
            let error = read_token(&folder(wrong).path().join(TOKEN)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DataFolder, "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_other_users_may_read_or_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = folder(&format!("{TOKEN_PREFIX}{}", "0a".repeat(32)));
        let path = folder.path().join(TOKEN);
        for mode in [0o640, 0o620, 0o604, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = read_token(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotPrivate, "{mode:o}");
            assert_eq!(error.code(), tidings_api::Code::Forbidden);
        }
    }
}
