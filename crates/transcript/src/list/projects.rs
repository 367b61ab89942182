//! Names for projects, from the working folders of sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ListedSession;
use crate::roots::SessionFiles;

/// Gives every row the shortest name that distinguishes its folder from all others: the last part of the
/// path, or the last two, …
///
/// The name of the project's folder cannot be used: two paths can have the same one (F84).
pub(super) fn name(rows: &mut [(&SessionFiles, ListedSession)]) {
    let folders: BTreeSet<String> = rows.iter().filter_map(|(_, row)| row.cwd.clone()).collect();
    let names = names(&folders);
    for (_, row) in rows {
        if let Some(name) = row.cwd.as_ref().and_then(|cwd| names.get(cwd)) {
            row.project.clone_from(name);
        }
    }
}

/// Returns true if a row matches a project filter.
pub(super) fn fits(row: &ListedSession, part: &str) -> bool {
    row.cwd.as_deref().unwrap_or(&row.project).to_lowercase().contains(&part.to_lowercase())
}

fn names(folders: &BTreeSet<String>) -> HashMap<String, String> {
    let mut named = HashMap::new();
    let mut open: Vec<&String> = folders.iter().collect();
    let mut parts = 1;
    while !open.is_empty() {
        let mut by_name: BTreeMap<String, Vec<&String>> = BTreeMap::new();
        for folder in open.drain(..) {
            by_name.entry(last_parts(folder, parts)).or_default().push(folder);
        }
        for (name, fitting) in by_name {
            // A name that is the whole path cannot get longer.
            let (done, left): (Vec<&String>, Vec<&String>) =
                fitting.iter().partition(|folder| fitting.len() == 1 || ***folder == name);
            named.extend(done.into_iter().map(|folder| (folder.clone(), name.clone())));
            open.extend(left);
        }
        parts += 1;
    }
    named
}

/// The last parts of a Unix or Windows path; the whole path if it has no more parts.
fn last_parts(folder: &str, count: usize) -> String {
    let trimmed = folder.trim_end_matches(['/', '\\']);
    let start = trimmed.rmatch_indices(['/', '\\']).nth(count - 1).map(|(at, _)| at + 1);
    match start {
        Some(start) if start > 1 => trimmed[start..].to_owned(),
        Some(start) if !trimmed[start..].contains(['/', '\\']) && !trimmed[start..].is_empty() => {
            trimmed[start..].to_owned()
        }
        _ => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f84_projects_have_the_shortest_names_that_tell_them_apart() {
        let folders = [
            "/home/dev/demo",
            "/home/dev/other/api",
            "/home/dev/shop/api",
            "/srv/shop/api",
            "/home/dev/項目",
            "/home/dev/测试",
            "/",
            "/api",
            "C:\\git\\tool",
            "",
        ];
        let names = names(&folders.iter().map(|&folder| folder.to_owned()).collect());
        let found: Vec<&str> = folders.iter().map(|folder| names[*folder].as_str()).collect();
        assert_eq!(
            found,
            ["demo", "other/api", "dev/shop/api", "/srv/shop/api", "項目", "测试", "/", "/api", "tool", ""]
        );
    }
}
