//! Rule: an output that was too large for its line is stored beside the session.

use std::path::Path;

use tidings_protocol::json::Text;

use super::super::context::{Check, CheckedEntry, File, Findings};
use crate::{Rule, Severity};

const RULE: Rule = Rule::new("missing-output");

/// An output that was too large for its line is stored beside the session.
#[derive(Debug)]
pub(super) struct MissingOutput;

impl Check for MissingOutput {
    fn entry(&mut self, seen: &CheckedEntry<'_>, file: &File<'_>, found: &mut Findings) {
        let Some(folder) = file.role.tool_results() else { return };
        let Some(path) = seen.tool_use_result().and_then(|result| result.get("persistedOutputPath")) else {
            return;
        };
        let Some(path) = path.text().map(Text::get) else { return };
        // Only the file name is used: sessions are copied to other places, and paths inside a session file
        // are not trusted.
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        if Path::new(name).file_name().is_some_and(|name| folder.join(name).is_file()) {
            return;
        }
        let message = format!("The output file of the tool is not in the session's folder: `{path}`");
        found.about(RULE, Severity::Note, seen, message);
    }
}
