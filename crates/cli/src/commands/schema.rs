//! `tidings schema`: schemas of Tidings' own messages, for programs in other languages.
//!
//! They are generated from the types by `make schema` and embedded: a program that serves needs no code that
//! describes its types.

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
        out.text(match self {
            SchemaCommand::Json => include_str!(concat!(env!("TIDINGS_SCHEMA"), "/tidings.schema.json")),
            SchemaCommand::Typescript => include_str!(concat!(env!("TIDINGS_SCHEMA"), "/tidings.ts")),
            SchemaCommand::Openapi => include_str!(concat!(env!("TIDINGS_SCHEMA"), "/openapi.json")),
        })?;
        Ok(Exit::Success)
    }
}
