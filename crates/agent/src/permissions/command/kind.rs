//! What kind of work a command does, for rules and for the risk.

use serde::{Deserialize, Serialize};

use super::danger::{git_subcommand, is_long};
use super::{Command, Word, WordKind};

/// What kind of work a command does.
///
/// A kind is only given where the words leave no doubt; everything else is [`CommandKind::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandKind {
    /// Looks and changes nothing: `ls`, `cat`, `grep`, `git status`.
    Look,
    /// Works in a repository: `git commit`.
    Git,
    /// Runs tests.
    Test,
    /// Builds.
    Build,
    /// Installs packages.
    Install,
    /// Goes to the network.
    Network,
    /// Anything else.
    Other,
}

/// Programs that only look, whatever their arguments are.
///
/// `test` and `[` are not among them: they evaluate the subscript of an array, and with it any command.
const LOOKS: &[&str] = &[
    "ls",
    "cat",
    "echo",
    "pwd",
    "cd",
    "head",
    "tail",
    "wc",
    "true",
    "false",
    "whoami",
    "id",
    "date",
    "uname",
    "stat",
    "file",
    "du",
    "df",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "grep",
    "egrep",
    "fgrep",
    "cut",
    "tr",
    "diff",
    "cmp",
    "nl",
    "rev",
    "tac",
    "seq",
    "sleep",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "cksum",
    "hexdump",
    "od",
    "strings",
    "jq",
    "column",
    "fold",
    "expand",
    "comm",
    "paste",
    "type",
];

/// Subcommands of git that only look, with the options that make them do more.
const GIT_LOOKS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "ls-files",
    "blame",
    "describe",
    "shortlog",
    "ls-tree",
    "cat-file",
];

/// Subcommands of git that work in the repository and run nothing that somebody else wrote.
const GIT_WORKS: &[&str] = &[
    "add",
    "commit",
    "fetch",
    "pull",
    "push",
    "merge",
    "checkout",
    "switch",
    "branch",
    "tag",
    "stash",
    "restore",
    "reset",
    "mv",
    "init",
    "clone",
    "cherry-pick",
    "revert",
    "remote",
    "worktree",
    "reflog",
    "notes",
    "apply",
    "am",
    "clean",
    "rm",
];

impl Command {
    /// What kind of work it does.
    pub fn kind(&self) -> CommandKind {
        // `./cat` is somebody else's program.
        let name = self.name();
        if LOOKS.contains(&name) {
            return CommandKind::Look;
        }
        match name {
            "sort"
                if !self.has_flag('o') && !self.has_long("output") && !self.has_long("compress-program") =>
            {
                CommandKind::Look
            }
            "rg" if !self.has_long("pre") && !self.has_long("hostname-bin") => CommandKind::Look,
            "find" if self.arguments().iter().all(|word| looks_with_find(&word.text)) => CommandKind::Look,
            "curl" | "wget" | "ssh" | "scp" | "sftp" | "nc" | "ncat" | "telnet" | "ftp" | "rsync"
            | "ping" | "dig" | "host" | "nslookup" | "http" | "https" => CommandKind::Network,
            _ if self.arguments().iter().any(|word| word.kind != WordKind::Static) => CommandKind::Other,
            "git" => git(self.arguments()),
            "cargo" | "npm" | "pnpm" | "yarn" | "bun" | "go" | "make" | "just" | "pip" | "pip3" | "uv"
            | "poetry" | "gradle" | "mvn" | "dotnet" | "bundle" | "gem" | "brew" | "apt" | "apt-get"
            | "composer" => tool(name, self.arguments()),
            "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "tox" | "ctest" => {
                CommandKind::Test
            }
            "python" | "python3" if is_test_module(self.arguments()) => CommandKind::Test,
            "tsc" | "rustc" | "gcc" | "g++" | "clang" | "clang++" | "javac" | "cmake" | "ninja"
            | "webpack" | "vite" | "esbuild" => CommandKind::Build,
            _ => CommandKind::Other,
        }
    }

    fn has_long(&self, name: &str) -> bool {
        self.arguments().iter().any(|word| is_long(&word.text, name))
    }
}

/// Whether an argument of `find` neither runs nor writes anything.
fn looks_with_find(text: &str) -> bool {
    const ACTS: &[&str] =
        &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
    !ACTS.contains(&text)
}

fn git(arguments: &[Word]) -> CommandKind {
    let Some(at) = git_subcommand(arguments) else {
        return CommandKind::Other;
    };
    // Options before the subcommand can name programs to run; where to look is the harmless one.
    let before_is_harmless = arguments[..at].iter().all(|word| {
        !word.text.starts_with('-')
            || matches!(word.text.as_str(), "-C" | "--no-pager" | "-P" | "--literal-pathspecs")
    });
    // And so can some of those behind it.
    let runs = |text: &str| {
        [
            "exec",
            "upload-pack",
            "receive-pack",
            "ext-diff",
            "textconv",
            "output",
            "open-files-in-pager",
            "config",
            "template",
        ]
        .iter()
        .any(|option| is_long(text, option))
            || ["-x", "-O", "-u", "-c"].iter().any(|option| text.starts_with(option))
    };
    let name = arguments[at].text.as_str();
    let rest = &arguments[at + 1..];
    let push_upstream = |text: &str| text == "-u" && name == "push";
    let create = |text: &str| text == "-c" && name == "switch";
    let is_foreign = |word: &Word| {
        word.text.contains("::") && matches!(name, "clone" | "fetch" | "pull" | "push" | "remote")
    };
    let runs_something = rest.iter().any(|word| {
        (runs(&word.text) && !push_upstream(&word.text) && !create(&word.text)) || is_foreign(word)
    });
    if !before_is_harmless || runs_something {
        CommandKind::Other
    } else if GIT_LOOKS.contains(&name) {
        CommandKind::Look
    } else if GIT_WORKS.contains(&name) {
        CommandKind::Git
    } else {
        CommandKind::Other
    }
}

/// Whether `python` is told to run tests, and nothing else: what stands before `-m` could be code.
fn is_test_module(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(|word| word.text.as_str());
    words.next() == Some("-m") && matches!(words.next(), Some("pytest" | "unittest"))
}

/// Programs that build, test and install, by their subcommand.
fn tool(name: &str, arguments: &[Word]) -> CommandKind {
    let first = arguments.first().map_or("", |word| word.text.as_str());
    let second = arguments.get(1).map_or("", |word| word.text.as_str());
    let is_script_runner = matches!(name, "npm" | "pnpm" | "yarn" | "bun");
    match (name, first) {
        // A setting on the command line can name a program to run.
        ("cargo", _) if arguments.iter().any(|word| is_long(&word.text, "config")) => CommandKind::Other,
        (_, "test" | "t") if is_script_runner => CommandKind::Test,
        (_, "run") if is_script_runner && second.starts_with("test") => CommandKind::Test,
        ("cargo", "test" | "nextest" | "bench")
        | ("go" | "make" | "just" | "mvn" | "gradle" | "dotnet", "test") => CommandKind::Test,
        (_, "run") if is_script_runner && (second.starts_with("build") || second.starts_with("lint")) => {
            CommandKind::Build
        }
        ("make" | "just", "" | "all" | "build" | "check")
        | ("cargo", "build" | "check" | "clippy" | "fmt" | "doc" | "tree" | "metadata")
        | ("go", "build" | "vet" | "fmt")
        | ("mvn", "compile" | "package")
        | ("gradle" | "dotnet", "build") => CommandKind::Build,
        (_, "install" | "i" | "ci" | "add") if is_script_runner => CommandKind::Install,
        (
            "pip" | "pip3" | "uv" | "poetry" | "gem" | "brew" | "apt" | "apt-get" | "cargo" | "go" | "bundle"
            | "composer",
            "install",
        )
        | ("uv" | "poetry" | "cargo", "add")
        | ("go", "get")
        | ("yarn", "") => CommandKind::Install,
        _ => CommandKind::Other,
    }
}
