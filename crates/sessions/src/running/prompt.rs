//! Prompts as the agent gets them: attachments first, then the text.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tidings::Prompt;
use tidings::messages::{Content, ContentBlock, Document, Image, Source};
use tidings_agent::fold;
use tidings_api::{Attachment, Code};

use crate::Error;
use crate::pictures::PICTURES;
use crate::settings::Queued;

/// The prompt as it is shown.
pub(crate) fn shown_prompt(queued: &Queued) -> fold::Prompt {
    let mut shown = fold::Prompt::new(queued.content.as_str());
    shown.uuid = Some(queued.id.clone());
    shown.turn_id = Some(queued.turn_id);
    shown.origin.clone_from(&queued.origin);
    shown.attachments = queued.attachments.iter().map(attachment_kind).collect();
    shown
}

/// The kind of an attachment, in one word.
fn attachment_kind(attachment: &Attachment) -> String {
    match attachment.media_type.split('/').next() {
        Some("image") => "image".to_owned(),
        _ => "document".to_owned(),
    }
}

/// The prompt for the agent. An error here is permanent.
pub(crate) fn prompt(queued: &Queued) -> Result<Prompt, Error> {
    let marked = |prompt: Prompt| if queued.interpreted { prompt } else { prompt.verbatim() };
    if queued.attachments.is_empty() {
        return Ok(marked(Prompt::from(queued.content.as_str())));
    }
    let mut blocks = queued.attachments.iter().map(block).collect::<Result<Vec<_>, _>>()?;
    if !queued.content.is_empty() {
        blocks.push(ContentBlock::Text { text: queued.content.clone() });
    }
    Ok(marked(Prompt::new(Content::blocks(blocks))))
}

/// Refuses attachments that cannot be sent.
pub(crate) fn check(attachments: &[Attachment]) -> Result<(), Error> {
    attachments.iter().try_for_each(|attachment| block(attachment).map(drop))
}

fn block(attachment: &Attachment) -> Result<ContentBlock, Error> {
    let invalid = |message: String, hint: &'static str| Error::new(Code::Invalid, message, hint);
    // Parameters behind a semicolon do not change the type.
    let kind = attachment.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = kind.starts_with("text/");
    let picture = PICTURES.iter().find(|(known, _)| *known == kind);
    if !is_text && kind != "application/pdf" && picture.is_none() {
        let message = format!("A file of the type `{}` cannot be sent", attachment.media_type);
        let hint = "send a PNG, JPEG, GIF or WebP picture, a PDF or text, or put the file into the folder";
        return Err(invalid(message, hint));
    }
    let name = attachment.name.as_deref().unwrap_or(&kind);
    let bytes = BASE64_STANDARD
        .decode(&attachment.data)
        .map_err(|_| invalid(format!("The data of `{name}` is not base64"), "send its bytes in base64"))?;
    if bytes.trim_ascii().is_empty() {
        return Err(invalid(format!("`{name}` is empty"), "leave it out"));
    }
    if is_text {
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| invalid(format!("`{name}` is not UTF-8"), "put it into the folder"))?;
        // Text is sent as plain text, whatever its subtype is.
        return Ok(document(attachment, source("text", "text/plain".to_owned(), text)));
    }
    // The model would refuse it, and the prompt with it.
    if picture.is_some_and(|(_, has_signature)| !has_signature(&bytes)) {
        let message = format!("`{name}` does not have the signature of the type `{kind}`");
        return Err(invalid(message, "send the bytes of the file with their actual type"));
    }
    let source = source("base64", kind, attachment.data.clone());
    if picture.is_some() {
        let mut image = Image::default();
        image.source = source;
        return Ok(ContentBlock::Image(image));
    }
    Ok(document(attachment, source))
}

fn document(attachment: &Attachment, source: Source) -> ContentBlock {
    let mut document = Document::default();
    document.source = source;
    document.title.clone_from(&attachment.name);
    ContentBlock::Document(document)
}

fn source(kind: &str, media_type: String, data: String) -> Source {
    let mut source = Source::default();
    kind.clone_into(&mut source.kind);
    source.media_type = Some(media_type);
    source.data = Some(data);
    source
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sent(media_type: &str, data: &str) -> Result<Value, Error> {
        let (media_type, data) = (media_type.to_owned(), data.to_owned());
        let attachment = Attachment { media_type, data, name: Some("notes".to_owned()) };
        block(&attachment).map(|block| serde_json::to_value(&block).unwrap())
    }

    #[test]
    fn text_is_sent_as_text_and_everything_else_in_base64() {
        let text = json!({"type": "text", "media_type": "text/plain", "data": "grüße"});
        for kind in ["text/plain", "text/markdown", "Text/Plain; charset=utf-8"] {
            let sent = sent(kind, "Z3LDvMOfZQ==").unwrap();
            assert_eq!(sent, json!({"type": "document", "title": "notes", "source": text}), "{kind}");
        }
        let pdf = json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="});
        let expected = json!({"type": "document", "title": "notes", "source": pdf});
        assert_eq!(sent("application/pdf", "JVBERg==").unwrap(), expected);
        for (kind, data) in [
            ("image/png", "iVBORw0KGgo="),
            ("image/jpeg", "/9j/4A=="),
            ("image/gif", "R0lGODlh"),
            ("image/webp", "UklGRgAAAABXRUJQ"),
        ] {
            let picture = json!({"type": "base64", "media_type": kind, "data": data});
            let expected = json!({"type": "image", "source": picture});
            assert_eq!(sent(kind, data).unwrap(), expected);
        }
    }

    #[test]
    fn unsupported_attachments_are_refused_with_a_hint() {
        for (kind, data) in [
            ("application/zip", "UEsDBA=="),
            ("image/svg+xml", "PHN2Zz4="),
            ("", "Zm9v"),
            ("image/png", "not base64"),
            ("image/png", ""),
            ("image/png", "aGVsbG8="),
            ("image/png", "/9j/4A=="),
            ("image/jpeg", "iVBORw0KGgo="),
            ("image/webp", "UklGRg=="),
            ("text/plain", "//4="),
            ("text/plain", "IAo="),
        ] {
            let refused = sent(kind, data).unwrap_err();
            assert_eq!((refused.code(), refused.hint().is_empty()), (Code::Invalid, false), "{kind} {data}");
        }
    }
}
