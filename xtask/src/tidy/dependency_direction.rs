//! Allowed dependencies between the crates of the workspace, as listed in `ARCHITECTURE.md`.

use super::Finding;
use crate::graph::{Graph, Manifest, Package};

/// A crate and the crates of this workspace that it may use; a crate without a row is an error.
const ALLOWED: &[(&str, &[&str])] = &[
    ("tidings-base", &[]),
    ("tidings-protocol", &[]),
    ("tidings-api", &["tidings-protocol"]),
    ("tidings-transcript", &["tidings-base", "tidings-protocol"]),
    ("tidings", &["tidings-base", "tidings-protocol", "tidings-transcript"]),
    ("tidings-agent", &["tidings", "tidings-protocol", "tidings-transcript"]),
    ("tidings-acp", &["tidings-api", "tidings-protocol"]),
    ("tidings-fleet", &["tidings-base"]),
    ("tidings-remote", &["tidings-api", "tidings-base", "tidings-protocol"]),
    ("tidings-journal", &["tidings-base", "tidings-protocol"]),
    (
        "tidings-sessions",
        &[
            "tidings",
            "tidings-acp",
            "tidings-agent",
            "tidings-api",
            "tidings-base",
            "tidings-journal",
            "tidings-protocol",
            "tidings-transcript",
        ],
    ),
    (
        "tidings-bridge",
        &[
            "tidings",
            "tidings-acp",
            "tidings-agent",
            "tidings-api",
            "tidings-base",
            "tidings-fleet",
            "tidings-journal",
            "tidings-protocol",
            "tidings-sessions",
            "tidings-transcript",
        ],
    ),
    ("tidings-rehearsal", &["tidings-protocol"]),
    (
        "tidings-commands",
        &[
            "tidings",
            "tidings-acp",
            "tidings-agent",
            "tidings-api",
            "tidings-base",
            "tidings-journal",
            "tidings-protocol",
            "tidings-rehearsal",
            "tidings-transcript",
        ],
    ),
    (
        "tidings-cli",
        &[
            "tidings",
            "tidings-acp",
            "tidings-agent",
            "tidings-api",
            "tidings-base",
            "tidings-bridge",
            "tidings-commands",
            "tidings-journal",
            "tidings-protocol",
            "tidings-remote",
            "tidings-sessions",
            "tidings-transcript",
        ],
    ),
    ("tidings-client-bench", &["tidings"]),
    ("tidings-e2e-driver", &["tidings"]),
    ("xtask", &[]),
];

/// The stand-ins, which any crate may use in its tests.
const FOR_TESTS: &str = "tidings-rehearsal";

/// Crates whose tests run another crate of this workspace, which they do not contain: the client of the
/// server is tested with the server.
const IN_TESTS: &[(&str, &[&str])] = &[(
    "tidings-remote",
    &["tidings", "tidings-agent", "tidings-bridge", "tidings-journal", "tidings-sessions"],
)];

pub(crate) fn check(graph: &Graph) -> Vec<Finding> {
    let names: Vec<&str> = graph.members().map(|(package, _)| package.name.as_str()).collect();
    graph.members().flat_map(|(package, manifest)| judge(package, manifest, &names)).collect()
}

fn judge(package: &Package, manifest: &Manifest, members: &[&str]) -> Vec<Finding> {
    let table = "xtask/src/tidy/dependency_direction.rs";
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        let problem = format!("`{}` has no row among the allowed directions", package.name);
        let advice = format!("add a row to `{table}` and a paragraph to `ARCHITECTURE.md`");
        return vec![Finding::violation(&manifest.path, manifest.line_of("name"), problem, advice)];
    };
    let wrong = package.declared.iter().filter(|used| {
        let ours = members.contains(&used.name.as_str()) && used.name != package.name;
        let in_tests = IN_TESTS.iter().filter(|(name, _)| *name == package.name).flat_map(|(_, used)| *used);
        let for_tests = used.name == FOR_TESTS || in_tests.into_iter().any(|name| *name == used.name);
        let fine = allowed.contains(&used.name.as_str()) || (used.dev && for_tests);
        ours && !fine
    });
    let finding = |used: &crate::graph::Dependency| {
        let problem = format!("`{}` may not use `{}`", package.name, used.name);
        let advice = format!("move the code to a crate that may; the arrows are in `{table}`");
        Finding::violation(&manifest.path, manifest.line_of(&used.alias), problem, advice)
    };
    wrong.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Dependency;

    fn member(name: &str, uses: &[&str], uses_in_tests: &[&str]) -> Package {
        let declared = |dev: bool| {
            move |name: &&str| Dependency {
                name: (*name).to_owned(),
                alias: (*name).to_owned(),
                dev,
                ..Dependency::default()
            }
        };
        let declared =
            uses.iter().map(declared(false)).chain(uses_in_tests.iter().map(declared(true))).collect();
        let text = format!("[package]\nname = \"{name}\"\n[dependencies]\ntidings.workspace = true\n");
        let manifest = Some(Manifest { path: format!("{name}/Cargo.toml"), text });
        Package { name: name.to_owned(), declared, manifest, ..Package::default() }
    }

    fn problems(packages: Vec<Package>) -> Vec<String> {
        let graph = Graph { packages, ..Graph::default() };
        check(&graph).iter().map(|finding| format!("{} {}", finding.line, finding.problem)).collect()
    }

    #[test]
    fn an_arrow_that_points_up_fails() {
        let packages =
            vec![member("tidings-protocol", &["serde", "tidings"], &[]), member("tidings", &[], &[])];
        assert_eq!(problems(packages), ["4 `tidings-protocol` may not use `tidings`"]);
    }

    #[test]
    fn a_crate_without_a_row_fails() {
        let expected = ["2 `tidings-moon` has no row among the allowed directions"];
        assert_eq!(problems(vec![member("tidings-moon", &[], &[])]), expected);
    }

    #[test]
    fn declared_arrows_pass_and_stand_ins_in_tests_only() {
        let rehearsal = || member("tidings-rehearsal", &["tidings-protocol"], &[]);
        let protocol = || member("tidings-protocol", &[], &[]);
        let client = member("tidings", &["tidings-protocol"], &["tidings-rehearsal"]);
        assert_eq!(problems(vec![client, rehearsal(), protocol()]), [""; 0]);
        let client = member("tidings", &["tidings-rehearsal"], &[]);
        assert_eq!(problems(vec![client, rehearsal(), protocol()]).len(), 1);
        let bridge = || member("tidings-bridge", &[], &[]);
        let remote = member("tidings-remote", &[], &["tidings-bridge"]);
        assert_eq!(problems(vec![remote, bridge()]), [""; 0]);
        let remote = member("tidings-remote", &["tidings-bridge"], &[]);
        assert_eq!(problems(vec![remote, bridge()]).len(), 1);
    }
}
