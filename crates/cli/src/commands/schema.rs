//! `tidings schema`: schemas of Tidings' own messages, for programs in other languages.

use clap::Subcommand;
use tidings_commands::error::Exit;
use tidings_commands::output::Output;
use tidings_commands::schema;

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
            SchemaCommand::Json => schema::json()?,
            SchemaCommand::Typescript => schema::typescript()?,
            SchemaCommand::Openapi => tidings_bridge::api::openapi()?,
        };
        out.text(&text)?;
        Ok(Exit::Success)
    }
}
