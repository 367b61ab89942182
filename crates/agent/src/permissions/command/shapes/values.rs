//! Values that options and operands of known commands may have.

use crate::permissions::runs;

/// A kind of value.
#[derive(Clone, Copy)]
pub(in crate::permissions::command) enum Value {
    /// A number, with a sign or a unit.
    Number,
    /// An optional number: `-j`, `-j4`, `-j 4`.
    Count,
    /// Letters, digits, `_` and `-`.
    Word,
    /// A name without a slash: of a package, a test, a target, a format.
    Name,
    /// Any text. The program neither opens nor runs it.
    Text,
    /// A path. Its reach is judged elsewhere.
    Path,
    /// A path of a source file with one of these extensions.
    Source(&'static str),
    /// A file that a build may write: not hidden, and without the extension of sources, settings or scripts.
    Output,
    /// An output folder of a build, by its usual name, so that sources and settings are not overwritten.
    OutputFolder,
    /// A path that is not hidden and not run because of its name: an output folder, a file that is moved.
    Plain,
    /// One of these words.
    OneOf(&'static str),
    /// A revision, a branch, or a path in a repository.
    Revision,
    /// The name of a remote repository.
    Remote,
    /// The name of a remote repository, or the address of one on the network.
    Address,
    /// A branch or `from:to`, without forcing or deleting.
    Refspec,
    /// A package of the npm registry, optionally with a version.
    NpmPackage,
    /// A package of the Python index, optionally with versions, or the project itself.
    PythonPackage,
    /// A file that lists Python packages, by its usual name.
    Requirements,
    /// A `jq` program that shows only its input.
    Jq,
    /// A `sed` program that prints lines by number.
    SedPrint,
    /// A `sed` program that replaces text or deletes lines.
    SedEdit,
    /// A format of `date`.
    DateFormat,
    /// The mode of a file, as `chmod` takes it.
    Mode,
}

impl Value {
    pub(super) fn accepts(self, text: &str) -> bool {
        let chars = |more: &str| {
            !text.is_empty()
                && !text.starts_with('-')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        match self {
            Value::Number => is_number(text),
            Value::Count => !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()),
            Value::Word => chars("_-"),
            Value::Name => chars("_-.,:+*@%^"),
            Value::Text => true,
            Value::Path => is_path(text),
            Value::Source(endings) => is_path(text) && has_ending(text, endings.split_whitespace()),
            Value::Output => is_output(text),
            Value::OutputFolder => is_path(text) && is_plain_path(text) && is_output_folder(text),
            Value::Plain => is_path(text) && is_plain_path(text),
            Value::OneOf(words) => words.split_whitespace().any(|word| word == text),
            Value::Revision => !text.is_empty() && !text.starts_with('-'),
            Value::Remote => chars("_-.") && !text.starts_with('.'),
            Value::Address => Value::Remote.accepts(text) || is_address(text),
            Value::Refspec => {
                chars("_-./@{}~^:") && !text.starts_with(':') && !text.contains("::") && !text.contains("//")
            }
            Value::NpmPackage => is_npm_package(text),
            Value::PythonPackage => is_python_package(text),
            Value::Requirements => {
                let name = text.rsplit('/').next().unwrap_or(text);
                is_path(text) && runs::is_requirements(name)
            }
            Value::Jq => shows_only_its_input(text),
            Value::SedPrint => {
                text.ends_with('p')
                    && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | 'p' | ';' | ' '))
            }
            Value::SedEdit => is_sed_edit(text),
            Value::DateFormat => text.starts_with('+'),
            Value::Mode => chars("+=,-") || text.starts_with("-x"),
        }
    }
}

fn is_number(text: &str) -> bool {
    let digits =
        text.trim_start_matches(['+', '-']).trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// True if a text can be a path. Many programs read words from a file given with `@`.
fn is_path(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('@')
        && !text.contains("://")
        && (text == "-" || !text.starts_with('-'))
}

/// True if no part of a path is hidden and its name is not one that programs run.
fn is_plain_path(text: &str) -> bool {
    let hides = text.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."));
    !hides && !runs::runs_by_its_name(text)
}

fn has_ending<'a>(text: &str, mut endings: impl Iterator<Item = &'a str>) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    endings.any(|known| known.eq_ignore_ascii_case(ending))
}

fn is_output(text: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "", "o", "obj", "a", "so", "dylib", "dll", "exe", "out", "map", "css", "wasm", "class", "test",
        "prof",
    ];
    let is_bundle =
        has_ending(text, ["js", "mjs", "cjs"].into_iter()) && is_output_folder(text) && text.contains('/');
    is_path(text) && is_plain_path(text) && (is_bundle || has_ending(text, ENDINGS.iter().copied()))
}

/// True if the first part of a path is an output folder of a build.
fn is_output_folder(text: &str) -> bool {
    let text = text.strip_prefix("./").unwrap_or(text);
    let first = text.split('/').next().unwrap_or(text);
    matches!(first, "dist" | "build" | "out" | "target") && !text.split('/').any(|part| part == "..")
}

/// True if a text is the address of a remote repository. `ext::` and the like run programs.
fn is_address(text: &str) -> bool {
    let is_plain = |text: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./~:@".contains(c)) && !text.contains("::")
    };
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("ssh://"))
        .or_else(|| text.strip_prefix("git@"))
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|rest| !rest.starts_with('-') && is_plain(rest))
}

/// `name`, `@scope/name`, optionally with `@version`. A slash elsewhere is a repository, a folder or a file.
fn is_npm_package(text: &str) -> bool {
    let plain = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    let (scope, rest) = match text.strip_prefix('@') {
        Some(scoped) => match scoped.split_once('/') {
            Some((scope, rest)) => (Some(scope), rest),
            None => return false,
        },
        None => (None, text),
    };
    let (name, version) = rest.split_once('@').map_or((rest, None), |(name, version)| (name, Some(version)));
    scope.is_none_or(|scope| plain(scope, "_-."))
        && plain(name, "_-.")
        && !name.starts_with(['.', '-'])
        && !is_archive(name)
        && version.is_none_or(|version| plain(version, "_-.^~<>=*+") && !is_archive(version))
}

/// `name`, `name[extra]`, `name==1.2,<2`, `.` and `.[extra]`.
fn is_python_package(text: &str) -> bool {
    if matches!(text, "." | "./") || (text.starts_with(".[") && text.ends_with(']') && !text.contains('/')) {
        return true;
    }
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.,[]=<>!~*+ ".contains(c))
        && !is_archive(text)
}

fn is_archive(name: &str) -> bool {
    has_ending(name, ["whl", "zip", "gz", "tgz", "bz2", "xz", "tar", "egg", "tbz", "txz", "zst"].into_iter())
}

/// True if a `jq` program can show neither the environment nor a file that no word names.
fn shows_only_its_input(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !text.starts_with('-')
        && !["env", "import", "include", "modulemeta", "input_filename", "get_search_list"]
            .iter()
            .any(|name| lower.contains(name))
}

/// `s/a/b/g`, `3d`, `1,5d`: one command, without the flags that run or write something.
fn is_sed_edit(text: &str) -> bool {
    let command = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$'));
    if command == "d" {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else {
        return false;
    };
    let Some(delimiter) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else {
        return false;
    };
    // A backslash could hide a delimiter, and a newline begins another command.
    if rest.contains(['\\', '\n']) {
        return false;
    }
    match rest[1..].split(delimiter).collect::<Vec<_>>().as_slice() {
        [_, _, flags] => flags.chars().all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'i' | 'I' | 'p')),
        _ => false,
    }
}
