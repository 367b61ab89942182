//! Checks the claims of `docs/parity.md` and of the guide.

#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidings::Frame;
use tidings::control::Call;
use tidings::hooks::HookEvent;
use tidings::messages::{Message, SystemMessage};
use tidings::tools::{ToolInput, canonical_name};

/// Frames that no recording has: with their required members, and an unknown key.
const FRAMES: &[&str] = &[
    r#"{"type":"tool_progress","tool_use_id":"t","elapsed_time_seconds":3.5,"new":1}"#,
    r#"{"type":"tool_use_summary","summary":"Read 3 files","preceding_tool_use_ids":["t"],"new":1}"#,
    r#"{"type":"auth_status","isAuthenticating":true,"output":["Open the page"],"new":1}"#,
    r#"{"type":"prompt_suggestion","suggestion":"Run the tests","new":1}"#,
    r#"{"type":"conversation_reset","new_conversation_id":"c","trigger":"clear","new":1}"#,
    r#"{"type":"active_goal","goal":null,"new":1}"#,
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"},"new":1}"#,
];

/// Required members of system frames of some subtypes; the others keep them like any unknown key.
const MEMBERS: &str = r#""session_id":"s","tools":[],"mcp_servers":[],"task_id":"t","hook_id":"h","request_id":"r","tool_name":"Bash","state":"idle","tasks":[],"commands":[],"content":"c","text":"x","new":1"#;

#[test]
fn every_frame_of_the_official_sdks_is_typed() {
    let system = SystemMessage::KNOWN
        .iter()
        .map(|subtype| format!(r#"{{"type":"system","subtype":"{subtype}",{MEMBERS}}}"#));
    for line in FRAMES.iter().map(ToString::to_string).chain(system) {
        let frame = Frame::from_json(&line).unwrap();
        let message = frame.message();
        if let Message::Unknown(unknown) = &message {
            panic!("{line}: {:?}", unknown.reason);
        }
        let back: Value = serde_json::from_str(&message.to_line()).unwrap();
        assert_eq!(back, serde_json::from_str::<Value>(&line).unwrap());
    }
}

/// Every test name on the page is that of an existing test.
#[test]
fn every_test_that_the_parity_page_names_exists() {
    let page = std::fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let tests = tests_of(&root().join("crates"));
    let mut named = BTreeSet::new();
    for row in rows(&page) {
        let (ours, test) = (row[4], row[6]);
        assert!(["yes", "partly", "no"].contains(&ours), "{row:?}");
        assert!(ours == "no" || !test.is_empty(), "a claim without a test: {row:?}");
        named.extend(code(test));
    }
    // Names in sentences are told from other names by their length.
    let is_test = |name: &String| {
        name.matches('_').count() > 3 && !name.contains(['.', ':', ' ']) && !name.contains(char::is_uppercase)
    };
    named.extend(code(&page).filter(is_test));
    assert!(named.len() > 50, "{named:?}");
    let missing: Vec<&String> = named.iter().filter(|name| !tests.contains(*name)).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}

/// Every scenario that the page names is played by our SDK.
#[test]
fn every_scenario_that_the_parity_page_names_is_played() {
    let page = std::fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let named: BTreeSet<&str> =
        rows(&page).iter().flat_map(|row| row[7].split(", ").filter(|name| !name.is_empty())).collect();
    assert!(named.len() > 50, "{named:?}");
    let missing: Vec<&&str> = named
        .iter()
        .filter(|name| !root().join("e2e/scenarios").join(name).join("sdk.json").is_file())
        .collect();
    assert!(missing.is_empty(), "no such scenarios: {missing:?}");
}

/// Each `no` and each `partly` has its reason.
#[test]
fn every_gap_of_parity_has_a_reason() {
    let page = std::fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let (tables, reasons) = page.split_once("## What is left out").unwrap();
    for row in tables.lines().filter(|row| row.contains("| no |") || row.contains("| partly |")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if ["no", "partly"].contains(&cells[4]) {
            assert!(reasons.contains(&format!("\n| {} |", cells[1])), "no reason is given: {row}");
        }
    }
}

/// A check for a counterpart of a name.
type HasCounterpart<'a> = &'a dyn Fn(&str) -> bool;

/// D28: each name of the pinned SDK's types has a typed counterpart, or a row that names it or says why not.
/// `e2e/parity.py` compares the names with the SDK.
#[test]
fn d28_every_name_of_the_typescript_sdk_has_a_counterpart_or_a_reason() {
    let page = std::fs::read_to_string(root().join("docs/parity.md")).unwrap();
    let names = root().join("crates/protocol/tests/fixtures/sdk/names.json");
    let names: Value = serde_json::from_str(&std::fs::read_to_string(names).unwrap()).unwrap();
    let declared = declared_in(&["crates/client/src", "crates/protocol/src"]);
    let mut described = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 4) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(cells[2] != "no" || !cells[3].is_empty(), "no reason is given: {row}");
        for ours in code(cells[2]) {
            let last = ours.rsplit("::").next().unwrap();
            assert!(declared.contains(last), "there is no `{ours}`: {row}");
        }
        assert!(cells[2] == "no" || code(cells[2]).count() > 0, "neither a name nor `no`: {row}");
        described.extend(code(cells[1]));
    }
    let options = declared_in(&["crates/client/src/options"]);
    let methods = declared_in(&["crates/client/src/calls", "crates/client/src/client"]);
    let is_message = |name: &str| {
        let (kind, subtype) = name.split_once('/').unwrap_or((name, ""));
        let line = json!({"type": kind, "subtype": subtype}).to_string();
        Frame::from_json(&line).unwrap().is_known()
    };
    let parts: [(&str, HasCounterpart<'_>); 7] = [
        ("tools", &|name| ToolInput::TOOLS.contains(&canonical_name(name))),
        ("requests", &|name| Call::KNOWN.contains(&name)),
        ("messages", &is_message),
        ("hooks", &|name| HookEvent::KNOWN.contains(&name)),
        ("options", &|name| options.contains(&snake_case(name))),
        ("methods", &|name| methods.contains(&snake_case(name))),
        ("exports", &|_| false),
    ];
    let mut missing = Vec::new();
    for (part, has) in parts {
        let all = names[part].as_array().unwrap();
        assert!(all.len() > 20, "{part}: {all:?}");
        let all = all.iter().map(|name| name.as_str().unwrap());
        missing.extend(all.filter(|name| !described.contains(*name) && !has(name)).map(|name| (part, name)));
    }
    assert!(missing.is_empty(), "neither a counterpart nor a row: {missing:?}");
    assert!(page.contains(names["version"].as_str().unwrap()), "the page is about another version");
}

/// The names of functions, types and constants that these folders declare.
fn declared_in(folders: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in folders.iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines().map(str::trim_start) {
            let words = line.strip_prefix("pub ").map(|rest| rest.trim_start_matches("async "));
            let name = words.and_then(|words| {
                ["fn ", "struct ", "enum ", "const ", "type "]
                    .iter()
                    .find_map(|kind| words.strip_prefix(kind))
            });
            // A variant of an enum has no word before it.
            let name = name.unwrap_or(line);
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            names.insert(name[..end].to_owned());
        }
    }
    names
}

/// `setMode` as `set_mode`.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// The guide describes how every option is passed.
#[test]
fn every_option_is_in_the_guide() {
    let guide = std::fs::read_to_string(root().join("crates/client/src/guide/options.md")).unwrap();
    let mut options = Vec::new();
    for file in rust_files(&root().join("crates/client/src/options")) {
        let text = std::fs::read_to_string(file).unwrap();
        // A signature may span several lines, but it ends with the brace of its body.
        let signatures = text.split("\n    pub fn ").skip(1).filter_map(|rest| rest.split('{').next());
        let setters = signatures.filter(|signature| signature.contains("mut self"));
        options.extend(setters.filter_map(|signature| signature.split(['(', '<']).next()).map(str::to_owned));
    }
    assert!(options.len() > 70, "{options:?}");
    let missing: Vec<&String> = options.iter().filter(|name| !guide.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "not in the guide: {missing:?}");
}

/// The rows of the tables of capabilities, cell by cell; the first cell is the second.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() == 8);
    rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|row| row[1] != "capability")
        .collect()
}

/// The texts in backticks.
fn code(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The names of all test functions, and of some other functions.
fn tests_of(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in rust_files(folder) {
        let text = std::fs::read_to_string(file).unwrap();
        let words = text
            .lines()
            .filter_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("fn "));
        names.extend(words.filter_map(|rest| rest.split('(').next()).map(str::to_owned));
    }
    names
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// D10: every crate has what crates.io and docs.rs show: a README, licences, keywords, categories and all
/// features.
#[test]
fn d10_every_crate_is_ready_for_the_registry() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for entry in std::fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        seen += 1;
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(folder.join(file).is_file(), "{} has no {file}", folder.display());
        }
        for key in [
            "description = ",
            "license.workspace",
            "readme = ",
            "keywords = ",
            "categories = ",
            "[package.metadata.docs.rs]",
        ] {
            assert!(manifest.contains(key), "{} has no `{key}`", folder.display());
        }
        let keywords = manifest.lines().find(|line| line.starts_with("keywords")).unwrap();
        assert!(keywords.matches(',').count() < 5, "crates.io takes five keywords: {keywords}");
    }
    assert!(seen >= 7, "{seen}");
}

/// D29: what needs a feature is marked with it in the documentation, and the tables of features name it.
#[test]
fn d29_the_documentation_names_the_feature_of_each_item() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [manifest, library, readme] = ["Cargo.toml", "src/lib.rs", "README.md"]
        .map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
    // With these, rustdoc marks each item with the feature of its `cfg`.
    for (text, needed) in [
        (&manifest, "all-features = true\nrustdoc-args"),
        (&manifest, r#"rustdoc-args = ["--cfg", "docsrs"]"#),
        (&library, "#![cfg_attr(docsrs, feature(doc_cfg))]"),
    ] {
        let text = without_lines(text, "# ");
        assert!(text.contains(needed), "no `{needed}`");
    }

    let table = library.lines().filter(|line| line.starts_with("//! | `")).collect::<Vec<_>>().join("\n");
    let features = manifest.split("\n[features]\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut seen = 0;
    for line in features.lines() {
        let Some((feature, _)) = line.split_once(" = [") else { continue };
        if feature != "default" {
            seen += 1;
            assert!(table.contains(&format!("//! | `{feature}`")), "src/lib.rs does not name {feature}");
            assert!(readme.contains(&format!("\n| `{feature}`")), "README.md does not name {feature}");
        }
    }
    assert!(seen > 4, "{features}");
    assert_ne!(manifest.contains("\nrepository"), readme.contains("names no repository"));

    let items: Vec<String> =
        rust_files(&folder.join("src")).iter().flat_map(|file| behind_feature(file)).collect();
    assert!(items.len() > 4, "{items:?}");
    let missing: Vec<&String> = items.iter().filter(|name| !table.contains(*name)).collect();
    assert!(missing.is_empty(), "src/lib.rs does not name the feature of {missing:?}");
}

/// D29: the examples of both READMEs compile with the packages that the lines above them add.
#[test]
fn d29_both_readmes_ask_for_the_same_packages() {
    let [ours, main] = ["crates/client/README.md", "README.md"].map(|file| {
        let page = std::fs::read_to_string(root().join(file)).unwrap();
        // Without a flavor, the attribute needs the feature `rt-multi-thread`.
        let attributes = page.lines().filter(|line| line.starts_with("#[tokio::main"));
        let flavors: BTreeSet<&str> = attributes.collect();
        assert_eq!(flavors, BTreeSet::from([r#"#[tokio::main(flavor = "current_thread")]"#]), "{file}");
        let added = page.lines().filter(|line| line.starts_with("cargo add ")).map(str::to_owned);
        added.collect::<Vec<_>>()
    });
    assert_eq!(ours, main);
    assert!(ours.contains(&"cargo add tokio --features macros,rt".to_owned()), "{ours:?}");
}

/// A text without the lines that begin like this.
fn without_lines(text: &str, beginning: &str) -> String {
    text.lines().filter(|line| !line.starts_with(beginning)).collect::<Vec<_>>().join("\n")
}

/// The names of public functions and modules of a file that need a feature.
fn behind_feature(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut names = Vec::new();
    let mut needs_feature = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") || line.starts_with("///") {
            needs_feature |=
                line.starts_with("#[cfg(") && line.contains("feature = ") && !line.contains("not(");
            continue;
        }
        if std::mem::take(&mut needs_feature) {
            let item =
                ["pub fn ", "pub async fn ", "pub mod "].iter().find_map(|kind| line.strip_prefix(kind));
            names.extend(item.and_then(|rest| rest.split(['(', '<', ';', ' ']).next()).map(str::to_owned));
        }
    }
    names
}
