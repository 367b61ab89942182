//! Files in the data folder and their permissions.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use tidings_agent::Clock;
use tidings_api::NewDevice;
use tidings_bridge::auth::{Auth, Settings};
use tidings_sessions::secret::Random;

fn open(data: &Path) -> Result<Auth, tidings_sessions::Error> {
    Auth::open(Settings::new(data, Random::system(), Clock::system()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn t3_only_the_owner_can_read_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let auth = open(&data).unwrap();
    auth.add_device(NewDevice::default()).unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    auth.trust()
        .agree(&project, &tidings_sessions::trust::inspect(&project.canonicalize().unwrap()).digest)
        .unwrap();
    assert_eq!(mode(&data), 0o700);
    for file in ["token", "devices.json", "trust.json"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    for file in ["devices.json.sum", "trust.json.sum"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    assert_eq!(fs::read_dir(&data).unwrap().count(), 5, "nothing else is left behind");
}

#[test]
fn t3_a_folder_that_is_not_ours_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    fs::create_dir(&real).unwrap();
    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    assert!(open(&link).unwrap_err().message().contains("link"));

    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, Permissions::from_mode(0o777)).unwrap();
    assert!(open(&shared).unwrap_err().hint().contains("chmod"));

    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(open(&file).is_err());
}

#[test]
fn t3_a_token_that_others_could_know_is_refused() {
    let known = format!("tidings_{}\n", "0".repeat(64));
    let table: [(&str, &str, u32); 5] = [
        ("readable by the group", &known, 0o640),
        ("readable by all", &known, 0o604),
        // F118: a short or shipped secret.
        ("short", "secret\n", 0o600),
        ("empty", "", 0o600),
        ("no digits", "tidings_zz\n", 0o600),
    ];
    for (what, text, mode) in table {
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("token");
        fs::write(&token, text).unwrap();
        fs::set_permissions(&token, Permissions::from_mode(mode)).unwrap();
        assert!(open(folder.path()).is_err(), "{what}");
    }
    // A link to a file of another user.
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::write(&theirs, &known).unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o600)).unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    symlink(&theirs, data.join("token")).unwrap();
    assert!(open(&data).is_err());
}

#[test]
fn f118_each_installation_makes_a_secret_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let token = |name: &str| {
        open(&folder.path().join(name)).unwrap();
        fs::read_to_string(folder.path().join(name).join("token")).unwrap()
    };
    let first = token("a");
    assert_ne!(first, token("b"));
    assert_eq!(first, token("a"), "and keeps it");
}

#[test]
fn a_damaged_or_newer_file_is_an_error_and_not_an_empty_list() {
    for (name, text) in [
        ("devices.json", "{\"version\":2,\"devices\":[]}"),
        ("devices.json", "{\"version\":1,\"devices\":[{\"id\":\"a\"}]}"),
        ("devices.json", "[[[["),
        ("trust.json", "{\"version\":9,\"folders\":{}}"),
        ("trust.json", ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(error.hint().contains("move the file away"), "{name} {text}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "it stays as it was");
    }
}

/// Links in the data folder are refused: the server would write or delete where they point to.
#[test]
fn k2_a_link_in_the_data_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("file"), "mine").unwrap();
    for (round, name) in ["hosts", "journal.db", "token", "devices.json", "anything"].iter().enumerate() {
        let data = folder.path().join(format!("data-{round}"));
        open(&data).unwrap();
        drop(fs::remove_file(data.join(name)));
        symlink(if *name == "hosts" { elsewhere.clone() } else { elsewhere.join("file") }, data.join(name))
            .unwrap();
        let refused = open(&data).unwrap_err();
        assert!(refused.message().contains(name) && !refused.hint().is_empty(), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "mine");
}

/// Only folders with the name and contents of a host are removed, and the folder of the hosts must not be a
/// link.
#[test]
fn k2_only_folders_of_hosts_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().canonicalize().unwrap();
    let private = |path: &Path| {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    };
    let hosts = |at: &Path| {
        let (clock, ids) = (Clock::system(), tidings::Ids::random());
        tidings_sessions::hosts::Hosts::open(
            at,
            "/bin/false",
            Vec::new(),
            std::time::Duration::ZERO,
            clock,
            ids,
        )
    };
    // Folders of the user, behind a link with the name of the hosts folder.
    let (mine, linked) = (data.join("mine"), data.join("linked"));
    private(&mine.join("letters"));
    private(&mine.join("5f8cd0dc-4d43-4d7e-95c4-6a3b4f1f2f10"));
    symlink(&mine, &linked).unwrap();
    let refused = hosts(&linked).unwrap_err();
    assert!(refused.to_string().contains("link"), "{refused}");
    assert_eq!(fs::read_dir(&mine).unwrap().count(), 2);

    let real = data.join("hosts");
    private(&real);
    let of_ours = real.join("0b54b0f4-2bb4-4a86-9c3a-7e2d5a0f9d11");
    let begun = real.join("1c65c1a5-3cc5-4b97-8d4b-8f3e6b1a0e22");
    let foreign = real.join("2d76d2b6-4dd6-4ca8-9e5c-9a4f7c2b1f33");
    for path in
        [&of_ours, &begun.join("spool"), &begun, &foreign.join("letters"), &foreign, &real.join("letters")]
    {
        private(path);
    }
    fs::write(begun.join("log"), "").unwrap();
    fs::write(real.join("letters/one"), "dear").unwrap();
    symlink(&mine, real.join("3e87e3c7-5ee7-4db9-8f6d-0b5a8d3c2a44")).unwrap();
    let found = hosts(&real).unwrap();
    assert_eq!(found.find().unwrap().len(), 0);
    assert!(!of_ours.exists() && !begun.exists(), "what is left of hosts is removed");
    assert!(foreign.join("letters").exists() && real.join("letters/one").exists(), "the rest is left alone");
    assert_eq!(fs::read_dir(&mine).unwrap().count(), 2);

    // The folder is replaced while the server runs.
    fs::rename(&real, data.join("away")).unwrap();
    symlink(&mine, &real).unwrap();
    assert!(found.find().is_err());
    assert_eq!(fs::read_dir(&mine).unwrap().count(), 2);
}
