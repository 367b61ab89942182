//! Tests of the search for `claude`, and of the versions that are accepted.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// An explicit program comes first, then `PATH`, then the install locations.
#[test]
fn s0_36_the_program_is_found_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let search = Search { program: None, path: Some(place("bin").into()), home: Some(place("home")) };
    program(&place("home/.claude/local/claude"));
    assert_eq!(search.find().unwrap(), place("home/.claude/local/claude"));
    program(&place("home/.local/bin/claude"));
    assert_eq!(search.find().unwrap(), place("home/.local/bin/claude"));
    fs::create_dir_all(place("bin")).unwrap();
    fs::write(place("bin/claude"), "no program").unwrap();
    assert_eq!(
        search.find().unwrap(),
        place("home/.local/bin/claude"),
        "a file that is not executable is skipped"
    );
    fs::remove_file(place("bin/claude")).unwrap();
    program(&place("real"));
    symlink(place("real"), place("bin/claude")).unwrap();
    assert_eq!(search.find().unwrap(), place("bin/claude"));
    program(&place("mine"));
    let named = Search { program: Some(place("mine")), ..search.clone() };
    assert_eq!(named.find().unwrap(), place("mine"));
    let by_name = Search { program: Some("claude".into()), ..search };
    assert_eq!(by_name.find().unwrap(), place("bin/claude"));
}

/// An explicit program that does not exist is an error, and nothing else is tried.
#[test]
fn f41_what_is_named_is_not_replaced_by_something_else() {
    let folder = tempfile::tempdir().unwrap();
    program(&folder.path().join("claude"));
    let search =
        Search { program: Some("/nonexistent/claude".into()), path: Some(folder.path().into()), home: None };
    let error = search.find().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(
        error.to_string().contains("/nonexistent/claude") && error.hint().contains("install"),
        "{error:?}"
    );
    let script = folder.path().join("cli.js");
    fs::write(&script, "").unwrap();
    let search = Search { program: Some(script.clone()), path: None, home: None };
    assert_eq!(search.find().unwrap(), script, "a script is run by a runtime and need not be executable");
}

#[test]
fn versions_are_read_and_compared() {
    let read = |text: &str| text.parse::<Version>().ok().map(|version| version.to_string());
    assert_eq!(read("2.1.325 (Claude Code)\n").as_deref(), Some("2.1.325"));
    assert_eq!(read("v2.0.0-beta.1").as_deref(), Some("2.0.0"));
    assert_eq!((read(""), read("claude 2"), read("2.1"), read("2.1.x")), (None, None, None, None));
    let version = |text: &str| text.parse::<Version>().unwrap();
    assert!(check(OLDEST).is_ok() && check(version("2.1.325")).is_ok());
    let error = check(version("2.1.196")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::VersionTooOld);
    assert!(error.hint().contains("claude update"));
}

/// D21: versions that pass over the system prompt of the handshake are older than the oldest one.
#[test]
fn d21_versions_that_ignore_the_system_prompt_are_refused() {
    for ignorant in ["2.0.0", "2.1.2", "2.1.92", "2.1.135"] {
        assert!(check(ignorant.parse().unwrap()).is_err(), "{ignorant}");
    }
}

/// R7: the oldest version is the one that the long tests download, and the documents name it.
#[test]
fn r7_the_oldest_version_is_tested_and_written_down() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| fs::read_to_string(repository.join(file)).unwrap();
    assert!(read("e2e/install.sh").lines().any(|line| line == format!("other_version={OLDEST}")));
    for file in
        ["README.md", "docs/operating.md", "crates/client/README.md", "crates/client/src/guide/errors.md"]
    {
        assert!(read(file).contains(&OLDEST.to_string()), "{file}");
    }
}
