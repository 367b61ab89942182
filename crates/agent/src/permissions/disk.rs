//! Resolution of paths on this machine, with symbolic links followed.

use std::path::{Component, Path, PathBuf};

use super::{glob, paths};
use crate::limits::DISK_ENTRIES_MAX;

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Inside the folder.
    Inside(String),
    /// Outside of it.
    Outside(String),
    /// Unknown: a dangling link, or a name that is not valid UTF-8.
    Unknown,
}

/// Follows the symbolic links in an absolute path. A path that does not exist resolves to where it would be
/// created.
pub(crate) fn follow(path: &str, folder: &str) -> Target {
    let (Some(real), Some(real_folder)) = (real(Path::new(path)), real(Path::new(folder))) else {
        return Target::Unknown;
    };
    let (Some(real), Some(folder)) = (real.to_str(), real_folder.to_str()) else {
        return Target::Unknown;
    };
    if paths::lies_in(real, folder) {
        Target::Inside(real.to_owned())
    } else {
        Target::Outside(real.to_owned())
    }
}

/// The path to which symbolic links lead; `None` if it is unknown.
pub(crate) fn real_path(path: &str, folder: &str) -> Option<String> {
    match follow(&paths::join(path, Some(folder))?, folder) {
        Target::Inside(real) | Target::Outside(real) => Some(real),
        Target::Unknown => None,
    }
}

/// True if symbolic links lead from an absolute path in a folder to a place outside of it, or to an unknown
/// one.
pub(crate) fn leads_out(path: &str, folder: &str) -> bool {
    path.starts_with('/') && !matches!(follow(path, folder), Target::Inside(_))
}

/// True if a file or folder with this name exists, including dangling links.
pub(crate) fn exists(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_ok()
}

fn real(path: &Path) -> Option<PathBuf> {
    for ancestor in path.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => return Some(appended(real, path.strip_prefix(ancestor).unwrap_or(Path::new("")))),
            // Writing to a dangling link creates its target.
            Err(_) if ancestor.symlink_metadata().is_ok_and(|found| found.is_symlink()) => return None,
            Err(_) => {}
        }
    }
    None
}

/// Appends parts that do not exist, and therefore are not links, to a real path.
fn appended(mut real: PathBuf, rest: &Path) -> PathBuf {
    for part in rest.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => real.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    real
}

/// True if no symbolic link that a shell pattern matches leads out of the folder. Patterns outside of the
/// folder are not checked here. A pattern that matches too many files counts as leaving it.
pub(crate) fn pattern_stays_inside(pattern: &str, folder: &str) -> bool {
    let mut looked_at = 0;
    let mut bases = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if !part.contains(['*', '?', '[']) {
            for base in &mut bases {
                base.push(part);
            }
            continue;
        }
        // `[…]` matches more here than in the shell, which is safe.
        let wide = match (part.find('['), part.rfind(']')) {
            (Some(open), Some(close)) if open < close => format!("{}*{}", &part[..open], &part[close + 1..]),
            _ => part.to_owned(),
        };
        let mut next = Vec::new();
        for entry in bases.iter().filter_map(|base| base.read_dir().ok()).flatten().filter_map(Result::ok) {
            looked_at += 1;
            if looked_at > DISK_ENTRIES_MAX {
                return false;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                continue;
            };
            let is_hidden = name.starts_with('.') && !part.starts_with('.');
            if is_hidden || !glob::matches(&wide, name) {
                continue;
            }
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let path = entry.path();
            let leads_inside =
                || path.to_str().is_some_and(|path| matches!(follow(path, folder), Target::Inside(_)));
            if is_link && !leads_inside() {
                return false;
            }
            next.push(path);
        }
        bases = next;
    }
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn k3_links_are_followed_to_where_they_lead() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let folder = root.join("project");
        std::fs::create_dir_all(folder.join("src")).unwrap();
        std::fs::create_dir_all(root.join("home/.ssh")).unwrap();
        symlink(root.join("home"), folder.join("out")).unwrap();
        symlink("src", folder.join("in")).unwrap();
        symlink(root.join("nowhere"), folder.join("dangling")).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let check = |path: &str| follow(&format!("{}/{path}", text(&folder)), &text(&folder));
        assert_eq!(check("in/a.rs"), Target::Inside(text(&folder.join("src/a.rs"))));
        assert_eq!(check("new/file"), Target::Inside(text(&folder.join("new/file"))));
        assert_eq!(check("out/.ssh/id"), Target::Outside(text(&root.join("home/.ssh/id"))));
        // By its text this is the folder itself.
        assert_eq!(check("out/.."), Target::Outside(text(&root)));
        assert_eq!(check("dangling"), Target::Unknown);
        let stays =
            |pattern: &str| pattern_stays_inside(&format!("{}/{pattern}", text(&folder)), &text(&folder));
        assert!(stays("i*") && stays("src/*") && stays("x*"));
        assert!(!stays("*") && !stays("o?t") && !stays("[o]ut/x") && !stays("*/.ssh"));
    }
}
