//! Content of prompts and updates.

use std::fmt::Write as _;

use agent_client_protocol_schema::v1 as acp;
use tidings_api::{Attachment, Input};

use crate::rpc::RpcError;

/// The prompt of an editor as ours: text with mentions of files, contexts after it, and attachments.
pub(super) fn input(blocks: &[acp::ContentBlock]) -> Result<Input, RpcError> {
    let (mut text, mut contexts, mut attachments) = (String::new(), String::new(), Vec::new());
    for block in blocks {
        match block {
            acp::ContentBlock::Text(block) => append(&mut text, &block.text, '\n'),
            acp::ContentBlock::ResourceLink(link) => append(&mut text, &mention(&link.uri, &link.name), ' '),
            acp::ContentBlock::Image(image) => attachments.push(Attachment {
                media_type: image.mime_type.clone(),
                data: image.data.clone(),
                name: image.uri.as_deref().map(|uri| file_name(uri).to_owned()),
            }),
            acp::ContentBlock::Resource(embedded) => match &embedded.resource {
                acp::EmbeddedResourceResource::TextResourceContents(resource) => {
                    append(&mut text, &mention(&resource.uri, file_name(&resource.uri)), ' ');
                    let (uri, inner) = (&resource.uri, &resource.text);
                    let _ = write!(contexts, "\n<context ref=\"{uri}\">\n{inner}\n</context>");
                }
                acp::EmbeddedResourceResource::BlobResourceContents(resource) => {
                    append(&mut text, &mention(&resource.uri, file_name(&resource.uri)), ' ');
                    attachments.push(Attachment {
                        media_type: resource
                            .mime_type
                            .clone()
                            .unwrap_or_else(|| "application/octet-stream".to_owned()),
                        data: resource.blob.clone(),
                        name: Some(file_name(&resource.uri).to_owned()),
                    });
                }
                _ => return Err(unsupported("this kind of resource")),
            },
            acp::ContentBlock::Audio(_) => return Err(unsupported("audio")),
            _ => return Err(unsupported("this kind of block")),
        }
    }
    text.push_str(&contexts);
    Ok(Input { content: text, attachments, ..Input::default() })
}

/// Appends a block to the text. Blocks are separate, and a mention ends at a space.
fn append(text: &mut String, block: &str, separator: char) {
    let is_open = text.ends_with(|last: char| !last.is_whitespace());
    if is_open && block.starts_with(|first: char| !first.is_whitespace()) {
        text.push(separator);
    }
    text.push_str(block);
}

fn unsupported(what: &str) -> RpcError {
    let message = format!("A prompt cannot contain {what}");
    RpcError::new(
        RpcError::INVALID_PARAMS,
        message,
        "see `promptCapabilities` in the response to `initialize`",
    )
}

/// A file as the CLI reads it in a prompt, or a link.
fn mention(uri: &str, name: &str) -> String {
    match path_of(uri) {
        Some(path) if !path.contains(char::is_whitespace) => format!("@{path}"),
        Some(path) => format!("@\"{path}\""),
        None => format!("[{name}]({uri})"),
    }
}

/// The path of a `file://` address, decoded.
fn path_of(uri: &str) -> Option<String> {
    let path = uri.strip_prefix("file://")?;
    // A fragment names lines, as in `#L10:20`.
    let path = path.split_once('#').map_or(path, |(path, _)| path);
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => {
                let digit =
                    |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low)
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).ok()
}

fn file_name(uri: &str) -> &str {
    uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(uri)
}

/// An image or a file of a prompt.
pub(super) fn attachment_block(attachment: &Attachment) -> acp::ContentBlock {
    let Attachment { media_type, data, name } = attachment;
    if media_type.starts_with("image/") {
        let image = acp::ImageContent::new(data.clone(), media_type.clone());
        return acp::ContentBlock::Image(image.uri(name.clone()));
    }
    let uri = name.clone().unwrap_or_else(|| media_type.clone());
    let file = acp::BlobResourceContents::new(data.clone(), uri).mime_type(media_type.clone());
    let file = acp::EmbeddedResourceResource::BlobResourceContents(file);
    acp::ContentBlock::Resource(acp::EmbeddedResource::new(file))
}

/// A block of text.
pub(super) fn text_block(text: impl Into<String>) -> acp::ContentBlock {
    acp::ContentBlock::Text(acp::TextContent::new(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(blocks: serde_json::Value) -> Result<Input, RpcError> {
        input(&serde_json::from_value::<Vec<acp::ContentBlock>>(blocks).unwrap())
    }

    #[test]
    fn files_become_mentions_and_embedded_texts_contexts() {
        let input = read(json!([
            {"type": "text", "text": "Look at "},
            {"type": "resource_link", "uri": "file:///src/a%20b.rs#L1:9", "name": "a b.rs"},
            {"type": "text", "text": " and "},
            {"type": "resource", "resource": {"uri": "file:///src/c.rs", "text": "fn c() {}"}},
            {"type": "resource_link", "uri": "https://example.org/x", "name": "x"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        ]))
        .unwrap();
        assert_eq!(
            input.content,
            "Look at @\"/src/a b.rs\" and @/src/c.rs [x](https://example.org/x)\n\
             <context ref=\"file:///src/c.rs\">\nfn c() {}\n</context>"
        );
        assert_eq!(input.attachments.len(), 1);
        assert_eq!(input.attachments[0].media_type, "image/png");
    }

    #[test]
    fn r12_blocks_that_follow_each_other_are_kept_apart() {
        let text = |blocks| read(blocks).unwrap().content;
        let two = json!([{"type": "text", "text": "Fix the bug."}, {"type": "text", "text": "Then test."}]);
        assert_eq!(text(two), "Fix the bug.\nThen test.");
        let mention = json!([
            {"type": "text", "text": "See"},
            {"type": "resource_link", "uri": "file:///a.rs", "name": "a.rs"},
            {"type": "resource_link", "uri": "file:///b.rs", "name": "b.rs"},
            {"type": "text", "text": "\nand go on"},
        ]);
        assert_eq!(text(mention), "See @/a.rs @/b.rs\nand go on");
    }

    #[test]
    fn audio_is_refused() {
        let error = read(json!([{"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}])).unwrap_err();
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
    }
}
