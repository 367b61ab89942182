//! Attachments of prompts. Events only list their types.

use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tidings_api::{Attachment, Code};
use tidings_protocol::json::{Raw, Text};
use tidings_protocol::view::Block;
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::session::{EntryRole, LaneId, Session as OnDisk};

use crate::starting::import;
use crate::{Caller, Error, Sessions, view};

/// Location of the attachments of a prompt.
#[derive(Debug)]
pub enum AttachmentSource {
    /// In the queue of the server, until the prompt was answered.
    Queue(Vec<Attachment>),
    /// In the session file of the CLI.
    OnDisk(CliSessionFiles),
}

/// The session files of a session, the newest last: those that it continues, and its own.
#[derive(Debug, Clone)]
pub struct CliSessionFiles {
    config_dir: Option<PathBuf>,
    cli_sessions: Vec<String>,
    /// The CLI may still write to the newest one.
    pub is_agent_alive: bool,
}

impl Sessions {
    /// Locates the attachments of a prompt.
    pub async fn attachments(&self, name: &str, prompt: &str) -> Result<AttachmentSource, Error> {
        let row = self.row(name).await?;
        let settings = self.settings(&row).await;
        if let Some(queued) = settings.queue.into_iter().find(|queued| queued.id == prompt) {
            return Ok(AttachmentSource::Queue(queued.attachments));
        }
        // The prompt may have left the queue a moment ago, together with the first id of the CLI.
        Ok(AttachmentSource::OnDisk(self.session_files(name).await?))
    }

    /// Locates the session files of a session.
    pub(super) async fn session_files(&self, name: &str) -> Result<CliSessionFiles, Error> {
        let row = self.row(name).await?;
        let settings = self.settings(&row).await;
        let config_dir = self.config().config_dir(settings.launch.demo).map(Path::to_owned);
        let is_agent_alive = view::has_agent(view::phase(&row.state));
        let cli_sessions = settings.continued.into_iter().chain(row.cli_sessions).collect();
        Ok(CliSessionFiles { config_dir, cli_sessions, is_agent_alive })
    }
}

impl CliSessionFiles {
    /// Finds the files, the newest first. A session that continues under another id leaves files behind,
    /// which the CLI removes some day. It blocks on the disk.
    pub(super) fn find(&self, caller: &Caller) -> Vec<SessionFiles> {
        let Some(config_dir) = &self.config_dir else { return Vec::new() };
        let ids = self.cli_sessions.iter().rev();
        ids.filter_map(|id| import::find(config_dir.clone(), caller, id).ok()).collect()
    }

    /// Searches the files for the prompt and reads its attachments. It blocks on the disk.
    pub fn attachments(&self, caller: &Caller, prompt: &str) -> Result<Vec<Attachment>, Error> {
        for files in self.find(caller) {
            match attachments(&files, prompt) {
                Err(error) if error.code() == Code::NotFound => {}
                read => return read,
            }
        }
        Err(no_prompt(prompt))
    }
}

/// The attachments of a prompt in a session file.
pub fn attachments(files: &SessionFiles, prompt: &str) -> Result<Vec<Attachment>, Error> {
    let session = OnDisk::open(files)?;
    if let Some(node) = session.by_uuid(LaneId::MAIN, prompt) {
        let entry = session.entry(node)?;
        let entry = entry.as_ref();
        let blocks = entry.content_blocks().filter_map(|block| match block {
            Block::Other(raw) => attachment(raw),
            _ => None,
        });
        let said_between = entry.get("attachment").and_then(|queued| queued.get("prompt"));
        let between = said_between.into_iter().flat_map(Raw::items).filter_map(attachment);
        return Ok(blocks.chain(between).collect());
    }
    // A prompt that was steered into a turn has an entry with an id of its own, which refers to the prompt.
    for node in session.ids().filter(|node| session.node(*node).part == EntryRole::Attachment) {
        let entry = session.entry(node)?;
        let Some(queued) = entry.as_ref().get("attachment") else { continue };
        if queued.get("source_uuid").and_then(Raw::text).is_some_and(|source| source == *prompt) {
            let blocks = queued.get("prompt").into_iter().flat_map(Raw::items);
            return Ok(blocks.filter_map(attachment).collect());
        }
    }
    Err(no_prompt(prompt))
}

/// A block that contains a picture or a file. One that only refers to it is ignored.
fn attachment(block: Raw<'_>) -> Option<Attachment> {
    let string =
        |raw: Raw<'_>, key| raw.get(key).and_then(Raw::text).map(|text: Text<'_>| text.get().into_owned());
    let source = block.get("source")?;
    let data = string(source, "data")?;
    Some(Attachment {
        media_type: string(source, "media_type")?,
        data: match string(source, "type")?.as_str() {
            "base64" => data,
            "text" => BASE64_STANDARD.encode(data),
            _ => return None,
        },
        name: string(block, "title"),
    })
}

fn no_prompt(prompt: &str) -> Error {
    let message = format!("The session has no prompt `{prompt}`");
    Error::new(Code::NotFound, message, "its session file may be gone: the CLI deletes old ones")
}
