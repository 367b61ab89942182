//! `tidings sessions archive`, `du` and `prune`, as a user runs them.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::test_root::{TestRoot, json_lines, set_modified, stderr, stdout, write};

const OLD: &str = "11111111-aaaa-4bbb-8ccc-000000000001";
const NEW: &str = "22222222-aaaa-4bbb-8ccc-000000000002";

/// A session of 2023 with a sub-agent, and one of today.
fn home() -> TestRoot {
    let home = TestRoot::new();
    let line = "{\"type\":\"user\",\"uuid\":\"u\",\"message\":{\"role\":\"user\",\"content\":\"Hi\"}}\n";
    home.write(&format!("-old/{OLD}.jsonl"), &line.repeat(50));
    home.write(&format!("-old/{OLD}/subagents/agent-a.jsonl"), line);
    write(&home.config().join(format!("file-history/{OLD}/x@v1")), "before");
    home.write(&format!("-new/{NEW}.jsonl"), line);
    let config = home.config();
    for path in files(&config).into_keys().filter(|path| path.to_string_lossy().contains(OLD)) {
        set_modified(&config.join(path), 1_700_000_000);
    }
    home
}

fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn f85_a_session_outlives_its_deletion() {
    let home = home();
    let config = home.config();
    let before = files(&config);
    let kept = json_lines(&home.output(&["archive", "--older-than", "30d", "--json"]));
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0]["session"], &kept[0]["new"]), (&OLD.into(), &3.into()));
    assert_eq!(kept[0]["kept_until"], "2023-12-14T22:13:20Z");
    let again = json_lines(&home.output(&["archive", OLD, "--json"]));
    assert_eq!((&again[0]["new"], &again[0]["unchanged"]), (&0.into(), &3.into()));

    fs::remove_dir_all(home.file("-old")).unwrap();
    fs::remove_dir_all(config.join("file-history")).unwrap();
    let listed = json_lines(&home.output(&["archive", "--list", "--json"]));
    assert_eq!((&listed[0]["session"], &listed[0]["original"]), (&OLD.into(), &false.into()));
    let listed = home.output(&["archive", "--list"]);
    assert!(stdout(&listed).contains("original deleted"), "{}", stdout(&listed));

    let restored = home.output(&["archive", "--restore", "11111111"]);
    assert_eq!(restored.status.code(), Some(0), "{}", stderr(&restored));
    assert_eq!(files(&config), before);
    fs::write(home.file(&format!("-old/{OLD}.jsonl")), "mine\n").unwrap();
    let refused = home.output(&["archive", "--restore", OLD, "--json"]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(json_lines(&refused)[0]["left"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read(home.file(&format!("-old/{OLD}.jsonl"))).unwrap(), b"mine\n");

    let elsewhere = home.path("elsewhere");
    let to = elsewhere.to_str().unwrap();
    assert_eq!(home.output(&["archive", "--restore", OLD, "--to", to]).status.code(), Some(0));
    assert_eq!(files(&elsewhere).len(), 3);
}

/// Files that may not grow fail as on a full disk.
#[cfg(unix)]
#[test]
fn an_archive_on_a_full_disk_costs_neither_the_copy_nor_more_room() {
    let home = home();
    let (main, store) = (home.file(&format!("-new/{NEW}.jsonl")), home.path("data"));
    let before = fs::read_to_string(&main).unwrap();
    assert_eq!(home.output(&["archive", NEW]).status.code(), Some(0));
    let archived = || -> BTreeMap<PathBuf, Vec<u8>> {
        files(&store).into_iter().filter(|(path, _)| path.to_string_lossy().contains(NEW)).collect()
    };
    let copy = archived();
    assert!(!copy.is_empty());
    for text in [format!("{before}{before}"), "{\"type\":\"user\"}\n".to_owned()] {
        fs::write(&main, &text).unwrap();
        let mut full = Command::new("sh");
        full.args(["-c", r#"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#, env!("CARGO_BIN_EXE_tidings")]);
        full.env_clear().env("TIDINGS_DATA_DIR", &store);
        full.args(["sessions", "--root"]).arg(home.config()).args(["archive", NEW, "--json"]);
        let output = full.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let failed = json_lines(&output)[0]["failed"].as_array().unwrap().len();
        assert_eq!((failed, archived()), (1, copy.clone()), "{text:?}");
        let elsewhere = tempfile::tempdir().unwrap();
        let to = elsewhere.path().to_str().unwrap();
        assert_eq!(home.output(&["archive", "--restore", NEW, "--to", to]).status.code(), Some(0));
        let restored = fs::read_to_string(elsewhere.path().join(format!("projects/-new/{NEW}.jsonl")));
        assert_eq!(restored.unwrap(), before, "{text:?}");
    }
    assert_eq!(home.output(&["archive", NEW]).status.code(), Some(0));
    assert!(archived().len() > copy.len(), "the earlier one is kept beside the other one");
}

#[test]
fn archive_asks_which_sessions_and_names_what_is_missing() {
    let home = home();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["archive"], 2, "No sessions were selected"),
        (&["archive", "--all", "--older-than", "20d"], 2, "cannot be used with"),
        (&["archive", "--older-than", "soon"], 2, "Not a time"),
        (&["archive", "nope"], 3, "No such session"),
        (&["archive", "--restore", "nope"], 3, "No such session in the archive"),
    ];
    for (args, code, words) in cases {
        let output = home.output(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
    }
    assert!(!home.path("data").exists());
}

/// A cycle of links cannot be read by any user; a folder of another user fails in the same code.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_never_skipped_silently() {
    let home = home();
    let folder = home.file(&format!("-new/{NEW}"));
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("subagents", folder.join("subagents")).unwrap();
    let cases: [&[&str]; 6] = [
        &["archive", "--all"],
        &["archive", "--all", "--json"],
        &["archive", "--older-than", "30d"],
        &["prune", "--older-than", "30d", "--dry-run"],
        &["prune", "--older-than", "30d", "--yes", "--json"],
        &["du", "--files-only"],
    ];
    for args in cases {
        let output = home.output(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", stderr(&output));
        let told = format!("warning: Failed to look into `{}`", folder.join("subagents").display());
        assert!(stderr(&output).contains(&told), "{args:?}: {}", stderr(&output));
    }
    // A session that is named and readable is archived completely.
    assert_eq!(home.output(&["archive", NEW]).status.code(), Some(0));
}

#[test]
fn du_shows_the_same_bytes_from_every_side() {
    let home = home();
    let report = &json_lines(&home.output(&["du", "--json"]))[0];
    let total: usize = files(&home.config()).values().map(Vec::len).sum();
    assert_eq!((&report["sessions"], &report["files"]), (&2.into(), &4.into()));
    assert_eq!(report["bytes"], total);
    for side in ["parts", "projects", "largest"] {
        let sum: u64 =
            report[side].as_array().unwrap().iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
        assert_eq!(sum, total as u64, "{side}");
    }
    assert_eq!(report["entries"][0]["name"], "user");
    assert_eq!(report["entries"][0]["bytes"], total - "before".len());
    let text = stdout(&home.output(&["du", "--files-only", "-n", "1"]));
    assert!(text.contains("by project") && text.contains("and 1 more"), "{text}");
    assert!(!text.contains("by kind of entry"), "{text}");
}

#[test]
fn prune_removes_nothing_without_confirmation() {
    let home = home();
    let config = home.config();
    let before = files(&config);
    let cases: [(&[&str], i32, &str); 4] = [
        (&["prune"], 2, "This would remove every session"),
        (&["prune", "--older-than", "30d"], 4, "This needs confirmation"),
        (&["prune", "--older-than", "30d", "--dry-run"], 0, "1 session, "),
        (&["prune", "--project", "new", "--yes"], 0, "changed within the last hour"),
    ];
    for (args, code, words) in cases {
        let output = home.output(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert_eq!(files(&config), before, "{args:?}");
    }
    let shown = json_lines(&home.output(&["prune", "--older-than", "30d", "--dry-run", "--json"]));
    assert_eq!((&shown[0]["session"], &shown[0]["outcome"]), (&OLD.into(), &"would-remove".into()));
}

#[test]
fn prune_keeps_a_copy_first_when_asked() {
    let home = home();
    let config = home.config();
    let before = files(&config);
    let args = ["prune", "--older-than", "30d", "--archive-first", "--yes", "--json"];
    let removed = json_lines(&home.output(&args));
    assert_eq!((&removed[0]["outcome"], &removed[0]["files"]), (&"removed".into(), &3.into()));
    assert_eq!(files(&config).len(), 1);
    assert_eq!(home.output(&["archive", "--restore", OLD]).status.code(), Some(0));
    assert_eq!(files(&config), before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_running_session_is_never_pruned() {
    let home = home();
    let config = home.config();
    let pid = std::process::id();
    let state = format!("{{\"pid\":{pid},\"sessionId\":\"{OLD}\"}}");
    write(&config.join(format!("sessions/{pid}.json")), &state);
    let output = home.output(&["prune", OLD, "--yes", "--json"]);
    assert_eq!(json_lines(&output)[0]["outcome"], "running");
    assert!(home.file(&format!("-old/{OLD}.jsonl")).exists());
}
