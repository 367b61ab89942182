//! `tidings schema`: schemas of Tidings' own messages, for programs in other languages.
//!
//! They are generated from the types by `make schema`, and embedded as `build.rs` compresses them: a program
//! that serves needs no code that describes its types.

use clap::Subcommand;

use crate::error::Exit;
use crate::output::Output;

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
        let compressed: &[u8] = match self {
            SchemaCommand::Json => include_bytes!(concat!(env!("OUT_DIR"), "/tidings.schema.json.zst")),
            SchemaCommand::Typescript => include_bytes!(concat!(env!("OUT_DIR"), "/tidings.ts.zst")),
            SchemaCommand::Openapi => include_bytes!(concat!(env!("OUT_DIR"), "/openapi.json.zst")),
        };
        let text = zstd::stream::decode_all(compressed)?;
        out.text(std::str::from_utf8(&text)?)?;
        Ok(Exit::Success)
    }
}
