//! Tests of the cache: files that grow or change, other kinds, and damage.

use std::fs;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;

const LINES: Kind = Kind::new("lines", 1);
const OTHER: Kind = Kind::new("other", 1);

struct CacheFolder(tempfile::TempDir);

impl CacheFolder {
    fn new() -> Self {
        CacheFolder(tempfile::tempdir().unwrap())
    }

    fn session(&self) -> PathBuf {
        self.0.path().join("session.jsonl")
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("deep/er/sessions.cache")
    }

    /// Writes the session with a distinct time, so that no two writes look alike.
    fn write(&self, text: &str, second: u64) -> FileInfo {
        fs::write(self.session(), text).unwrap();
        self.touch(second)
    }

    fn touch(&self, second: u64) -> FileInfo {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        fs::File::options().append(true).open(self.session()).unwrap().set_modified(time).unwrap();
        FileInfo::of(&self.session()).unwrap()
    }

    fn append(&self, text: &str, second: u64) -> FileInfo {
        use std::io::Write as _;
        fs::File::options().append(true).open(self.session()).unwrap().write_all(text.as_bytes()).unwrap();
        self.touch(second)
    }

    /// A cache with one record about a session of two lines, the second one unfinished.
    fn filled(&self) -> Cache {
        let file = self.write("one\ntw", 1);
        let mut cache = Cache::open(&self.store());
        cache.keep(&file, LINES, Mark::before(4, b"one\n"), b"1 line".to_vec());
        cache.save().unwrap();
        Cache::open(&self.store())
    }
}

#[test]
fn a_file_that_did_not_change_is_known_whole() {
    let folder = CacheFolder::new();
    let cache = folder.filled();
    let file = FileInfo::of(&folder.session()).unwrap();
    assert_eq!(cache.known(&file, LINES), Known::Whole(b"1 line"));
    assert_eq!(cache.known(&file, OTHER), Known::Nothing);
    assert_eq!(cache.known(&file, Kind::new("lines", 2)), Known::Nothing);
}

#[test]
fn a_file_that_grew_is_known_up_to_its_last_whole_line() {
    let folder = CacheFolder::new();
    let cache = folder.filled();
    let file = folder.append("o\nthree\n", 2);
    assert_eq!(cache.known(&file, LINES), Known::UpTo { facts: b"1 line", offset: 4 });
}

#[test]
fn a_file_that_became_another_is_not_known() {
    type FileChange = fn(&CacheFolder) -> FileInfo;
    let changes: [(&str, FileChange); 4] = [
        ("cut", |folder| folder.write("on", 2)),
        ("rewritten at the same size", |folder| folder.write("two\non", 2)),
        ("rewritten and longer", |folder| folder.write("two\none\nthree", 2)),
        ("replaced", |folder| {
            let text = fs::read_to_string(folder.session()).unwrap() + "o\n";
            let beside = folder.session().with_extension("new");
            fs::write(&beside, text).unwrap();
            fs::rename(beside, folder.session()).unwrap();
            folder.touch(2)
        }),
    ];
    for (how, change) in changes {
        let folder = CacheFolder::new();
        let cache = folder.filled();
        let file = change(&folder);
        assert_eq!(cache.known(&file, LINES), Known::Nothing, "{how}");
    }
}

#[test]
fn kinds_do_not_disturb_one_another() {
    let folder = CacheFolder::new();
    let mut cache = folder.filled();
    let file = folder.append("o\n", 2);
    cache.keep(&file, OTHER, Mark::before(8, b"one\ntwo\n"), b"other".to_vec());
    assert_eq!(cache.known(&file, OTHER), Known::Whole(b"other"));
    cache.save().unwrap();
    let cache = Cache::open(&folder.store());
    assert_eq!(cache.known(&file, OTHER), Known::Whole(b"other"));
    assert_eq!(cache.known(&file, LINES), Known::UpTo { facts: b"1 line", offset: 4 });
}

#[test]
fn missing_files_are_forgotten_in_the_folders_that_were_looked_at_only() {
    let folder = CacheFolder::new();
    let mut cache = folder.filled();
    let file = FileInfo::of(&folder.session()).unwrap();
    cache.forget_missing(&[PathBuf::from("/elsewhere")], std::iter::empty());
    assert_eq!(cache.known(&file, LINES), Known::Whole(b"1 line"));
    cache.forget_missing(&[folder.0.path().to_owned()], [folder.session().as_path()].into_iter());
    assert_eq!(cache.known(&file, LINES), Known::Whole(b"1 line"));
    cache.forget_missing(&[folder.0.path().to_owned()], std::iter::empty());
    assert_eq!(cache.known(&file, LINES), Known::Nothing);
    cache.save().unwrap();
    assert_eq!(Cache::open(&folder.store()).known(&file, LINES), Known::Nothing);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_cache() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = CacheFolder::new();
    drop(folder.filled());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder.store()), mode(folder.store().parent().unwrap())), (0o600, 0o700));
    // No other files remain.
    assert_eq!(fs::read_dir(folder.store().parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_cache_without_a_place_is_not_stored() {
    let folder = CacheFolder::new();
    let file = folder.write("one\n", 1);
    let mut cache = Cache::none();
    cache.keep(&file, LINES, Mark::before(4, b"one\n"), b"1".to_vec());
    cache.save().unwrap();
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 1);
}

#[test]
fn a_cache_that_cannot_be_used_is_forgotten() {
    let folder = CacheFolder::new();
    drop(folder.filled());
    let file = FileInfo::of(&folder.session()).unwrap();
    let whole = fs::read(folder.store()).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(folder.store(), &damaged).unwrap();
        assert_eq!(Cache::open(&folder.store()).known(&file, LINES), Known::Nothing, "byte {at}");
        fs::write(folder.store(), &whole[..at]).unwrap();
        assert_eq!(Cache::open(&folder.store()).known(&file, LINES), Known::Nothing, "cut at {at}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_opened_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = CacheFolder::new();
        let path = folder.0.path().join("sessions.cache");
        // With a valid head and checksum, so that the records are decoded.
        let mut file = b"tidings cache 1\n".to_vec();
        file.extend_from_slice(&super::file::hash(&bytes).to_le_bytes());
        file.extend_from_slice(&bytes);
        fs::write(&path, file).unwrap();
        let session = folder.write("one\n", 1);
        let cache = Cache::open(&path);
        prop_assert_eq!(cache.known(&session, LINES), Known::Nothing);
    }
}
