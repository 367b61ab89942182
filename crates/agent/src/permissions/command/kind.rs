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
/// `test` and `[` are not among them: they evaluate the subscript of an array, and with it any command. What they look at
/// is another question, and [`Reach`](crate::permissions::Reach) answers it.
const LOOKS: &[&str] = &[
    "ls",
    "cat",
    "echo",
    "pwd",
    "cd",
    "head",
    "tail",
    "true",
    "false",
    "whoami",
    "id",
    "date",
    "uname",
    "stat",
    "file",
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

/// Subcommands of git that work in the repository. Many run its hooks, and all of them what its settings name, as a build
/// runs what is in the project: that is for rules about who may write there, and for the
/// [`Reach`](crate::permissions::Reach), since the hooks of another repository are somebody else's.
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
            // They read the names of files from a file, and then those files.
            "sort" | "wc" | "du" if self.has_long("files0-from") => CommandKind::Other,
            "wc" | "du" => CommandKind::Look,
            "sort"
                if !self.has_flag('o') && !self.has_long("output") && !self.has_long("compress-program") =>
            {
                CommandKind::Look
            }
            "strings" if !self.arguments().iter().any(|word| word.text.starts_with('@')) => CommandKind::Look,
            "jq" if !shows_more_than_its_input(self) => CommandKind::Look,
            "rg" if !self.has_long("pre") && !self.has_long("hostname-bin") => CommandKind::Look,
            "find" if self.arguments().iter().all(|word| looks_with_find(&word.text)) => CommandKind::Look,
            "curl" | "wget" | "ssh" | "scp" | "sftp" | "nc" | "ncat" | "telnet" | "ftp" | "rsync"
            | "ping" | "dig" | "host" | "nslookup" | "http" | "https" => CommandKind::Network,
            _ if self.arguments().iter().any(|word| word.kind != WordKind::Static) => CommandKind::Other,
            "git" => git(self.arguments()),
            _ if runs_what_it_is_given(name, self.arguments()) => CommandKind::Other,
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

    pub(super) fn has_long(&self, name: &str) -> bool {
        self.arguments().iter().any(|word| is_long(&word.text, name))
    }
}

/// Whether an argument of `find` neither runs nor writes anything.
fn looks_with_find(text: &str) -> bool {
    const ACTS: &[&str] = &[
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-fprint",
        "-fprint0",
        "-fprintf",
        "-fls",
        "-files0-from",
    ];
    !ACTS.contains(&text)
}

/// Whether a program of `jq` can show the environment or a file that no word names, or is not in the command line.
fn shows_more_than_its_input(command: &Command) -> bool {
    let is_from_file = command.has_flag('f') || command.has_flag('L') || command.has_long("from-file");
    is_from_file
        || command.has_long("library-path")
        || command.arguments().iter().any(|word| {
            let lower = word.text.to_ascii_lowercase();
            ["env", "import", "include"].iter().any(|name| lower.contains(name))
        })
}

fn git(arguments: &[Word]) -> CommandKind {
    let Some(at) = git_subcommand(arguments) else {
        return CommandKind::Other;
    };
    // Options before the subcommand can name programs to run. Where to look is for others to judge.
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
    // Files that are to be ignored are often those that nobody else should see.
    let adds_ignored = name == "add"
        && rest.iter().any(|word| is_long(&word.text, "force") || is_letters_with(&word.text, 'f'));
    if !before_is_harmless || runs_something || adds_ignored {
        CommandKind::Other
    } else if rest.iter().any(|word| git_address(name, &word.text).is_some()) {
        CommandKind::Network
    } else if GIT_LOOKS.contains(&name) {
        CommandKind::Look
    } else if GIT_WORKS.contains(&name) {
        CommandKind::Git
    } else {
        CommandKind::Other
    }
}

/// The address of another repository in a word of a git command, which is not one that the repository knows by a name.
pub(crate) fn git_address<'a>(subcommand: &str, text: &'a str) -> Option<&'a str> {
    let goes_out = matches!(subcommand, "clone" | "fetch" | "pull" | "push" | "remote");
    let (before, _) = text.split_once(':')?;
    // `HEAD:main` and `:main` say what goes where.
    let is_ref =
        before.is_empty() || before == "HEAD" || before.starts_with("refs/") || before.starts_with('+');
    (goes_out && !is_ref && !text.starts_with('-')).then_some(text)
}

/// Whether a word such as `-rf` has a letter.
fn is_letters_with(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// Whether `python` is told to run tests, and nothing else: what stands before `-m` could be code.
fn is_test_module(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(|word| word.text.as_str());
    words.next() == Some("-m") && matches!(words.next(), Some("pytest" | "unittest"))
}

/// Whether what is built or tested is not only the project, but also what stands in the command line.
fn runs_what_it_is_given(name: &str, arguments: &[Word]) -> bool {
    let any = |is: &dyn Fn(&str) -> bool| arguments.iter().any(|word| is(&word.text));
    match name {
        "make" | "just" => any(&|text| text.contains('=') || is_long(text, "eval")),
        "cmake" => any(&|text| text.starts_with("-E") || text.starts_with("-P")),
        "go" => any(&|text| {
            let option = text.trim_start_matches('-');
            option != text && ["exec", "toolexec", "vettool"].iter().any(|name| option.starts_with(name))
        }),
        "npm" | "pnpm" | "yarn" | "bun" => {
            any(&|text| is_long(text, "script-shell") || is_long(text, "node-options"))
        }
        _ => false,
    }
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
