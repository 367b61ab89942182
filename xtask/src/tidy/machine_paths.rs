//! No file contains a path of its author's machine, or the package mirror of that machine.

use super::Finding;
use crate::repo::TextFile;

/// Folders of a developer's machine; absolute only, so `docs/work/` is fine.
const FOLDERS: &[&str] = &["/root/", "/work/"];

/// Registry hosts, which belong in a lock file or a tool's settings and not in a source file.
const HOSTS: &[&str] = &["registry.npmjs", "pypi.org", "index.crates.io", "static.crates.io"];

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    if is_skipped(&file.path) {
        return Vec::new();
    }
    let numbered = file.text.lines().zip(1..);
    numbered.filter_map(|(text, line)| judge(&file.path, line, text)).collect()
}

fn judge(path: &str, line: usize, text: &str) -> Option<Finding> {
    if let Some(folder) = FOLDERS.iter().find(|folder| has_absolute(text, folder)) {
        let advice = "use a path from the root of the repository, or take it as a parameter";
        return Some(Finding::violation(
            path,
            line,
            format!("`{folder}` is a folder of one machine"),
            advice,
        ));
    }
    let host = HOSTS.iter().find(|host| text.contains(**host))?;
    let advice = "leave the choice of registry to the tool's own settings";
    Some(Finding::violation(path, line, format!("`{host}` is a package registry host"), advice))
}

/// Exempt are recordings, lock files, and this file, which must name the searched strings.
fn is_skipped(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "Cargo.lock" | "fixtures" | "snapshots"))
        || path == "xtask/src/tidy/machine_paths.rs"
}

fn has_absolute(text: &str, folder: &str) -> bool {
    let inside_a_path = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '*' | '}' | ')');
    text.match_indices(folder).any(|(at, _)| !text[..at].ends_with(inside_a_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&TextFile::new(path, text)).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn machine_folders_and_registry_hosts_fail() {
        assert_eq!(lines("a.md", "see\n`/work/house`\nhttps://pypi.org/x"), [2, 3]);
        assert_eq!(lines("a.sh", "cat /root/.profile"), [1]);
    }

    #[test]
    fn relative_paths_and_recordings_pass() {
        assert_eq!(lines("a.md", "docs/work/plan.md and https://crates.io and ~/work/x"), NONE);
        assert_eq!(lines("crates/a/tests/fixtures/a.ndjson", "{\"cwd\":\"/root/x\"}"), NONE);
        assert_eq!(lines("fuzz/Cargo.lock", "index.crates.io"), NONE);
    }
}
