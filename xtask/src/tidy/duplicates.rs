//! One version of each crate in the shipped program: two cost build time and size, and their types do not
//! mix.

use super::Finding;
use crate::graph::{Graph, Package};
use std::collections::{BTreeMap, BTreeSet};

/// Crates that may occur in two versions, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("base64", "reqwest is a version ahead of ours, which is that of async-nats"),
    ("bitflags", "version 1 is never built: it belongs to defmt, a disabled feature of jiff"),
    ("block-buffer", "comes with digest"),
    ("const-oid", "comes with digest and der"),
    ("cpufeatures", "comes with sha2"),
    ("crypto-common", "comes with digest"),
    ("digest", "comes with sha2"),
    ("getrandom", "ring and nkeys are behind uuid"),
    ("hashbrown", "comes with indexmap"),
    ("indexmap", "version 1 is never built: it belongs to a disabled feature of serde_with"),
    ("rand", "nkeys is behind async-nats and tungstenite"),
    ("rand_core", "comes with rand"),
    ("schemars", "version 0.9 is never built: it belongs to a disabled feature of serde_with"),
    ("sha2", "ed25519-dalek, which nkeys signs with, is a version behind"),
    ("syn", "runs at build time only: the derive of ts-rs is still on 2, every other derive on 3"),
    ("thiserror", "filedescriptor, by which crossterm waits for keys outside of Linux, still has version 1"),
    ("thiserror-impl", "comes with thiserror"),
    ("windows-sys", "ring is behind the rest; neither is built elsewhere than on Windows"),
];

const TABLE: &str = "xtask/src/tidy/duplicates.rs";

pub(crate) fn check(graph: &Graph) -> Vec<Finding> {
    find(graph, EXCEPTIONS)
}

fn find(graph: &Graph, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let shipped = shipped(graph);
    let mut by_name: BTreeMap<&str, Vec<&Package>> = BTreeMap::new();
    for package in &shipped {
        by_name.entry(&package.name).or_default().push(package);
    }
    by_name.retain(|_, versions| {
        versions.iter().map(|package| compatible(&package.version)).collect::<BTreeSet<_>>().len() > 1
    });
    let stale = exceptions.iter().filter(|(name, _)| !by_name.contains_key(name)).map(|(name, _)| {
        Finding::violation(TABLE, 1, format!("`{name}` has only one version"), "remove it from the list")
    });
    let stale: Vec<Finding> = stale.collect();
    by_name.retain(|name, _| !exceptions.iter().any(|(excused, _)| excused == name));
    let finding = |(name, versions): (&&str, &Vec<&Package>)| {
        let told: Vec<String> = versions.iter().map(|package| described(package, &shipped)).collect();
        let problem = format!("`{name}` is there {} times: {}", versions.len(), told.join(", "));
        let advice = format!("bring its users to one version, or list it with a reason in `{TABLE}`");
        Finding::violation("Cargo.lock", graph.lock_line(versions[0]), problem, advice)
    };
    by_name.iter().map(finding).chain(stale).collect()
}

/// All packages that the workspace uses without dev-dependencies.
fn shipped(graph: &Graph) -> Vec<&Package> {
    let mut reached: Vec<&Package> = graph.members().map(|(package, _)| package).collect();
    let mut at = 0;
    while at < reached.len() {
        for package in reached[at].links.iter().filter_map(|id| graph.package(id)) {
            if !reached.iter().any(|known| known.id == package.id) {
                reached.push(package);
            }
        }
        at += 1;
    }
    reached
}

fn described(package: &Package, shipped: &[&Package]) -> String {
    let users = shipped.iter().filter(|user| user.links.contains(&package.id));
    let users: Vec<&str> = users.map(|user| user.name.as_str()).collect();
    format!("{} (for {})", package.version, users.join(" and "))
}

/// The part of a version that a caret requirement fixes: up to the first number that is not 0.
fn compatible(version: &str) -> String {
    let mut kept = Vec::new();
    for number in version.split(['.', '-', '+']).take(3) {
        kept.push(number);
        if number != "0" {
            break;
        }
    }
    kept.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Manifest;

    fn package(name: &str, version: &str, links: &[&str]) -> Package {
        Package {
            id: format!("{name} {version}"),
            name: name.to_owned(),
            version: version.to_owned(),
            links: links.iter().map(|link| (*link).to_owned()).collect(),
            ..Package::default()
        }
    }

    fn graph(links: &[&str], others: Vec<Package>) -> Graph {
        let manifest = Some(Manifest::default());
        let mut packages = vec![Package { manifest, ..package("house", "0.1.0", links) }];
        packages.extend(others);
        Graph { packages, ..Graph::default() }
    }

    #[test]
    fn incompatible_versions_fail_and_name_their_users() {
        let others =
            vec![package("a", "1.0.0", &["b 2.0.0"]), package("b", "1.3.0", &[]), package("b", "2.0.0", &[])];
        let graph = graph(&["a 1.0.0", "b 1.3.0"], others);
        let problems: Vec<String> = find(&graph, &[]).into_iter().map(|finding| finding.problem).collect();
        assert_eq!(problems, ["`b` is there 2 times: 1.3.0 (for house), 2.0.0 (for a)"]);
        assert_eq!(find(&graph, &[("b", "for a reason")]).len(), 0);
    }

    #[test]
    fn what_nothing_shipped_reaches_passes() {
        let graph = graph(&["b 1.3.0"], vec![package("b", "1.3.0", &[]), package("b", "2.0.0", &[])]);
        assert_eq!(find(&graph, &[]).len(), 0);
        assert_eq!(find(&graph, &[("b", "was there twice")]).len(), 1, "a stale exception is a finding");
    }

    #[test]
    fn compatibility_is_cargos() {
        let kept = ["1.2.3", "0.4.1", "0.0.7", "2.0.0-rc.1"].map(compatible);
        assert_eq!(kept, ["1", "0.4", "0.0.7", "2"]);
    }
}
