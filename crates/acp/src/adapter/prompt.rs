//! Prompts of the host, as the agent gets them.

use agent_client_protocol_schema::v1 as acp;
use serde::Serialize;
use tidings_protocol::messages::{Content, ContentBlock, Document, Source, UserMessage};

use super::state::{Adapter, OutgoingCall, Phase};
use super::turn::Turn;
use crate::limits::PROMPTS_MAX;

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub(super) uuid: Option<String>,
    content: Content,
}

/// Body of `command_lifecycle`, which the vendor does not publish.
#[derive(Debug, Serialize)]
struct CommandLifecycle<'a> {
    command_uuid: &'a str,
    state: &'a str,
}

impl Adapter {
    pub(super) fn queue_prompt(&mut self, prompt: UserMessage) {
        let uuid = prompt.uuid;
        if self.queue.len() >= PROMPTS_MAX {
            self.lifecycle(uuid.as_deref(), "refused");
            return;
        }
        self.lifecycle(uuid.as_deref(), "queued");
        self.queue.push_back(Prompt { uuid, content: prompt.message.content });
        self.start_next_prompt();
    }

    pub(super) fn start_next_prompt(&mut self) {
        if self.phase != Phase::Ready || self.turn.is_some() {
            return;
        }
        let Some(prompt) = self.queue.pop_front() else { return };
        self.lifecycle(prompt.uuid.as_deref(), "started");
        let blocks = self.blocks(&prompt.content);
        self.begin_turn(prompt.uuid);
        let number = self.turn.as_ref().map_or(0, |turn: &Turn| turn.number);
        let params = acp::PromptRequest::new(self.session_id(), blocks);
        self.call("session/prompt", &params, OutgoingCall::Prompt(number));
    }

    /// Reports the state of a prompt.
    pub(super) fn lifecycle(&mut self, uuid: Option<&str>, state: &str) {
        if let Some(uuid) = uuid {
            let body = CommandLifecycle { command_uuid: uuid, state };
            self.emit_unpublished("command_lifecycle", None, body);
        }
    }

    /// The content of a prompt in the protocol's blocks.
    fn blocks(&mut self, content: &Content) -> Vec<acp::ContentBlock> {
        content.iter().map(|block| self.block(block)).collect()
    }

    fn block(&mut self, block: &ContentBlock) -> acp::ContentBlock {
        match block {
            ContentBlock::Text { text } => text.into(),
            ContentBlock::Image(image) if self.is_capable("promptCapabilities/image") => {
                let (media_type, data) = attached(&image.source);
                acp::ContentBlock::Image(acp::ImageContent::new(data, media_type))
            }
            ContentBlock::Image(image) => self.left_out(block, &image.source),
            ContentBlock::Document(document) => self.document(block, document),
            other => self.left_out(other, &Source::default()),
        }
    }

    fn document(&mut self, block: &ContentBlock, document: &Document) -> acp::ContentBlock {
        let title = document.title.as_deref().unwrap_or("attachment");
        let uri = format!("attachment:///{}", title.replace(['/', ' '], "_"));
        let (media_type, data) = attached(&document.source);
        let is_text = document.source.kind == "text";
        let resource = match (self.is_capable("promptCapabilities/embeddedContext"), is_text) {
            (true, true) => acp::EmbeddedResourceResource::TextResourceContents(
                acp::TextResourceContents::new(data, uri).mime_type(media_type),
            ),
            (true, false) => acp::EmbeddedResourceResource::BlobResourceContents(
                acp::BlobResourceContents::new(data, uri).mime_type(media_type),
            ),
            (false, true) => return format!("<context ref=\"{title}\">\n{data}\n</context>").into(),
            (false, false) => return self.left_out(block, &document.source),
        };
        acp::ContentBlock::Resource(acp::EmbeddedResource::new(resource))
    }

    /// A note in place of an attachment that the agent does not take.
    fn left_out(&mut self, block: &ContentBlock, source: &Source) -> acp::ContentBlock {
        let (kind, (media_type, _)) = (block.kind(), attached(source));
        self.inform(&format!("This agent does not take attachments of the kind `{kind}` ({media_type})"));
        format!("[An attachment of the kind {kind} ({media_type}) was left out]").into()
    }
}

/// Media type and data of an attachment.
fn attached(source: &Source) -> (String, String) {
    (source.media_type.clone().unwrap_or_default(), source.data.clone().unwrap_or_default())
}
