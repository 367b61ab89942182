//! The protocol crate has three dependencies, so that it is cheap to depend on.
//!
//! `docs/decisions/0001-protocol-dependencies.md` has the reasons.

use super::Finding;
use crate::graph::{Dependency, Graph, Package};

const ALLOWED: &[&str] = &["memchr", "serde", "serde_json"];

pub(crate) fn check(graph: &Graph) -> Vec<Finding> {
    let Some((package, manifest)) = graph.members().find(|(package, _)| package.name == "tidings-protocol")
    else {
        return Vec::new();
    };
    let by_default = by_default(package);
    let forced =
        |used: &&Dependency| !used.dev && (!used.optional || by_default.contains(&used.alias.as_str()));
    let finding = |used: &Dependency| {
        let problem = format!("`{}` comes with every build of the protocol crate", used.name);
        let advice = "put it behind a feature that is off by default, or do without it";
        Finding::violation(&manifest.path, manifest.line_of(&used.alias), problem, advice)
    };
    let wrong = package.declared.iter().filter(forced).filter(|used| !ALLOWED.contains(&used.name.as_str()));
    wrong.map(finding).collect()
}

/// Features and dependencies (without `dep:`) that the default feature enables.
fn by_default(package: &Package) -> Vec<&str> {
    let mut reached = vec!["default"];
    let mut at = 0;
    while at < reached.len() {
        for word in package.features.get(reached[at]).into_iter().flatten() {
            let word = word.trim_start_matches("dep:");
            let name = word.split_once('/').map_or(word, |(name, _)| name);
            // `name?/feature` enables nothing by itself.
            if !name.ends_with('?') && !reached.contains(&name) {
                reached.push(name);
            }
        }
        at += 1;
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Manifest;

    fn dependency(name: &str) -> Dependency {
        Dependency { name: name.to_owned(), alias: name.to_owned(), ..Dependency::default() }
    }

    fn problems(declared: Vec<Dependency>, features: &[(&str, &str)]) -> usize {
        let features = features.iter().map(|(name, word)| ((*name).to_owned(), vec![(*word).to_owned()]));
        let package = Package {
            name: "tidings-protocol".to_owned(),
            declared,
            features: features.collect(),
            manifest: Some(Manifest::default()),
            ..Package::default()
        };
        check(&Graph { packages: vec![package], ..Graph::default() }).len()
    }

    #[test]
    fn a_fourth_dependency_fails() {
        assert_eq!(problems(vec![dependency("serde"), dependency("tokio")], &[]), 1);
        let optional = Dependency { optional: true, ..dependency("schemars") };
        let features = [("default", "schema"), ("schema", "dep:schemars")];
        assert_eq!(problems(vec![optional], &features), 1);
    }

    #[test]
    fn the_three_and_what_is_optional_or_for_tests_pass() {
        let optional = Dependency { optional: true, ..dependency("schemars") };
        let for_tests = Dependency { dev: true, ..dependency("insta") };
        let three = ALLOWED.iter().map(|name| dependency(name));
        let all = three.chain([optional, for_tests]).collect();
        assert_eq!(problems(all, &[("default", "std"), ("schema", "dep:schemars")]), 0);
    }
}
