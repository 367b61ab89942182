//! The dependency graph, read from `cargo metadata`.

use crate::repo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::process::Command;

/// Every package that any feature on any platform can include.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) packages: Vec<Package>,
    /// The lock file, for line numbers in messages about third-party packages.
    pub(crate) lock: String,
}

#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// Dependencies declared in the manifest.
    pub(crate) declared: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    /// Dependencies resolved by cargo: package ids, without dev-dependencies.
    pub(crate) links: Vec<String>,
    /// Set for packages of this workspace only.
    pub(crate) manifest: Option<Manifest>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Manifest {
    pub(crate) path: String,
    pub(crate) text: String,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// The name in the manifest, if `package = …` gives it another.
    pub(crate) alias: String,
    pub(crate) dev: bool,
    pub(crate) optional: bool,
}

impl Graph {
    /// Runs `cargo metadata`, first offline; a fresh machine has not downloaded other platforms' packages
    /// yet.
    pub(crate) fn load() -> Result<Self, Box<dyn Error>> {
        let json = metadata(&["--offline"]).or_else(|_| metadata(&[]))?;
        let mut graph = Self::parse(&json)?;
        graph.lock = std::fs::read_to_string(repo::root().join("Cargo.lock"))?;
        for manifest in graph.packages.iter_mut().filter_map(|package| package.manifest.as_mut()) {
            manifest.text = std::fs::read_to_string(repo::root().join(&manifest.path))?;
        }
        Ok(graph)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&Package, &Manifest)> {
        self.packages.iter().filter_map(|package| Some((package, package.manifest.as_ref()?)))
    }

    pub(crate) fn package(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }

    /// Line of a package in the lock file, 1 if it is missing.
    pub(crate) fn lock_line(&self, package: &Package) -> usize {
        let entry = format!("name = \"{}\"\nversion = \"{}\"", package.name, package.version);
        self.lock.find(&entry).map_or(1, |at| self.lock[..at].matches('\n').count() + 1)
    }

    fn parse(json: &str) -> Result<Self, Box<dyn Error>> {
        let root: Value = serde_json::from_str(json)?;
        let home = format!("{}/", text(&root["workspace_root"]));
        let nodes = list(&root["resolve"]["nodes"]);
        let links: BTreeMap<&str, &Value> = nodes.iter().map(|node| (text(&node["id"]), node)).collect();
        let members = list(&root["workspace_members"]);
        let packages = list(&root["packages"]).iter().map(|package| Package {
            id: text(&package["id"]).to_owned(),
            name: text(&package["name"]).to_owned(),
            version: text(&package["version"]).to_owned(),
            licence: package["license"].as_str().map(str::to_owned),
            declared: list(&package["dependencies"]).iter().map(dependency).collect(),
            features: features(&package["features"]),
            links: links.get(text(&package["id"])).map_or_else(Vec::new, |node| shipped_links(node)),
            manifest: members.contains(&package["id"]).then(|| Manifest {
                path: text(&package["manifest_path"]).trim_start_matches(&home).replace('\\', "/"),
                text: String::new(),
            }),
        });
        Ok(Self { packages: packages.collect(), lock: String::new() })
    }
}

impl Manifest {
    /// Line that declares `name`, 1 if it is missing.
    pub(crate) fn line_of(&self, name: &str) -> usize {
        let declares = |line: &str| {
            let key = line.trim_start().strip_prefix(name);
            key.is_some_and(|rest| rest.starts_with([' ', '.', '=']))
                || line.contains(&format!("dependencies.{name}]"))
        };
        self.text.lines().position(declares).map_or(1, |at| at + 1)
    }
}

fn metadata(more: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut cargo = Command::new(repo::cargo());
    // `--locked`: a check must not change the lock file.
    cargo.current_dir(repo::root()).args(["metadata", "--format-version=1", "--all-features", "--locked"]);
    let output = cargo.args(more).output()?;
    if !output.status.success() {
        return Err(format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn dependency(declared: &Value) -> Dependency {
    let name = text(&declared["name"]);
    Dependency {
        name: name.to_owned(),
        alias: declared["rename"].as_str().unwrap_or(name).to_owned(),
        dev: declared["kind"] == "dev",
        optional: declared["optional"] == true,
    }
}

fn features(declared: &Value) -> BTreeMap<String, Vec<String>> {
    let pairs = declared.as_object().into_iter().flatten();
    let words = |value: &Value| list(value).iter().map(|word| text(word).to_owned()).collect();
    pairs.map(|(name, value)| (name.clone(), words(value))).collect()
}

fn shipped_links(node: &Value) -> Vec<String> {
    let ships = |link: &&Value| list(&link["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
    list(&node["deps"]).iter().filter(ships).map(|link| text(&link["pkg"]).to_owned()).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
