//! Compressing one file, and reading the copy back.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use tidings_base::files::{self, NewFile};

use super::checksum::Checksum;
use crate::error::At as _;
use crate::limits::BLOCK_BYTES;
use crate::{Error, ErrorKind};

/// Higher levels hardly make sessions smaller and take several times as long.
const LEVEL: i32 = 6;

/// Size and SHA-256 of a file's contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Copies `source` to `target`, which is put in place only after it was read back. Returns the sum of the
/// contents and the size of the copy.
pub(super) fn compress(source: &Path, target: &Path) -> Result<(Sum, u64), Error> {
    let (sum, stored_bytes, part) = prepare(source, target)?;
    part.put().at("write", target)?;
    Ok((sum, stored_bytes))
}

/// Like [`compress`], but leaves putting the file in place to the caller.
pub(super) fn prepare(source: &Path, target: &Path) -> Result<(Sum, u64, NewFile), Error> {
    let file = File::open(source).at("read", source)?;
    // Bytes appended meanwhile are copied next time.
    let len = file.metadata().at("read", source)?.len();
    let written = write_compressed(file.take(len), begin(target)?);
    let (sum, stored) = written.at("copy", source)?;
    stored.file().sync_all().at("write", stored.path())?;
    let stored_bytes = stored.file().metadata().at("write", stored.path())?.len();
    if sum_of_copy(stored.path())? != sum {
        let message = format!("The copy of `{}` does not read back as it was written", source.display());
        return Err(Error::new(ErrorKind::Io, message, "check the disk of the archive"));
    }
    Ok((sum, stored_bytes, stored))
}

/// The sum of a copy's contents.
pub(super) fn sum_of_copy(copy: &Path) -> Result<Sum, Error> {
    let file = File::open(copy).at("read", copy)?;
    let decoder = zstd::stream::read::Decoder::new(file).at("read", copy)?;
    sum(decoder).at("unpack", copy)
}

/// The sum of a file's first bytes; of all of them if it is shorter.
pub(super) fn sum_of_beginning(path: &Path, bytes: u64) -> Result<Sum, Error> {
    sum(File::open(path).at("read", path)?.take(bytes)).at("read", path)
}

/// The sum of the first bytes of a copy's contents.
pub(super) fn sum_of_copy_beginning(copy: &Path, bytes: u64) -> Result<Sum, Error> {
    let file = File::open(copy).at("read", copy)?;
    let decoder = zstd::stream::read::Decoder::new(file).at("read", copy)?;
    sum(decoder.take(bytes)).at("unpack", copy)
}

/// Durability of an unpacked file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// It is on disk before it is put in place.
    Synced,
    /// It is used for a moment, and may be lost.
    Scratch,
}

/// Unpacks a copy to `target`, which is put in place only if it has the expected sum.
pub(super) fn unpack(
    copy: &Path,
    target: &Path,
    expected: &Sum,
    durability: Durability,
) -> Result<(), Error> {
    let file = File::open(copy).at("read", copy)?;
    let decoder = zstd::stream::read::Decoder::new(file).at("read", copy)?;
    let mut both = HashingWriter(begin(target)?, Checksum::default());
    let copied = pass(decoder, &mut both).at("unpack", copy);
    let HashingWriter(unpacked, hash) = both;
    let found = Sum { bytes: hash.bytes(), sha256: hash.finish() };
    copied?;
    if found != *expected {
        let message = format!("The copy `{}` is not what was archived", copy.display());
        return Err(Error::new(ErrorKind::Io, message, "the archive is damaged; restore it from a backup"));
    }
    if durability == Durability::Synced {
        unpacked.file().sync_all().at("write", unpacked.path())?;
    }
    unpacked.put().at("write", target)
}

/// Begins a file that takes the place of `path` when it is complete.
pub(super) fn begin(path: &Path) -> Result<NewFile, Error> {
    if let Some(folder) = path.parent() {
        files::create_private_folder(folder).at("create", folder)?;
    }
    NewFile::beside(path).at("write", path)
}

fn write_compressed(source: impl Read, target: NewFile) -> io::Result<(Sum, NewFile)> {
    let mut encoder = zstd::stream::write::Encoder::new(target, LEVEL)?;
    encoder.include_checksum(true)?;
    let mut both = HashingWriter(encoder, Checksum::default());
    pass(source, &mut both)?;
    let HashingWriter(encoder, hash) = both;
    let target = encoder.finish()?;
    Ok((Sum { bytes: hash.bytes(), sha256: hash.finish() }, target))
}

fn sum(source: impl Read) -> io::Result<Sum> {
    let mut hash = Checksum::default();
    pass(source, &mut hash)?;
    Ok(Sum { bytes: hash.bytes(), sha256: hash.finish() })
}

fn pass(source: impl Read, target: &mut impl Write) -> io::Result<u64> {
    io::copy(&mut BufReader::with_capacity(BLOCK_BYTES, source), target)
}

/// Writes to a file and hashes the written bytes.
struct HashingWriter<W>(W, Checksum);

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
