//! SHA-256 checksums, which the standard tools of any system can verify.

use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

/// Checksum of the bytes written to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Checksum {
    hash: Sha256,
    bytes: u64,
}

impl Checksum {
    /// Number of bytes that were hashed.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }

    /// The checksum, in hexadecimal digits.
    pub(super) fn finish(self) -> String {
        tidings_base::hex::hex(&self.hash.finalize())
    }
}

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
