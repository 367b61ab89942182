//! Pictures that the model takes.

/// Supported types of pictures, and checks for their signatures.
pub(crate) const PICTURES: [(&str, IsPicture); 4] = [
    ("image/png", |bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", |bytes| bytes.starts_with(b"\xff\xd8\xff")),
    ("image/gif", |bytes| bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a")),
    ("image/webp", |bytes| bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")),
];

pub(crate) type IsPicture = fn(&[u8]) -> bool;

/// The type of the picture that these bytes are, if it is a supported one.
pub(crate) fn image_type(bytes: &[u8]) -> Option<&'static str> {
    PICTURES.iter().find(|(_, has_signature)| has_signature(bytes)).map(|(kind, _)| *kind)
}
