//! Inputs of tool calls that people changed before the calls ran.

use tidings_journal::{JOURNAL_FILE, SqliteJournal};
use tidings_transcript::ChangedInputs;

use super::RootArgs;
use crate::output::Output;

/// Reads the changed inputs from the server's journal; the files of the sessions do not have them.
pub(crate) fn read(out: &Output) -> anyhow::Result<ChangedInputs> {
    let journal = RootArgs::data_folder().map(|data| data.join(JOURNAL_FILE));
    let Some(journal) = journal.filter(|journal| journal.exists()) else {
        return Ok(ChangedInputs::default());
    };
    match SqliteJournal::read_changed_inputs(&journal) {
        Ok(answers) => Ok(answers.into_iter().collect()),
        Err(error) => {
            out.note(&format!("Inputs that were changed before they ran are missing: {error}"))?;
            Ok(ChangedInputs::default())
        }
    }
}
