//! The only source of an export's text, so that nothing bypasses the redactor.

use std::io::Read as _;

use tidings_protocol::entry::Entry;
use tidings_protocol::json::Json;

use super::cut::size;
use crate::redact::Redactor;
use crate::roots::SessionFiles;
use crate::session::{NodeId, Session};
use crate::{ChangedInputs, Error};

/// The only source of an export's text, so that nothing bypasses the redactor.
pub(super) struct ExportSource<'s> {
    pub(super) session: &'s Session,
    files: &'s SessionFiles,
    changed_inputs: &'s ChangedInputs,
    redactor: Option<&'s mut Redactor>,
}

/// An output that was too large for its line.
pub(super) struct Persisted {
    pub(super) text: String,
    /// Size of the file in bytes; more than `text` has if that was cut.
    pub(super) bytes: u64,
}

impl<'s> ExportSource<'s> {
    pub(super) fn new(
        session: &'s Session,
        files: &'s SessionFiles,
        changed_inputs: &'s ChangedInputs,
        redactor: Option<&'s mut Redactor>,
    ) -> Self {
        ExportSource { session, files, changed_inputs, redactor }
    }

    /// The input that ran instead of the one that the model asked for, with secrets redacted if requested.
    pub(super) fn changed_input(&mut self, call: &str) -> Option<Json> {
        let input = self.changed_inputs.get(call)?;
        let Some(redactor) = &mut self.redactor else { return Some(input.clone()) };
        Json::parse(&redactor.redact_json(input.raw().as_str())).ok()
    }

    /// Reads an entry, with secrets redacted if requested.
    pub(super) fn entry(&mut self, node: NodeId) -> Result<Entry, Error> {
        let entry = self.session.entry(node)?;
        let Some(redactor) = &mut self.redactor else { return Ok(entry) };
        let Ok(text) = std::str::from_utf8(entry.raw()) else { return Ok(entry) };
        match redactor.redact_json(text) {
            std::borrow::Cow::Borrowed(_) => Ok(entry),
            std::borrow::Cow::Owned(redacted) => Entry::decode(redacted.as_bytes()).map_err(|error| {
                Error::new(
                    crate::ErrorKind::Invalid,
                    format!("Redacting secrets made an entry invalid: {error}"),
                    "please report this",
                )
            }),
        }
    }

    /// Redacts any other text from files.
    pub(super) fn text(&mut self, text: &str) -> String {
        match &mut self.redactor {
            Some(redactor) => redactor.redact(text).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Returns true if secrets are redacted.
    pub(super) fn is_redacted(&self) -> bool {
        self.redactor.is_some()
    }

    /// Redacts a line of a file.
    pub(super) fn line(&mut self, line: &str) -> String {
        match &mut self.redactor {
            Some(redactor) => redactor.redact_json(line).into_owned(),
            None => line.to_owned(),
        }
    }

    /// Reads the output file that a result names. Only a file in the session's own folder is read, whatever
    /// the path is, and only its first `bytes_max` bytes.
    pub(super) fn persisted(&mut self, path: &str, bytes_max: u64) -> Option<Persisted> {
        let name = path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty() && *name != "..")?;
        let path = self.files.tool_results().join(name);
        let metadata = std::fs::symlink_metadata(&path).ok()?;
        if !metadata.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        fs_err::File::open(&path).ok()?.take(bytes_max).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        // Binary data, such as an image, is not shown as text.
        let text = if text.contains('\0') {
            format!("[binary data: {}]", size(metadata.len()))
        } else {
            self.text(&text)
        };
        Some(Persisted { text, bytes: metadata.len() })
    }
}
