//! `tidings schema`: schemas of Tidings' own messages, for programs in other languages.
//!
//! They are generated from the types by `make schema`, and embedded as `build.rs` compresses them: the
//! program has no code that describes its types.

use std::io;

use clap::Subcommand;

use crate::error::Exit;
use crate::output::Output;

/// The text of a file in `schema/`.
macro_rules! embedded {
    ($name:literal) => {
        text(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".zst")))
    };
}

/// Print the schema of the messages that Tidings itself sends
#[derive(Debug, Subcommand)]
pub(crate) enum SchemaCommand {
    /// JSON Schema (draft 2020-12), one document with every type under `$defs`
    Json,
    /// TypeScript, one file without imports
    Typescript,
    /// `OpenAPI` 3.1: every route of the server
    Openapi,
}

impl SchemaCommand {
    pub(crate) fn run(&self, out: &mut Output) -> anyhow::Result<Exit> {
        let text = match self {
            SchemaCommand::Json => embedded!("tidings.schema.json")?,
            SchemaCommand::Typescript => embedded!("tidings.ts")?,
            SchemaCommand::Openapi => tidings_bridge::api::openapi()?,
        };
        out.text(&text)?;
        Ok(Exit::Success)
    }
}

/// The schema of scripts for `tidings rehearse`.
pub(crate) fn of_scripts() -> io::Result<String> {
    embedded!("rehearsal.schema.json")
}

fn text(compressed: &[u8]) -> io::Result<String> {
    let text = zstd::stream::decode_all(compressed)?;
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
