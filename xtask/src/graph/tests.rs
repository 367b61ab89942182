//! Tests of the dependency graph: metadata and the lines of packages.

use super::*;

const METADATA: &str = r#"{
  "workspace_root": "/house", "workspace_members": ["a 1"],
  "packages": [
    {"id": "a 1", "name": "a", "version": "1.0.0", "license": "MIT", "manifest_path": "/house/crates/a/Cargo.toml",
     "features": {"default": ["dep:b"]},
     "dependencies": [{"name": "b", "kind": null, "rename": "bee", "optional": true}, {"name": "c", "kind": "dev"}]},
    {"id": "b 2", "name": "b", "version": "2.0.0", "license": null, "dependencies": []}],
  "resolve": {"nodes": [{"id": "a 1", "deps": [
    {"pkg": "b 2", "dep_kinds": [{"kind": null}]}, {"pkg": "c 3", "dep_kinds": [{"kind": "dev"}]}]}]}}"#;

#[test]
fn metadata_becomes_packages() {
    let graph = Graph::parse(METADATA).unwrap();
    let a = graph.package("a 1").unwrap();
    assert_eq!(a.links, ["b 2"], "dev-dependencies do not ship");
    assert_eq!(a.declared[0].alias, "bee");
    assert!(a.declared[0].optional && !a.declared[0].dev && a.declared[1].dev);
    assert_eq!(a.features["default"], ["dep:b"]);
    let (_, manifest) = graph.members().next().unwrap();
    assert_eq!(manifest.path, "crates/a/Cargo.toml");
    assert!(graph.package("b 2").unwrap().manifest.is_none());
}

#[test]
fn lines_are_found() {
    let text = "[dependencies]\nserde_json.workspace = true\nserde = \"1\"\n[dev-dependencies.insta]\n";
    let manifest = Manifest { path: "Cargo.toml".to_owned(), text: text.to_owned() };
    let lines = ["serde", "serde_json", "insta", "absent"].map(|name| manifest.line_of(name));
    assert_eq!(lines, [3, 2, 4, 1]);

    let lock = "# lock\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n".to_owned();
    let graph = Graph { lock, ..Graph::parse(METADATA).unwrap() };
    assert_eq!(graph.lock_line(graph.package("b 2").unwrap()), 4);
}

#[test]
fn nonsense_is_an_error() {
    assert!(Graph::parse("no JSON").is_err());
}
