//! The facts about a session that its policy needs.

use std::path::Path;

use tidings_agent::permissions::{SessionFacts, SessionFolder, SessionKind};

use crate::Config;
use crate::live_session::Memory;

/// The facts about a session that this server drives. Its folder is the one that the server starts the agent
/// in, so that it is known before the agent says anything, and after a restart of the server.
pub(crate) fn of(memory: &Memory, config: &Config) -> SessionFacts {
    let folder = SessionFolder::on_disk(&memory.row.cwd);
    SessionFacts::new(folder, SessionKind::Driven, memory.settings.sources.clone(), protected(config))
}

/// The protected folders, also as they are written with the home folder's short name.
fn protected(config: &Config) -> Vec<String> {
    let home =
        config.home().map(Path::new).map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
    let mut protected = Vec::new();
    for folder in &config.protected {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let below_home =
            home.as_ref().and_then(|home| real.strip_prefix(home).ok()).map(|rest| Path::new("~").join(rest));
        let forms = [Some(folder.clone()), Some(real.clone()), below_home];
        for form in forms.into_iter().flatten() {
            if let Some(form) = form.to_str().map(str::to_owned).filter(|form| !protected.contains(form)) {
                protected.push(form);
            }
        }
    }
    protected
}
