//! Paths as text, without access to the disk.

/// The path without `.`, `..` and repeated slashes. A `..` that would leave the start of a relative path
/// stays, so that a path never seems to lie deeper than it does.
///
/// Symbolic links are not followed: the CLI checks the real path when the tool runs.
pub(crate) fn normalise(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // The parent of the root is the root.
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Resolves a relative path against `folder`.
pub(crate) fn resolve(path: &str, folder: Option<&str>) -> String {
    match folder {
        Some(folder) if !path.starts_with('/') && !path.starts_with('~') => {
            normalise(&format!("{folder}/{path}"))
        }
        _ => normalise(path),
    }
}

/// The absolute path as written, with all its `..`; `None` if only a shell can tell where it begins.
pub(crate) fn join(path: &str, folder: Option<&str>) -> Option<String> {
    match folder {
        _ if path.starts_with('/') => Some(path.to_owned()),
        _ if path.starts_with('~') => None,
        Some(folder) if folder.starts_with('/') => Some(format!("{folder}/{path}")),
        _ => None,
    }
}

/// True if `path` is `folder` or lies below it. Both are normalised; a relative path never lies in an
/// absolute one.
pub(crate) fn lies_in(path: &str, folder: &str) -> bool {
    if path == ".." || path.starts_with("../") {
        return path == folder;
    }
    match folder {
        "/" => path.starts_with('/'),
        "." => !path.starts_with('/') && !path.starts_with('~'),
        folder => path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_seems_deeper_than_it_is() {
        for (path, expected) in [
            ("/a/b/../c", "/a/c"),
            ("/../../etc", "/etc"),
            ("a/../../b", "../b"),
            ("./a//b/.", "a/b"),
            ("", "."),
            ("/", "/"),
            ("a/..", "."),
            ("../..", "../.."),
        ] {
            assert_eq!(normalise(path), expected, "{path}");
        }
    }

    #[test]
    fn what_lies_in_a_folder() {
        for (path, folder, expected) in [
            ("/a/b", "/a", true),
            ("/ab", "/a", false),
            ("/a", "/a", true),
            ("/a", "/", true),
            ("b", ".", true),
            ("../b", ".", false),
            ("/b", ".", false),
            ("b", "/", false),
        ] {
            assert_eq!(lies_in(path, folder), expected, "{path} in {folder}");
        }
    }
}
