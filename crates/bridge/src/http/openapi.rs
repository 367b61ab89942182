//! The `OpenAPI` document that the server sends: `make schema` writes it, and the program embeds it.

use std::io;

use serde_json::Value;

/// As `build.rs` compresses it.
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.zst"));

/// The description of every route, as `OpenAPI` 3.1.
pub fn openapi() -> io::Result<String> {
    let text = zstd::stream::decode_all(COMPRESSED)?;
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The same as a value.
pub(crate) fn document() -> io::Result<Value> {
    Ok(serde_json::from_str(&openapi()?)?)
}
