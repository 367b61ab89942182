//! Only the program prints, exits or reads the environment (xtask is not shipped and may do so too).
//!
//! These decisions belong to the program that uses a library.

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

/// The crates of the program itself.
const PROGRAM: [&str; 2] = ["cli", "commands"];

/// Exempt files, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "crates/client/src/find.rs",
    "the location of a program, and the environment of a child process, come from the environment only",
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
        let advice = "take the value as a parameter, or return the text, and let the program do it";
        Finding::violation(&file.path, line, format!("`{word}` in a library"), advice)
    };
    source::hits(&shipped, EFFECTS).into_iter().map(judge).collect()
}

fn is_library_source(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts.as_slice(), ["crates", name, "src", ..] if !PROGRAM.contains(name))
        && !source::is_test_path(path)
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
