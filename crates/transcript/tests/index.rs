//! The index gives the same results as a scan, whatever happens to the files.

#![cfg(feature = "index")]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tidings_transcript::index::{Index, Updated};
use tidings_transcript::roots::SessionFiles;
use tidings_transcript::search::{self, Case, Hit, Options, SearchFlow, SearchQuery, Summary, Syntax};
use tidings_transcript::{ChangedInputs, ErrorKind};

use crate::test_root::TestRoot;

impl TestRoot {
    fn append(&self, name: &str, content: &str) {
        let mut file = OpenOptions::new().append(true).open(self.file(name)).unwrap();
        file.write_all(content.as_bytes()).unwrap();
    }

    fn index(&self) -> PathBuf {
        self.path().join("cache/index.sqlite")
    }

    fn update(&self) -> Updated {
        let mut index = Index::create(&self.index()).unwrap();
        index.update(&self.sessions(), &self.roots().projects_folders(), |_| {}).unwrap()
    }

    /// New, grown, replaced, removed.
    fn updated(&self) -> [u64; 4] {
        let updated = self.update();
        [updated.added, updated.grown, updated.replaced, updated.removed]
    }

    /// The common result of both searches, as `session:line text`, and the bytes that the one with the index
    /// read.
    fn both(&self, options: &Options) -> (Vec<String>, u64) {
        let sessions = self.sessions();
        let query = SearchQuery::new(options.clone()).unwrap();
        let shown = |hit: Hit<'_>| format!("{}:{} {}", hit.session.id, hit.line, hit.excerpt.text);
        let (mut scanned, mut indexed) = (Vec::new(), Vec::new());
        search::run(&sessions, &query, |hit| {
            scanned.push(shown(hit));
            SearchFlow::Continue
        });
        let index = Index::open(&self.index()).unwrap().unwrap();
        let Summary { bytes, .. } = index
            .search(&sessions, &query, |hit| {
                indexed.push(shown(hit));
                SearchFlow::Continue
            })
            .unwrap();
        assert_eq!(indexed, scanned, "{options:?}");
        (indexed, bytes)
    }

    fn found(&self, pattern: &str) -> Vec<String> {
        self.both(&literal(pattern)).0
    }
}

fn literal(pattern: &str) -> Options {
    Options { pattern: pattern.into(), ..Options::default() }
}

fn says(text: &str) -> String {
    let mut quoted = String::new();
    tidings_protocol::json::write_string(text, &mut quoted);
    format!("{{\"type\":\"user\",\"message\":{{\"content\":{quoted}}}}}\n")
}

/// Words that differ from line to line, so that signatures fill up.
fn chatter(lines: std::ops::Range<u32>) -> String {
    let word = |number: u32| format!("{:x}", number.wrapping_mul(0x9e37_79b1));
    lines.map(|line| says(&(0..40).map(|at| word(line * 40 + at)).collect::<Vec<_>>().join(" "))).collect()
}

#[test]
fn an_index_reads_only_where_something_may_be_found() {
    let place = TestRoot::new();
    for number in 0..10 {
        place.write(&format!("p/s{number}.jsonl"), &chatter(number * 500..(number + 1) * 500));
    }
    place.append("p/s7.jsonl", &says("a zebrafinch of quartz"));
    let all = place.sessions().iter().map(SessionFiles::bytes).sum::<u64>();
    assert_eq!(place.update().bytes, all);
    let check = |options: &Options, count: usize| {
        let (found, bytes) = place.both(options);
        assert_eq!(found.len(), count, "{options:?}");
        assert!(bytes * 4 < all, "{bytes} of {all} for {options:?}");
    };
    check(&literal("zebrafinch"), 1);
    check(&literal("brafinch of qu"), 1);
    check(&literal("zebrafinch, quartz"), 0);
    check(&Options { case: Case::Ignore, ..literal("ZEBRAFINCH") }, 1);
    check(&Options { syntax: Syntax::Regex, ..literal(r"zebra\w+ (of|in) \w*artz") }, 1);
    check(&Options { syntax: Syntax::Regex, ..literal(r"zebrafinch$|platypus") }, 0);
    // The index cannot narrow these, so everything is read.
    assert_eq!(place.both(&literal("ze")).0.len(), 1);
    assert_eq!(place.both(&Options { syntax: Syntax::Regex, ..literal(r"\bz\w+ch\b") }).0.len(), 1);
}

/// Text that has the trigrams of a whole signature in each line, so that little of it fills a segment.
fn noise(lines: std::ops::Range<u64>) -> String {
    let mut seed = lines.start;
    let mut character = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b' ' + u8::try_from((seed >> 33) % 64).unwrap())
    };
    lines
        .map(|line| says(&format!("{} line {line};", (0..10_000).map(|_| character()).collect::<String>())))
        .collect()
}

#[test]
fn full_segments_and_young_signatures_find_the_same() {
    let place = TestRoot::new();
    place.write("p/a.jsonl", &noise(0..200));
    place.write("p/b.jsonl", &noise(200..400));
    place.update();
    place.append("p/a.jsonl", &noise(400..580));
    place.update();
    let all = place.sessions().iter().map(SessionFiles::bytes).sum::<u64>();
    let bytes = Index::open(&place.index()).unwrap().unwrap().status().unwrap().bytes;
    assert!(bytes > 4 << 20, "less than a segment: {bytes}");
    for line in [0, 199, 200, 399, 400, 511, 512, 579] {
        let (found, bytes) = place.both(&literal(&format!(" line {line};")));
        assert_eq!(found.len(), 1, "{line}");
        assert!(bytes * 4 < all, "{bytes} of {all} for {line}");
    }
}

#[test]
fn an_update_reads_only_what_changed() {
    let place = TestRoot::new();
    place.write("p/a.jsonl", &(says("first needle") + &says("second")));
    place.write("p/b.jsonl", &says("another needle"));
    place.write("p/c.jsonl", &says("third needle"));
    assert_eq!(place.updated(), [3, 0, 0, 0]);
    assert_eq!(place.updated(), [0, 0, 0, 0]);

    place.append("p/a.jsonl", &says("appended needle"));
    assert_eq!(place.found("appended needle").len(), 1, "before the index knows");
    let updated = place.update();
    assert_eq!((updated.grown, updated.bytes), (1, says("appended needle").len() as u64));
    assert_eq!(place.found("needle").len(), 4);

    // Half a line is searched, and counts as a line until its other half is there.
    let line = says("torn needle in half");
    place.append("p/a.jsonl", &line[..line.len() - 12]);
    assert_eq!(place.updated(), [0, 1, 0, 0]);
    assert_eq!(place.found("torn needle"), ["a:4 ".to_owned() + &line[..line.len() - 12]]);
    place.append("p/a.jsonl", &line[line.len() - 12..]);
    assert_eq!(place.updated(), [0, 1, 0, 0]);
    assert_eq!(place.found("torn needle"), ["a:4 torn needle in half"]);

    // Truncated, rewritten in place and longer, replaced by another file, deleted.
    place.write("p/a.jsonl", &says("cut needle"));
    assert_eq!(place.found("cut needle").len(), 1, "before the index knows");
    assert_eq!(place.updated(), [0, 0, 1, 0]);
    place.write("p/a.jsonl", &(says("rewritten needle, and longer than it was before") + &says("x")));
    assert_eq!(place.updated(), [0, 0, 1, 0]);
    place.write("p/new", &(says("third needle") + &says("moved needle")));
    fs::rename(place.file("p/new"), place.file("p/c.jsonl")).unwrap();
    assert_eq!(place.updated(), [0, 0, 1, 0]);
    fs::remove_file(place.file("p/b.jsonl")).unwrap();
    assert_eq!(place.found("another needle"), [""; 0], "before the index knows");
    assert_eq!(place.updated(), [0, 0, 0, 1]);
    assert_eq!(place.found("needle").len(), 3);
    let status = Index::open(&place.index()).unwrap().unwrap().status().unwrap();
    assert_eq!((status.files, status.covered), (2, place.sessions().iter().map(SessionFiles::bytes).sum()));
}

#[test]
fn files_below_other_roots_stay_in_the_index() {
    let (one, other) = (TestRoot::new(), TestRoot::new());
    one.write("p/a.jsonl", &says("needle"));
    other.write("p/b.jsonl", &says("needle"));
    let mut index = Index::create(&one.index()).unwrap();
    for place in [&one, &other, &one] {
        index.update(&place.sessions(), &place.roots().projects_folders(), |_| {}).unwrap();
    }
    assert_eq!(index.status().unwrap().files, 2);
}

#[test]
fn many_small_updates_do_not_make_a_large_index() {
    let place = TestRoot::new();
    place.write("p/a.jsonl", "");
    for number in 0..60 {
        place.append("p/a.jsonl", &says(&format!("line number {number}")));
        place.update();
    }
    assert_eq!(place.found("number 5").len(), 11);
    let bytes = Index::open(&place.index()).unwrap().unwrap().status().unwrap().bytes;
    assert!(bytes < 2 << 20, "{bytes}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_an_index() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = TestRoot::new();
    place.write("p/a.jsonl", &says("secret"));
    place.update();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.index()), 0o600);
    assert_eq!(mode(place.index().parent().unwrap()), 0o700);
}

#[test]
fn an_index_that_cannot_be_used_is_an_error_or_made_anew() {
    let place = TestRoot::new();
    assert!(Index::open(&place.index()).unwrap().is_none());
    place.write("p/a.jsonl", &says("needle"));
    place.update();

    let connection = rusqlite::Connection::open(place.index()).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    drop(connection);
    let newer = Index::open(&place.index()).unwrap_err();
    assert_eq!(newer.kind(), ErrorKind::Invalid);
    assert!(newer.to_string().starts_with("A newer version of this program made the index"));

    Index::remove(&place.index()).unwrap();
    fs::write(place.index(), "this is no database, but long enough to look like one ".repeat(100)).unwrap();
    assert_eq!(Index::open(&place.index()).unwrap_err().kind(), ErrorKind::Damaged);
    assert_eq!(place.updated(), [1, 0, 0, 0]);
    assert_eq!(place.found("needle").len(), 1);
    assert!(Index::remove(&place.index()).unwrap() > 0);
    assert_eq!(Index::remove(&place.index()).unwrap(), 0);
}

/// Damage in every page: an error or a result, never a panic.
#[test]
fn a_damaged_index_does_not_bring_the_process_down() {
    let place = TestRoot::new();
    place.write("p/a.jsonl", &(chatter(0..500) + &says("needle")));
    place.update();
    let whole = fs::read(place.index()).unwrap();
    let sessions = place.sessions();
    let query = SearchQuery::new(literal("needle")).unwrap();
    for at in (0..whole.len()).step_by(1024) {
        let mut damaged = whole.clone();
        let end = (at + 1024).min(damaged.len());
        damaged[at..end].fill(0xa5);
        Index::remove(&place.index()).unwrap();
        fs::write(place.index(), damaged).unwrap();
        if let Ok(Some(mut index)) = Index::open(&place.index()) {
            drop(index.search(&sessions, &query, |_| SearchFlow::Continue));
            drop(index.update(&sessions, &place.roots().projects_folders(), |_| {}));
            drop(index.status());
        }
    }
}

/// Lines of every kind: text in letters with upper and lower case, unusual escapes, and damage.
fn line() -> impl Strategy<Value = String> {
    let text = "[a-cA-CkKsS\u{212a}\u{17f}éÉ \"\\\\/\n.-]{0,30}";
    prop_oneof![
        4 => text.prop_map(|text| says(&text)),
        1 => text.prop_map(|text| {
            let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let escaped = units.concat();
            format!("{{\"type\":\"user\",\"message\":\"{escaped}\"}}\n")
        }),
        1 => text.prop_map(|text| text.replace('\n', " ") + "\n"),
        1 => text.prop_map(|text| {
            let line = says(&text);
            line[..line.len() - 4].to_owned() + "\n"
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn with_an_index_the_same_is_found_as_without(
        first in prop::collection::vec(line(), 0..12),
        more in prop::collection::vec(line(), 0..6),
        needles in prop::collection::vec("[a-cA-CkKsSéÉ \"\\\\/.-]{1,6}", 8),
    ) {
        let place = TestRoot::new();
        place.write("p/a.jsonl", &first.concat());
        place.write("p/a/subagents/agent-x.jsonl", &more.concat());
        place.update();
        place.append("p/a.jsonl", &more.concat());
        for (at, needle) in needles.iter().enumerate() {
            if at == needles.len() / 2 {
                place.update();
            }
            for case in [Case::Sensitive, Case::Ignore] {
                place.both(&Options { case, ..literal(needle) });
                let pattern = format!("({}|kab)s?c*", regex::escape(needle));
                place.both(&Options { case, syntax: Syntax::Regex, ..literal(&pattern) });
            }
        }
    }
}

#[test]
fn p41_a_changed_input_is_found_although_the_index_does_not_know_it() {
    let place = TestRoot::new();
    let call = r#"{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"t-1","name":"Bash","input":{"command":"make"}}]}}"#;
    place.write("p/a.jsonl", &format!("{}{call}\n", chatter(0..200)));
    place.update();
    let input = tidings_protocol::json::Json::parse(r#"{"command":"make zebrafinch"}"#).unwrap();
    let changed_inputs: ChangedInputs = [("t-1".to_owned(), input)].into_iter().collect();
    let (found, _) = place.both(&Options { changed_inputs, ..literal("zebrafinch") });
    assert_eq!(found, ["a:201 make zebrafinch"]);
}
