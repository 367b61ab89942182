//! Files of the repository that are written from the code, compared by tests.

use std::path::Path;

/// Compares a file with what is generated, or writes it if `UPDATE_GENERATED` is set, as `make generate`
/// does.
#[track_caller]
pub(crate) fn is_current(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        fs_err::write(&file, text).unwrap();
    }
    assert!(fs_err::read_to_string(&file).unwrap() == text, "`{path}` is old, run `make generate`");
}

/// The part of a file between two lines; the rest is written by hand.
#[track_caller]
pub(crate) fn part_is_current(path: &str, lines: [&str; 2], text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    let whole = fs_err::read_to_string(&file).unwrap();
    let [begin, end] = lines.map(|line| format!("{line}\n"));
    let (before, rest) = whole.split_once(&begin).unwrap_or_else(|| panic!("`{path}` has no line `{begin}`"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("`{path}` has no line `{end}`"));
    is_current(path, &[before, &begin, text, &end, after].concat());
}
