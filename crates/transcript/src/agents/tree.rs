//! Files below a root, and the values in them. Links are not followed, so that nothing outside of the root is
//! read.

use std::fs::{DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tidings_protocol::json::Raw;

use super::ReadReport;
use crate::blocks::Buffer;
use crate::error::At as _;
use crate::limits::{AGENT_FILES_MAX, AGENT_INDEX_BYTES_MAX};
use crate::reader::{Content, Reader};
use crate::roots::FileInfo;
use crate::{Error, ErrorKind};

/// Number of characters of a prompt that serve as a title.
const TITLE_CHARS: usize = 200;

/// The root itself, which may be a link.
pub(super) fn root(root: &Path) -> Result<PathBuf, Error> {
    let found = std::fs::canonicalize(root).at("look at", root)?;
    if found.is_dir() {
        return Ok(found);
    }
    let message = format!("Not a folder: `{}`", root.display());
    Err(Error::new(ErrorKind::Invalid, message, "give the folder in which the agent keeps its data"))
}

/// Returns the regular files below `folder`, at most `depth` folders deep, sorted by path. A missing folder
/// has none.
pub(super) fn files_below(folder: &Path, depth: usize, unreadable: &mut Vec<Error>) -> Vec<FileInfo> {
    let mut found = Vec::new();
    let mut waiting = vec![(folder.to_owned(), depth)];
    let mut seen = 0;
    // The folder itself must not be a link either.
    if std::fs::symlink_metadata(folder).is_ok_and(|metadata| !metadata.is_dir()) {
        return found;
    }
    while let Some((folder, depth)) = waiting.pop() {
        let listed = match std::fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                unreadable.push(Error::io("look into", &folder, error));
                continue;
            }
        };
        for entry in listed {
            seen += 1;
            if seen > AGENT_FILES_MAX {
                let message = format!("Too many files below `{}`; the rest are left out", folder.display());
                unreadable.push(Error::new(ErrorKind::Invalid, message, "move what is not a session away"));
                found.sort_by(|a: &FileInfo, b| a.path.cmp(&b.path));
                return found;
            }
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) if kind.is_dir() && depth > 0 => waiting.push((entry.path(), depth - 1)),
                Ok((kind, entry)) if kind.is_file() => match info(&entry) {
                    Ok(info) => found.push(info),
                    Err(error) => unreadable.push(error),
                },
                Ok(_) => {}
                Err(error) => unreadable.push(Error::io("look into", &folder, error)),
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn info(entry: &DirEntry) -> Result<FileInfo, Error> {
    FileInfo::of(&entry.path())
}

/// Opens a regular file that is not a link.
pub(super) fn open(path: &Path) -> io::Result<File> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a link or not a regular file"));
    }
    File::open(path)
}

/// Reads a small file as text; `None` if it is missing, too large or not text.
pub(super) fn small_text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(AGENT_INDEX_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= AGENT_INDEX_BYTES_MAX).then_some(())?;
    String::from_utf8(bytes).ok()
}

/// Calls `each` for every JSON object in a file of lines, with the number of its line. Damaged lines go into
/// the report, and whole objects inside of them are salvaged.
pub(super) fn each_object(
    source: impl Read,
    report: &mut ReadReport,
    mut each: impl FnMut(u64, Raw<'_>, &mut ReadReport),
) -> io::Result<()> {
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(source, &mut buffer);
    while let Some(line) = reader.next()? {
        if let Some(finding) = line.finding() {
            report.damage(finding);
        }
        match line.content {
            Content::Entry(entry) => {
                report.records += 1;
                each(line.place.line, entry.json(), report);
            }
            Content::Damaged(damage) => {
                report.records += 1;
                for saved in &damage.salvaged {
                    each(line.place.line, saved.entry.as_ref().json(), report);
                }
            }
            Content::Blank => {}
        }
    }
    Ok(())
}

/// Calls `each` for every line of a file, as it is.
pub(super) fn each_line(
    source: impl Read,
    path: &Path,
    each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut buffer = Buffer::default();
    let mut reader = Reader::new(source, &mut buffer);
    while let Some(line) = reader.next().at("read", path)? {
        if !matches!(line.content, Content::Blank) {
            each(line.bytes)?;
        }
    }
    Ok(())
}

/// The beginning of a prompt, which serves as a title.
pub(super) fn beginning(prompt: &str) -> String {
    prompt.trim().chars().take(TITLE_CHARS).collect()
}

/// JSON without line ends; those inside of strings are escaped anyway.
pub(super) fn one_line(json: Raw<'_>) -> String {
    json.as_str().replace(['\n', '\r'], " ")
}

/// The decoded string at a key.
pub(super) fn string(object: Raw<'_>, key: &str) -> Option<String> {
    object.get(key).and_then(Raw::text).map(|text| text.get().into_owned())
}

/// A time as text, ISO 8601.
pub(super) fn time(text: Option<&str>) -> Option<jiff::Timestamp> {
    text?.parse().ok()
}
