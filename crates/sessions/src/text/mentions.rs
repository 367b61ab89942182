//! Mentions of files, which the server resolves itself for callers whose text the agent must not interpret.
//!
//! Only files below the folder of the session are added, no link is followed, and files of credentials are
//! left out. Everything else stays a text that names a file.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tidings_api::{Attachment, FileKind};

use super::forms::{Mention, mentions};
use crate::limits::{MENTIONED_BYTES_MAX, MENTIONS_MAX};
use crate::pictures::image_type;
use crate::{Caller, project_files};

/// The files that a text names, as attachments, and the offsets of the mentions that they stand for.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Resolved {
    pub(super) files: Vec<Attachment>,
    /// The offset and the width of each `@` whose file was added.
    pub(super) signs: Vec<(usize, usize)>,
}

/// Reads the files below `folder` that a text mentions. Blocks on disk I/O.
pub(super) fn resolve(caller: &Caller, folder: &Path, text: &str) -> Resolved {
    let mut resolved = Resolved::default();
    let mut room = MENTIONED_BYTES_MAX;
    for mention in mentions(text).take(MENTIONS_MAX) {
        let known = |file: &Attachment| file.name.as_deref() == Some(mention.path);
        if resolved.files.iter().any(known) {
            resolved.signs.push((mention.at, mention.sign.len_utf8()));
            continue;
        }
        let Some(file) = read(caller, folder, &mention) else { continue };
        let Some(left) = room.checked_sub(file.data.len()) else { continue };
        room = left;
        resolved.signs.push((mention.at, mention.sign.len_utf8()));
        resolved.files.push(file);
    }
    resolved
}

/// The file of a mention. Punctuation of the sentence may follow its path.
fn read(caller: &Caller, folder: &Path, mention: &Mention<'_>) -> Option<Attachment> {
    let bare = mention.path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"', '`']);
    let spellings = [mention.path, bare];
    let spellings = if bare.len() == mention.path.len() { &spellings[..1] } else { &spellings[..] };
    spellings.iter().find_map(|path| {
        let (path, lines) = split_lines(path);
        let inside = match Path::new(path).strip_prefix(folder) {
            Ok(inside) => inside.to_str()?,
            Err(_) => path,
        };
        let content = content(caller, folder, inside)?;
        let content = match (content, lines) {
            (Content::Text(text), Some((first, last))) => {
                let kept = text.lines().skip(first.saturating_sub(1)).take(last.saturating_sub(first) + 1);
                Content::Text(kept.collect::<Vec<_>>().join("\n"))
            }
            (content, _) => content,
        };
        let (media_type, bytes) = match content {
            Content::Text(text) => ("text/plain", text.into_bytes()),
            Content::Image(media_type, bytes) => (media_type, bytes),
        };
        // An empty attachment is refused by the API.
        let is_empty = bytes.trim_ascii().is_empty();
        (!is_empty).then(|| Attachment {
            media_type: media_type.to_owned(),
            data: BASE64_STANDARD.encode(bytes),
            name: Some(mention.path.to_owned()),
        })
    })
}

enum Content {
    Text(String),
    Image(&'static str, Vec<u8>),
}

fn content(caller: &Caller, folder: &Path, path: &str) -> Option<Content> {
    if let Ok(listed) = project_files::list(caller, folder, path) {
        let name = |item: &tidings_api::FileItem| match item.kind {
            FileKind::Folder => format!("{}/", item.name),
            FileKind::File | FileKind::Link | FileKind::Other => item.name.clone(),
        };
        return Some(Content::Text(listed.items.iter().map(name).collect::<Vec<_>>().join("\n")));
    }
    let bytes = project_files::read_whole(caller, folder, path, MENTIONED_BYTES_MAX).ok()?;
    if let Some(media_type) = image_type(&bytes) {
        return Some(Content::Image(media_type, bytes));
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(Content::Text)
}

/// Splits `path#L2-5` into the path and the lines, which are counted from 1.
fn split_lines(path: &str) -> (&str, Option<(usize, usize)>) {
    let Some((file, range)) = path.rsplit_once("#L") else { return (path, None) };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    match (first.parse(), last.trim_start_matches('L').parse()) {
        (Ok(first), Ok(last)) if first <= last => (file, Some((first, last))),
        _ => (path, None),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use tidings_api::Scope;

    #[test]
    fn k21_files_below_the_folder_are_added_and_no_others() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let folder = root.join("project");
        std::fs::create_dir_all(folder.join("src/deep")).unwrap();
        std::fs::create_dir_all(folder.join(".ssh")).unwrap();
        std::fs::write(folder.join("src/a b.rs"), "spaces").unwrap();
        std::fs::write(folder.join("src/main.rs"), "one\ntwo\nthree").unwrap();
        std::fs::write(folder.join("shot.png"), b"\x89PNG\r\n\x1a\n....").unwrap();
        std::fs::write(folder.join(".env"), "KEY=1").unwrap();
        std::fs::write(folder.join(".ssh/id_rsa"), "key").unwrap();
        std::fs::write(root.join("outside.txt"), "secret").unwrap();
        symlink(root.join("outside.txt"), folder.join("link.txt")).unwrap();
        symlink(&root, folder.join("up")).unwrap();
        let phone = Caller { scopes: [Scope::Prompt].into_iter().collect(), ..Caller::admin("phone") };
        let added = |text: &str| {
            let files = resolve(&phone, &folder, text).files;
            let text = |file: &Attachment| {
                let bytes = BASE64_STANDARD.decode(&file.data).unwrap();
                (file.media_type.clone(), String::from_utf8_lossy(&bytes).into_owned())
            };
            files.iter().map(text).collect::<Vec<_>>()
        };
        let plain = |text: &str| vec![("text/plain".to_owned(), text.to_owned())];
        for (text, expected) in [
            ("see @src/main.rs.", "one\ntwo\nthree"),
            ("@src/main.rs#L2-3", "two\nthree"),
            ("(@src/main.rs#L2)", "two"),
            ("@\"src/a b.rs\"", "spaces"),
            ("@src", "deep/\na b.rs\nmain.rs"),
        ] {
            assert_eq!(added(text), plain(expected), "{text}");
        }
        let absolute = format!("@{}/src/main.rs and @src/main.rs", folder.display());
        assert_eq!(added(&absolute).len(), 2);
        assert_eq!(added("@src/main.rs @src/main.rs").len(), 1);
        assert_eq!(added("@shot.png")[0].0, "image/png");
        let outside = root.join("outside.txt");
        for path in [
            outside.to_str().unwrap(),
            "../outside.txt",
            "src/../../outside.txt",
            "link.txt",
            "up/outside.txt",
            "~/.ssh/id_rsa",
            ".env",
            ".ssh/id_rsa",
            "/proc/self/root/etc/passwd",
            "missing",
        ] {
            let quoted = format!("@\"{path}\"");
            for text in [format!("@{path}"), quoted] {
                assert_eq!(resolve(&phone, &folder, &text), Resolved::default(), "{text}");
            }
        }
    }
}
