//! Schemas of Tidings' own messages, for programs in other languages.
//!
//! They are generated from the types by `make schema`, and embedded as `build.rs` compresses them: the
//! program has no code that describes its types.

use std::io;

/// The text of a file in `schema/`.
macro_rules! embedded {
    ($name:literal) => {
        text(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".zst")))
    };
}

/// JSON Schema of the messages.
pub fn json() -> io::Result<String> {
    embedded!("tidings.schema.json")
}

/// TypeScript of the messages.
pub fn typescript() -> io::Result<String> {
    embedded!("tidings.ts")
}

/// The schema of scripts for `tidings rehearse`.
pub(crate) fn of_scripts() -> io::Result<String> {
    embedded!("rehearsal.schema.json")
}

fn text(compressed: &[u8]) -> io::Result<String> {
    let text = zstd::stream::decode_all(compressed)?;
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
