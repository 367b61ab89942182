//! Only the cli prints, ends the process or reads the environment (xtask is not a product and may as well).
//!
//! A library that does any of these decides something that belongs to the program it is built into.

use super::Finding;
use crate::repo::TextFile;
use crate::source;

const EFFECTS: &[&str] = &[
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "dbg!",
    "process::exit",
    "process::abort",
    "std::env",
    "env::var",
    "env::var_os",
    "env::vars",
    "env::vars_os",
    "env::args",
    "env::args_os",
    "env::current_dir",
];

/// Files that may, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "crates/client/src/find.rs",
    "where a program lies, and what a child inherits, is written nowhere but in the environment",
)];

pub(crate) fn check(file: &TextFile) -> Vec<Finding> {
    find(file, EXCEPTIONS)
}

fn find(file: &TextFile, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let excused = exceptions.iter().any(|(path, _reason)| *path == file.path);
    if excused || !is_library_source(&file.path) {
        return Vec::new();
    }
    let shipped = source::without_tests(&file.code);
    let judge = |(line, word): (usize, &str)| {
        let advice = "hand the value in, or hand the text out, and let crates/cli do it";
        Finding::violation(&file.path, line, format!("`{word}` in a library"), advice)
    };
    source::hits(&shipped, EFFECTS).into_iter().map(judge).collect()
}

fn is_library_source(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts.as_slice(), ["crates", name, "src", ..] if *name != "cli") && !source::is_test_path(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    const LOUD: &str =
        "fn a() {\n    println!();\n    std::process::exit(1);\n    let b = std::env::var(c);\n}\n";

    fn lines(path: &str, text: &str, exceptions: &[(&str, &str)]) -> Vec<usize> {
        find(&TextFile::new(path, text), exceptions).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn printing_exiting_and_reading_the_environment_fail_in_a_library() {
        assert_eq!(lines("crates/client/src/lib.rs", LOUD, &[]), [2, 3, 4]);
    }

    #[test]
    fn the_cli_tests_and_named_exceptions_pass() {
        for path in ["crates/cli/src/main.rs", "xtask/src/main.rs", "crates/client/examples/a.rs"] {
            assert_eq!(lines(path, LOUD, &[]), NONE, "{path}");
        }
        let path = "crates/client/src/find.rs";
        assert_eq!(lines(path, LOUD, &[(path, "finds the program by PATH")]), NONE);
        assert_eq!(lines(path, "#[cfg(test)]\nmod tests { fn a() { println!(); } }", &[]), NONE);
        assert_eq!(lines(path, "/// println!(\"a\")\nfn a() { env!(\"B\"); }", &[]), NONE);
    }
}
