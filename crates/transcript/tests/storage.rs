//! Measuring, archiving and removing sessions.

#![cfg(feature = "archive")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tidings_transcript::all_files::{AllFiles, FilePurpose};
use tidings_transcript::archive::{Archive, CopyOutcome, Returned};
use tidings_transcript::blocks::Buffer;
use tidings_transcript::cleanup_period::CleanupPeriod;
use tidings_transcript::prune::{Choice, KeepReason, Plan};
use tidings_transcript::roots::{Roots, SessionFiles};
use tidings_transcript::{ErrorKind, du};

use crate::test_root::{TestRoot, write};

const ID: &str = "7c135d63-ce1e-4cdd-a790-b3205ea58baa";
/// Number of files that the session with this id has in [`home`].
const FILES: usize = 15;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A configuration folder with one session that has all kinds of files, and another one beside it.
fn home() -> TestRoot {
    TestRoot::with_files(&[
        (format!("projects/-demo/{ID}.jsonl"), "{\"type\":\"user\",\"message\":\"Hi\"}\n{\"type\":\"ass"),
        (format!("projects/-demo/{ID}/subagents/agent-a1.jsonl"), "{\"type\":\"user\",\"message\":\"Go\"}\n"),
        (format!("projects/-demo/{ID}/subagents/agent-a1.meta.json"), "{\"agentType\":\"Explore\"}"),
        (format!("projects/-demo/{ID}/tool-results/b1.txt"), "long\n"),
        (format!("projects/-demo/{ID}/custom-title.json"), "{\"customTitle\":\"T\"}"),
        (format!("file-history/{ID}/abc@v1"), "before\n"),
        (format!("tasks/{ID}/1.json"), "{}"),
        (format!("todos/{ID}-agent-{ID}.json"), "[]"),
        (format!("debug/{ID}.txt"), "log\n"),
        (format!("session-env/{ID}/hook-1.sh"), "export A=1\n"),
        (format!("image-cache/{ID}/1.png"), "png"),
        (format!("uploads/{ID}/notes.txt"), "notes\n"),
        (format!("jobs/{ID}/state.json"), "{}"),
        (format!("jobs/{ID}.json"), "{}"),
        (format!("projects/-demo/{ID}.desktop-released.json"), "{}"),
        ("projects/-demo/7c135d63.jsonl".to_owned(), "{\"type\":\"user\",\"message\":\"Other\"}\n"),
        ("todos/7c135d63-agent-7c135d63.json".to_owned(), "[]"),
        ("file-history/7c135d63/abc@v1".to_owned(), "of another\n"),
        (format!("debug/{ID}0.txt").replace("7c135d63", "7c135d64"), "of another\n"),
        ("history.jsonl".to_owned(), "{\"display\":\"Hi\"}\n"),
        ("settings.json".to_owned(), "{\"cleanupPeriodDays\":7}"),
    ])
}

fn session(root: &Path, id: &str) -> SessionFiles {
    Roots::new([root]).find(id).unwrap()
}

/// Every file below a folder with its contents.
fn all_files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(path).unwrap());
            }
        }
    }
    files
}

fn at() -> Timestamp {
    "2026-11-15T10:00:00Z".parse().unwrap()
}

#[test]
fn everything_that_carries_the_name_of_a_session_belongs_to_it() {
    let home = home();
    let all_files = AllFiles::of(&session(home.path(), ID));
    let found: Vec<(FilePurpose, String)> = all_files
        .files
        .iter()
        .map(|file| (file.part, file.relative.display().to_string().replace(ID, "ID")))
        .collect();
    let found: Vec<(FilePurpose, &str)> = found.iter().map(|(part, path)| (*part, path.as_str())).collect();
    assert_eq!(
        found,
        [
            (FilePurpose::Main, "projects/-demo/ID.jsonl"),
            (FilePurpose::Marks, "projects/-demo/ID/custom-title.json"),
            (FilePurpose::Agents, "projects/-demo/ID/subagents/agent-a1.jsonl"),
            (FilePurpose::Agents, "projects/-demo/ID/subagents/agent-a1.meta.json"),
            (FilePurpose::ToolResults, "projects/-demo/ID/tool-results/b1.txt"),
            (FilePurpose::Marks, "projects/-demo/ID.desktop-released.json"),
            (FilePurpose::FileHistory, "file-history/ID/abc@v1"),
            (FilePurpose::Tasks, "tasks/ID/1.json"),
            (FilePurpose::Other, "session-env/ID/hook-1.sh"),
            (FilePurpose::Other, "debug/ID.txt"),
            (FilePurpose::Other, "image-cache/ID/1.png"),
            (FilePurpose::Other, "uploads/ID/notes.txt"),
            (FilePurpose::Other, "jobs/ID/state.json"),
            (FilePurpose::Other, "jobs/ID.json"),
            (FilePurpose::Tasks, "todos/ID-agent-ID.json"),
        ]
    );
}

/// A file called `..jsonl` has the name `.`, and its folder would be the whole project.
#[test]
fn odd_names_own_nothing_but_their_file() {
    let home = home();
    for name in [".jsonl", "..jsonl", "...jsonl"] {
        let path = home.path().join("projects/-demo").join(name);
        write(&path, "{}\n");
        for session in home.sessions() {
            if session.main.as_ref().is_some_and(|main| main.path.ends_with(name)) {
                assert_eq!(AllFiles::of(&session).tops, [fs::canonicalize(&path).unwrap()], "{name}");
            }
        }
        assert_eq!(AllFiles::of(&SessionFiles::of_file(&path).unwrap()).files.len(), 1, "{name}");
    }
}

#[test]
fn f85_an_archived_session_comes_back_byte_for_byte() {
    let home = home();
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path().join("archive"));
    let kept = archive.keep(&session(home.path(), ID), at()).unwrap();
    assert!(kept.failed.is_empty(), "{:?}", kept.failed);
    assert_eq!(kept.files.iter().filter(|file| file.done == CopyOutcome::New).count(), FILES);

    let again = archive.keep(&session(home.path(), ID), at()).unwrap();
    assert!(again.files.iter().all(|file| file.done == CopyOutcome::Unchanged));

    let back = tempfile::tempdir().unwrap();
    let manifest = archive.find("7c135d63-").unwrap();
    assert_eq!(manifest.root.as_deref(), Some(&*fs::canonicalize(home.path()).unwrap()));
    let restored = archive.restore(&manifest, back.path()).unwrap();
    assert!(restored.failed.is_empty());
    let mut expected = all_files(home.path());
    expected.retain(|path, _| path.contains(ID));
    assert_eq!(all_files(back.path()), expected);
    assert_eq!(session(back.path(), ID).agents.len(), 1);

    let twice = archive.restore(&manifest, back.path()).unwrap();
    assert!(twice.files.iter().all(|file| file.returned == Returned::Same));
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_an_archive() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home();
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path().join("archive"));
    archive.keep(&session(home.path(), ID), at()).unwrap();
    let mut folders = vec![archive.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700, "{folder:?}");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
            }
        }
    }
}

/// The contents of the main file's copy after each change of the original.
#[test]
fn a_file_that_shrinks_or_changes_does_not_destroy_its_copy() {
    let home = home();
    let main = home.file(&format!("-demo/{ID}.jsonl"));
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path());
    let stored = |folder: &str| {
        let path = store.path().join(folder).join(format!("projects/-demo/{ID}.jsonl.zst"));
        fs::File::open(path).ok().map(|file| String::from_utf8(zstd::decode_all(file).unwrap()).unwrap())
    };
    let steps = [
        ("one\ntwo\n", CopyOutcome::New, "one\ntwo\n", None),
        ("one\ntwo\nthree\n", CopyOutcome::Grown, "one\ntwo\nthree\n", None),
        ("one\n", CopyOutcome::CutShort, "one\ntwo\nthree\n", None),
        ("one\n2\n", CopyOutcome::Diverged, "one\n2\n", Some("one\ntwo\nthree\n")),
        ("", CopyOutcome::CutShort, "one\n2\n", Some("one\ntwo\nthree\n")),
        ("one\n2\n3\n", CopyOutcome::Grown, "one\n2\n3\n", Some("one\ntwo\nthree\n")),
    ];
    for (text, done, copy, earlier) in steps {
        fs::write(&main, text).unwrap();
        let kept = archive.keep(&session(home.path(), ID), at()).unwrap();
        assert_eq!(kept.files[0].done, done, "{text:?}");
        assert_eq!(stored("").as_deref(), Some(copy), "{text:?}");
        assert_eq!(stored("earlier/1").as_deref(), earlier, "{text:?}");
    }
}

#[test]
fn copies_are_taken_over_when_their_description_is_lost() {
    let home = home();
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path());
    archive.keep(&session(home.path(), ID), at()).unwrap();
    let manifest = store.path().join(format!("sessions/-demo/{ID}.json"));
    fs::write(&manifest, "{").unwrap();
    assert_eq!(archive.contents().unwrap().unreadable.len(), 1);
    fs::write(home.file(&format!("-demo/{ID}.jsonl")), "").unwrap();
    let kept = archive.keep(&session(home.path(), ID), at()).unwrap();
    assert_eq!(kept.files[0].done, CopyOutcome::CutShort);
    assert_eq!(archive.find(ID).unwrap().files.len(), FILES);
}

#[test]
fn a_description_cannot_lead_out_of_the_folder() {
    let home = home();
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path());
    archive.keep(&session(home.path(), ID), at()).unwrap();
    let path = store.path().join(format!("sessions/-demo/{ID}.json"));
    let honest = fs::read_to_string(&path).unwrap();
    for lie in ["../../../x", "/x"] {
        fs::write(&path, honest.replace(&format!("tasks/{ID}/1.json"), lie)).unwrap();
        assert_eq!(archive.contents().unwrap().unreadable[0].kind(), ErrorKind::Invalid, "{lie}");
    }
}

#[test]
fn restoring_leaves_newer_and_other_files_alone() {
    let home = home();
    let main = home.file(&format!("-demo/{ID}.jsonl"));
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path());
    archive.keep(&session(home.path(), ID), at()).unwrap();
    let manifest = archive.find(ID).unwrap();
    let archived = fs::metadata(&main).unwrap().modified().unwrap();
    let whole = fs::read(&main).unwrap();
    let cases = [
        ("{\"type\"".to_owned(), archived + DAY, Returned::Left),
        ("other".to_owned(), archived - DAY, Returned::Left),
        (String::from_utf8(whole.clone()).unwrap() + "more", archived - DAY, Returned::Left),
        ("{\"type\"".to_owned(), archived - DAY, Returned::Completed),
    ];
    for (text, modified, returned) in cases {
        fs::write(&main, &text).unwrap();
        fs::File::options().write(true).open(&main).unwrap().set_modified(modified).unwrap();
        let restored = archive.restore(&manifest, home.path()).unwrap();
        let file = restored.files.iter().find(|file| file.path == main).unwrap();
        assert_eq!(file.returned, returned, "{text}");
        let expected = if returned == Returned::Left { text.into_bytes() } else { whole.clone() };
        assert_eq!(fs::read(&main).unwrap(), expected);
    }
}

#[test]
fn a_damaged_copy_is_not_restored() {
    let home = home();
    let store = tempfile::tempdir().unwrap();
    let archive = Archive::new(store.path());
    archive.keep(&session(home.path(), ID), at()).unwrap();
    let copy = store.path().join(format!("projects/-demo/{ID}.jsonl.zst"));
    fs::write(&copy, zstd::encode_all(&b"something else"[..], 1).unwrap()).unwrap();
    let back = tempfile::tempdir().unwrap();
    let restored = archive.restore(&archive.find(ID).unwrap(), back.path()).unwrap();
    assert_eq!((restored.files.len(), restored.failed.len()), (FILES - 1, 1));
    let mut expected = all_files(home.path());
    let main = format!("projects/-demo/{ID}.jsonl");
    expected.retain(|path, _| path.contains(ID) && *path != main);
    assert_eq!(all_files(back.path()), expected, "nothing half done is left behind");
}

#[test]
fn bytes_are_counted_by_part_and_by_kind_of_entry() {
    let home = home();
    let session = session(home.path(), ID);
    let weight = du::weigh(&session);
    let sum: u64 = weight.parts.values().map(|part| part.bytes).sum();
    assert_eq!((weight.total.count, weight.total.bytes), (FILES as u64, sum));
    assert_eq!(weight.parts[&FilePurpose::ToolResults].bytes, 5);
    let mut kinds = du::Kinds::default();
    kinds.add(&session, &mut Buffer::default()).unwrap();
    let found: Vec<(&str, u64)> =
        kinds.heaviest().iter().map(|(kind, weight)| (*kind, weight.count)).collect();
    assert_eq!(found, [("user", 2), ("(damaged)", 1)]);
}

#[test]
fn sessions_are_kept_as_long_as_the_settings_say() {
    let home = home();
    assert_eq!(CleanupPeriod::of(home.path()), CleanupPeriod { days: 7, configured: true });
    for text in ["{", "[]", "{\"cleanupPeriodDays\":\"x\"}", "{}"] {
        write(&home.path().join("settings.json"), text);
        assert_eq!(CleanupPeriod::of(home.path()), CleanupPeriod::DEFAULT, "{text}");
    }
    assert_eq!(CleanupPeriod { days: u64::MAX, configured: true }.until(SystemTime::UNIX_EPOCH), None);
}

fn plan(root: &Path, choice: &Choice, running: &[&str], now: SystemTime) -> Plan {
    let running: HashSet<String> = running.iter().map(ToString::to_string).collect();
    Plan::new(Roots::new([root]).scan().unwrap().sessions, choice, &running, now)
}

fn named(root: &Path) -> Choice {
    let copies = Roots::new([root]).find_copies(ID).unwrap();
    Choice { named: copies.iter().map(SessionFiles::dir).collect(), ..Choice::default() }
}

fn ids(plan: &Plan) -> Vec<&str> {
    let mut ids: Vec<&str> = plan.remove.iter().map(|doomed| doomed.session.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_plan_removes_what_fits_and_spares_what_is_in_use() {
    let home = home();
    let now = SystemTime::UNIX_EPOCH + DAY * 365 * 60;
    let everything = Choice::default();
    assert_eq!(ids(&plan(home.path(), &everything, &[], now)), ["7c135d63", ID]);
    let running = plan(home.path(), &everything, &[ID], now);
    assert_eq!((ids(&running), running.spared[0].1), (vec!["7c135d63"], KeepReason::Running));

    let modified = session(home.path(), ID).modified().unwrap();
    let fresh = plan(home.path(), &everything, &[], modified);
    assert!(fresh.remove.is_empty() && fresh.spared.iter().all(|(_, why)| *why == KeepReason::Fresh));
    let named = named(home.path());
    assert_eq!(ids(&plan(home.path(), &named, &[], modified)), [ID]);
    assert_eq!(ids(&plan(home.path(), &named, &[ID], modified)), [""; 0]);

    let large = Choice { larger_than: Some(100), ..Choice::default() };
    assert_eq!(ids(&plan(home.path(), &large, &[], now)), [ID]);
    let old = Choice { before: Some(modified - DAY), ..Choice::default() };
    assert_eq!(ids(&plan(home.path(), &old, &[], now)), [""; 0]);
    for (part, count) in [("demo", 2), ("/demo", 2), ("other", 0)] {
        let of_project = Choice { project: Some(part.to_owned()), ..Choice::default() };
        assert_eq!(plan(home.path(), &of_project, &[], now).remove.len(), count, "{part}");
    }
}

#[test]
fn removing_takes_everything_of_the_session_and_nothing_else() {
    let home = home();
    let now = SystemTime::UNIX_EPOCH + DAY * 365 * 60;
    let mut expected = all_files(home.path());
    let named = named(home.path());
    let plan = plan(home.path(), &named, &[], now);
    assert_eq!(all_files(home.path()), expected, "a plan touches nothing");
    plan.remove[0].remove().unwrap();
    expected.retain(|path, _| !path.contains(ID));
    assert_eq!(all_files(home.path()), expected);
    assert!(!home.file(&format!("-demo/{ID}")).exists());
}

#[test]
fn a_session_that_changed_since_the_plan_stays() {
    let home = home();
    let now = SystemTime::UNIX_EPOCH + DAY * 365 * 60;
    let plan = plan(home.path(), &Choice::default(), &[], now);
    fs::write(home.file(&format!("-demo/{ID}.jsonl")), "{}\n{}\n{}\n").unwrap();
    let before = all_files(home.path());
    let doomed = plan.remove.iter().find(|doomed| doomed.session.id == ID).unwrap();
    assert!(doomed.remove().is_err());
    assert_eq!(all_files(home.path()), before);
}

/// A session that moved left a copy under its old project, and the history of its files is still needed.
#[test]
fn what_a_copy_elsewhere_needs_stays() {
    let home = home();
    write(&home.file(&format!("-old/{ID}.jsonl")), "{}\n");
    let now = SystemTime::UNIX_EPOCH + DAY * 365 * 60;
    let choice = Choice { project: Some("old".to_owned()), ..Choice::default() };
    let plan = plan(home.path(), &choice, &[], now);
    plan.remove[0].remove().unwrap();
    assert!(!home.file(&format!("-old/{ID}.jsonl")).exists());
    assert!(home.path().join(format!("file-history/{ID}/abc@v1")).exists());
}

#[test]
fn both_copies_of_a_session_go_when_it_is_named_and_one_when_its_file_is() {
    let home = home();
    let old = home.file(&format!("-old/{ID}.jsonl"));
    write(&old, "{}\n");
    let now = SystemTime::UNIX_EPOCH + DAY * 365 * 60;
    let roots = home.roots();
    let of_file = roots.find_copies(&old).unwrap();
    assert_eq!(of_file.iter().map(SessionFiles::dir).collect::<Vec<_>>(), [old.with_extension("")]);

    let both = plan(home.path(), &named(home.path()), &[], now);
    assert_eq!(both.remove.len(), 2);
    let bytes: usize =
        all_files(home.path()).iter().filter(|(path, _)| path.contains(ID)).map(|f| f.1.len()).sum();
    assert_eq!(both.bytes(), bytes as u64, "what both have is counted once");
    for doomed in &both.remove {
        doomed.remove().unwrap();
    }
    assert!(all_files(home.path()).keys().all(|path| !path.contains(ID)));
}

/// A restored archive holds files of the same names; naming one of them does not select the originals.
#[test]
fn a_file_outside_the_roots_names_no_session_in_them() {
    let home = home();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join(format!("{ID}.jsonl"));
    write(&path, "{}\n");
    let refused = home.roots().find_copies(&path).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}

#[cfg(unix)]
#[test]
fn links_are_removed_and_never_followed() {
    use std::os::unix::fs::symlink;
    let home = home();
    let outside = tempfile::tempdir().unwrap();
    write(&outside.path().join(format!("{ID}/precious")), "precious");
    symlink(outside.path(), home.file(&format!("-demo/{ID}/link"))).unwrap();
    fs::remove_dir_all(home.path().join("file-history")).unwrap();
    let now = SystemTime::UNIX_EPOCH + DAY * 365 * 60;
    let named = named(home.path());

    symlink(outside.path(), home.path().join("file-history")).unwrap();
    let refused = plan(home.path(), &named, &[], now).remove[0].remove().unwrap_err();
    assert!(refused.to_string().contains("lies outside"), "{refused}");
    fs::remove_file(home.path().join("file-history")).unwrap();

    plan(home.path(), &named, &[], now).remove[0].remove().unwrap();
    assert_eq!(fs::read(outside.path().join(format!("{ID}/precious"))).unwrap(), b"precious");
}
