//! Files outside of a project that may be read without asking.

use std::sync::LazyLock;

use super::PathPatterns;

/// Patterns of such files, with the reasons. A pattern for everything in a folder includes the folder.
const PUBLIC: &[(&str, &str)] = &[
    ("/usr/include/*", "headers of installed libraries, which a compiler reads as well"),
    ("/usr/local/include/*", "the same"),
    ("/usr/share/doc/*", "documentation of installed programs"),
    ("/usr/share/man/*", "the same"),
    ("/etc/os-release", "the name of the operating system"),
    ("/usr/lib/os-release", "the same; the file in `/etc` is a link to it"),
    ("/etc/hosts", "names for addresses, which every program may look up"),
    ("/proc/cpuinfo", "the processor, for the number of parallel jobs"),
    ("/proc/meminfo", "the memory, for the same"),
    ("/proc/version", "the version of the kernel"),
    ("/dev/null", "empty"),
    ("/dev/zero", "zeros"),
    ("/dev/random", "random numbers"),
    ("/dev/urandom", "the same"),
    (
        "/tmp/claude-*/tasks/*.output",
        "outputs of the session's own background tasks, which Claude Code stores there",
    ),
];

/// Folders of published packages, in hidden folders of a home, with the reasons.
const PACKAGES: &[(&str, &str)] = &[
    ("/.cargo/registry/", "sources of crates, to look up an interface"),
    ("/.cargo/git/", "the same"),
    ("/.rustup/toolchains/", "the standard library of Rust"),
    ("/.m2/repository/", "packages of Maven"),
    ("/.nvm/versions/", "Node.js and its library"),
    ("/.pyenv/versions/", "Python and its library"),
];

/// True if a file may be read although it is outside of the project.
pub(super) fn is_public(path: &str) -> bool {
    static PATTERNS: LazyLock<PathPatterns<'static>> =
        LazyLock::new(|| PathPatterns::new(PUBLIC.iter().map(|(pattern, _)| *pattern)));
    let package = PACKAGES.iter().find_map(|(folder, _)| path.split_once(folder));
    match package {
        Some((before, behind)) => !hides(before) && !hides(behind),
        None => PATTERNS.match_path(path) && !hides(path),
    }
}

/// True if a part of a path is hidden.
pub(super) fn hides(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k29_what_may_be_read_outside_of_the_project_has_a_reason() {
        assert!(PUBLIC.iter().chain(PACKAGES).all(|(pattern, why)| !pattern.is_empty() && !why.is_empty()));
        for (path, expected) in [
            ("/usr/include", true),
            ("/usr/include/stdio.h", true),
            ("/usr/includes/x", false),
            ("/home/ada/.cargo/registry/src/x/lib.rs", true),
            ("/home/ada/.cargo/registry/src/.x", false),
            ("/home/ada/.x/.cargo/registry/src/y", false),
            ("/home/ada/.cargo/config.toml", false),
            ("/tmp/claude-1000/-home-ada-demo/tasks/b1.output", true),
            ("/tmp/claude-1000/.x/tasks/b1.output", false),
            ("/tmp/x.output", false),
            ("/etc/passwd", false),
            ("/etc/hosts.x", false),
            ("/proc/cpuinfo", true),
        ] {
            assert_eq!(is_public(path), expected, "{path}");
        }
    }
}
