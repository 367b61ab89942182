//! Images in a prompt, and files that were dragged onto the terminal.

use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tidings_api::Attachment;

/// Maximum size of an image in bytes; the model takes no larger one.
const IMAGE_BYTES_MAX: usize = 5 << 20;

/// Maximum length of a pasted text that may be the paths of files.
const PATHS_BYTES_MAX: usize = 16 << 10;

/// Reads pasted text as the paths of dragged files: absolute, quoted or escaped as for a shell, or as `file://`
/// addresses. Returns none unless each is a file or a folder.
pub(super) fn dragged(text: &str) -> Option<Vec<PathBuf>> {
    if text.len() > PATHS_BYTES_MAX {
        return None;
    }
    let paths: Vec<PathBuf> = words(text.trim())?.iter().map(|word| path(word)).collect::<Option<_>>()?;
    let all_exist = paths.iter().all(|path| path.exists());
    (!paths.is_empty() && all_exist).then_some(paths)
}

fn path(word: &str) -> Option<PathBuf> {
    let path = match word.strip_prefix("file://") {
        Some(address) => {
            PathBuf::from(percent_decoded(address.strip_prefix("localhost").unwrap_or(address))?)
        }
        None => PathBuf::from(word),
    };
    Some(path).filter(|path| path.is_absolute())
}

/// Splits a line into words, as a shell does. Returns none if a quote is open.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\\' if cfg!(unix) => word.get_or_insert_default().push(chars.next()?),
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        c if c == quote => break,
                        '\\' if quote == '"' => word.push(chars.next()?),
                        c => word.push(c),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Reference to a file for the agent, relative to its folder if it is in it.
pub(super) fn reference(path: &Path, folder: Option<&Path>) -> String {
    let path = folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path).display().to_string();
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// Media type of an image file, by its first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// True if the name of a file is that of an image.
pub(super) fn is_image_name(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["png", "jpg", "jpeg", "gif", "webp"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Reads an image file.
pub(super) fn read_image(path: &Path) -> Result<Attachment, String> {
    let size = fs_err::metadata(path).map_err(|error| error.to_string())?.len();
    if size > IMAGE_BYTES_MAX as u64 {
        return Err(too_large());
    }
    image(
        &fs_err::read(path).map_err(|error| error.to_string())?,
        path.file_name().map(|name| name.to_string_lossy()),
    )
}

/// Creates the attachment of an image.
pub(super) fn image(bytes: &[u8], name: Option<impl Into<String>>) -> Result<Attachment, String> {
    if bytes.len() > IMAGE_BYTES_MAX {
        return Err(too_large());
    }
    let media_type = media_type(bytes).ok_or("It is not a PNG, JPEG, GIF or WebP image")?;
    let data = BASE64_STANDARD.encode(bytes);
    Ok(Attachment { media_type: media_type.to_owned(), data, name: name.map(Into::into) })
}

fn too_large() -> String {
    format!("An image may have {} MiB at most", IMAGE_BYTES_MAX >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dragged_files_are_paths_however_they_are_quoted() {
        let folder = tempfile::TempDir::new().unwrap();
        let root = folder.path().to_str().unwrap().to_owned();
        for name in ["plain.txt", "two words.txt", "größe.txt", "it's.txt"] {
            fs_err::write(folder.path().join(name), "").unwrap();
        }
        for (text, names) in [
            (format!("{root}/plain.txt "), &["plain.txt"][..]),
            (format!("'{root}/two words.txt' {root}/plain.txt"), &["two words.txt", "plain.txt"]),
            (format!("{root}/two\\ words.txt\n"), &["two words.txt"]),
            (format!("\"{root}/it's.txt\""), &["it's.txt"]),
            (format!("file://{root}/gr%C3%B6%C3%9Fe.txt"), &["größe.txt"]),
        ] {
            let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
            assert_eq!(dragged(&text), Some(paths), "{text}");
        }
        for text in ["", "plain.txt", "/no/such/file", "it's", "what is /", &format!("{root}/plain.txt says")]
        {
            assert_eq!(dragged(text), None, "{text}");
        }
        assert_eq!(reference(&folder.path().join("plain.txt"), Some(folder.path())), "@plain.txt");
        assert_eq!(reference(Path::new("/a b"), Some(folder.path())), "@\"/a b\"");
    }

    #[test]
    fn images_are_known_by_their_bytes() {
        let png = image(b"\x89PNG\r\n\x1a\nrest", Some("dot.png")).unwrap();
        assert_eq!((png.media_type.as_str(), png.name.as_deref()), ("image/png", Some("dot.png")));
        assert!(image(b"text", None::<String>).unwrap_err().contains("PNG"));
        assert!(image(&vec![0; IMAGE_BYTES_MAX + 1], None::<String>).unwrap_err().contains("5 MiB"));
        assert!(is_image_name(Path::new("/a/B.JPG")) && !is_image_name(Path::new("/a/png")));
    }
}
