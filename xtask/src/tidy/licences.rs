//! Every package of a build has a licence on the list.

use super::Finding;
use crate::graph::{Graph, Package};

/// Permissive licences, and MPL-2.0, whose copyleft is limited to its own files.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Packages with another licence or none: name, reason.
const EXCEPTIONS: &[(&str, &str)] =
    &[("webpki-root-certs", "a list of certificates, under a licence for data; used on systems without one")];

const TABLE: &str = "xtask/src/tidy/licences.rs";

pub(crate) fn check(graph: &Graph) -> Vec<Finding> {
    find(graph, EXCEPTIONS)
}

fn find(graph: &Graph, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let bad: Vec<&Package> = graph.packages.iter().filter(|package| !is_fine(package)).collect();
    let excused = |package: &&&Package| exceptions.iter().any(|(name, _)| *name == package.name);
    let finding = |package: &&Package| {
        let licence = package.licence.as_deref().unwrap_or("no licence expression");
        let problem = format!("`{} {}`: {licence}", package.name, package.version);
        let advice = format!("use another package, or list it with a reason in `{TABLE}`");
        Finding::violation("Cargo.lock", graph.lock_line(package), problem, advice)
    };
    let stale = exceptions.iter().filter(|(name, _)| !bad.iter().any(|package| package.name == *name));
    let stale = stale.map(|(name, _)| {
        Finding::violation(
            TABLE,
            1,
            format!("`{name}` no longer needs an exception"),
            "remove it from the list",
        )
    });
    bad.iter().filter(|package| !excused(package)).map(finding).chain(stale).collect()
}

fn is_fine(package: &Package) -> bool {
    package.licence.as_deref().is_some_and(|expression| {
        // Before SPDX expressions were required, a slash meant OR.
        let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = words.as_slice();
        any(&mut rest) == Some(true) && rest.is_empty()
    })
}

/// `a OR b`: one is enough, but both sides are parsed; `None` if the words are not an expression.
fn any(words: &mut &[&str]) -> Option<bool> {
    let mut fine = all(words)?;
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        fine |= all(words)?;
    }
    Some(fine)
}

/// `a AND b`: both are needed, and it binds tighter than OR.
fn all(words: &mut &[&str]) -> Option<bool> {
    let mut fine = one(words)?;
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        fine &= one(words)?;
    }
    Some(fine)
}

fn one(words: &mut &[&str]) -> Option<bool> {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let fine = any(words)?;
            *words = words.strip_prefix(&[")"])?;
            Some(fine)
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            Some(ALLOWED.contains(&format!("{name} WITH {exception}").as_str()))
        }
        [name, rest @ ..] => {
            *words = rest;
            Some(ALLOWED.contains(name))
        }
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: Option<&str>) -> Package {
        let (name, licence) = (name.to_owned(), licence.map(str::to_owned));
        Package { name, licence, ..Package::default() }
    }

    fn fine(licence: &str) -> bool {
        is_fine(&package("a", Some(licence)))
    }

    #[test]
    fn one_of_or_and_all_of_and() {
        assert!(fine("MIT") && fine("MIT/Apache-2.0") && fine("GPL-3.0-only OR MIT"));
        assert!(fine("(MIT OR GPL-3.0-only) AND Unicode-3.0"));
        assert!(fine("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only"));
    }

    #[test]
    fn other_licences_and_broken_expressions_fail() {
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "MIT WITH Moon-exception"] {
            assert!(!fine(bad), "{bad}");
        }
        for broken in ["", "(MIT", "MIT)", "MIT OR", "MIT MIT"] {
            assert!(!fine(broken), "{broken}");
        }
        assert!(!is_fine(&package("a", None)));
    }

    #[test]
    fn exceptions_excuse_until_they_are_stale() {
        let packages = vec![package("a", Some("GPL-3.0-only")), package("b", Some("MIT"))];
        let graph = Graph { packages, ..Graph::default() };
        assert_eq!(find(&graph, &[]).len(), 1);
        assert_eq!(find(&graph, &[("a", "build tool only")]).len(), 0);
        assert_eq!(find(&graph, &[("a", "build tool only"), ("b", "was GPL")]).len(), 1);
    }
}
