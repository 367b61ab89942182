//! One file, compressed and read back.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::sha256::Sha256;
use crate::error::At as _;
use crate::limits::BLOCK_BYTES;
use crate::{Error, ErrorKind};

/// Beyond this, sessions hardly get smaller and copying takes several times as long.
const LEVEL: i32 = 6;

/// What a file or a copy holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Copies `source` to `target`, which takes its place only once it has been read back; gives what was copied and how
/// large the copy is.
pub(super) fn compress(source: &Path, target: &Path) -> Result<(Sum, u64), Error> {
    let (sum, stored_bytes, part) = prepare(source, target)?;
    part.put(target)?;
    Ok((sum, stored_bytes))
}

/// The same, without putting it there yet.
pub(super) fn prepare(source: &Path, target: &Path) -> Result<(Sum, u64, Part), Error> {
    let file = File::open(source).at("read", source)?;
    // What is appended meanwhile is for the next time.
    let len = file.metadata().at("read", source)?.len();
    let (stored, part) = create_private(target)?;
    let written = write_compressed(file.take(len), stored);
    let (sum, stored) = written.at("copy", source)?;
    stored.sync_all().at("write", &part.path)?;
    let stored_bytes = stored.metadata().at("write", &part.path)?.len();
    if sum_of_copy(&part.path)? != sum {
        let message = format!("The copy of `{}` does not read back as it was written", source.display());
        return Err(Error::new(ErrorKind::Io, message, "check the disk that the archive is on"));
    }
    Ok((sum, stored_bytes, part))
}

/// What a copy holds.
pub(super) fn sum_of_copy(copy: &Path) -> Result<Sum, Error> {
    let file = File::open(copy).at("read", copy)?;
    let decoder = zstd::stream::read::Decoder::new(file).at("read", copy)?;
    sum(decoder).at("unpack", copy)
}

/// What the first bytes of a file hold; fewer if it is shorter.
pub(super) fn sum_of_beginning(path: &Path, bytes: u64) -> Result<Sum, Error> {
    sum(File::open(path).at("read", path)?.take(bytes)).at("read", path)
}

/// What the first bytes of a copy hold.
pub(super) fn sum_of_copy_beginning(copy: &Path, bytes: u64) -> Result<Sum, Error> {
    let file = File::open(copy).at("read", copy)?;
    let decoder = zstd::stream::read::Decoder::new(file).at("read", copy)?;
    sum(decoder.take(bytes)).at("unpack", copy)
}

/// Unpacks a copy to `target`, which takes its place only if it holds what is expected.
pub(super) fn unpack(copy: &Path, target: &Path, expected: &Sum) -> Result<(), Error> {
    let file = File::open(copy).at("read", copy)?;
    let decoder = zstd::stream::read::Decoder::new(file).at("read", copy)?;
    let (unpacked, part) = create_private(target)?;
    let mut both = Both(unpacked, Sha256::default());
    let copied = pass(decoder, &mut both).at("unpack", copy);
    let Both(unpacked, hash) = both;
    let found = Sum { bytes: hash.bytes(), sha256: hash.finish() };
    copied?;
    if found != *expected {
        let message = format!("The copy `{}` is not what was archived", copy.display());
        return Err(Error::new(ErrorKind::Io, message, "the archive is damaged; a backup of it may help"));
    }
    unpacked.sync_all().at("write", &part.path)?;
    part.put(target)
}

/// A file that is not complete yet. Unless it is put in its place it is removed, so that a disk that is full does not
/// stay so because of it.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
    is_put: bool,
}

impl Part {
    /// Puts it in its place.
    pub(super) fn put(mut self, target: &Path) -> Result<(), Error> {
        std::fs::rename(&self.path, target).at("write", target)?;
        self.is_put = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_put {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// A file beside `path` that only its owner may read, to be put there once it is complete.
pub(super) fn create_private(path: &Path) -> Result<(File, Part), Error> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder).at("create", folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok((options.open(&part).at("write", &part)?, Part { path: part, is_put: false }))
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn write_compressed(source: impl Read, target: File) -> io::Result<(Sum, File)> {
    let mut encoder = zstd::stream::write::Encoder::new(target, LEVEL)?;
    encoder.include_checksum(true)?;
    let mut both = Both(encoder, Sha256::default());
    pass(source, &mut both)?;
    let Both(encoder, hash) = both;
    let target = encoder.finish()?;
    Ok((Sum { bytes: hash.bytes(), sha256: hash.finish() }, target))
}

fn sum(source: impl Read) -> io::Result<Sum> {
    let mut hash = Sha256::default();
    pass(source, &mut hash)?;
    Ok(Sum { bytes: hash.bytes(), sha256: hash.finish() })
}

fn pass(source: impl Read, target: &mut impl Write) -> io::Result<u64> {
    io::copy(&mut BufReader::with_capacity(BLOCK_BYTES, source), target)
}

/// Writes to a file and sums up what it writes.
struct Both<W>(W, Sha256);

impl<W: Write> Write for Both<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
