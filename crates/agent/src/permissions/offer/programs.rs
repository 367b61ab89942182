//! Programs that run what they are given, and programs that are harmless with any arguments.
// tidy: flat table

/// Programs that run scripts: shells, interpreters, editors and database shells, which read commands from
/// their arguments, from files or from standard input. Versions at the end of a name are ignored.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "pdksh",
    "mksh",
    "ash",
    "yash",
    "posh",
    "rbash",
    "rksh",
    "fish",
    "csh",
    "tcsh",
    "elvish",
    "nu",
    "xonsh",
    "ion",
    "oil",
    "osh",
    "ysh",
    "pwsh",
    "powershell",
    "cmd",
    "busybox",
    "toybox",
    "python",
    "pypy",
    "ipython",
    "jython",
    "micropython",
    "bpython",
    "jupyter",
    "node",
    "nodejs",
    "iojs",
    "deno",
    "bun",
    "ts-node",
    "tsx",
    "esno",
    "zx",
    "babel-node",
    "qjs",
    "perl",
    "raku",
    "ruby",
    "irb",
    "jruby",
    "php",
    "psysh",
    "lua",
    "luajit",
    "texlua",
    "tclsh",
    "wish",
    "expect",
    "osascript",
    "swift",
    "julia",
    "r",
    "rscript",
    "octave",
    "matlab",
    "ghci",
    "runghc",
    "runhaskell",
    "ocaml",
    "utop",
    "scala",
    "kotlin",
    "kotlinc",
    "groovy",
    "groovysh",
    "jshell",
    "java",
    "clojure",
    "clj",
    "bb",
    "guile",
    "racket",
    "sbcl",
    "ecl",
    "emacs",
    "emacsclient",
    "vi",
    "vim",
    "nvim",
    "view",
    "ex",
    "ed",
    "nano",
    "elixir",
    "iex",
    "erl",
    "escript",
    "crystal",
    "nim",
    "dart",
    "mono",
    "fsi",
    "csi",
    "gdb",
    "lldb",
    "bc",
    "dc",
    "m4",
    "gawk",
    "awk",
    "mawk",
    "nawk",
    "psql",
    "mysql",
    "mariadb",
    "sqlite",
    "sqlite3",
    "duckdb",
    "mongo",
    "mongosh",
    "redis-cli",
    "clickhouse",
    "patch",
    "source",
    ".",
    "eval",
    "trap",
    "alias",
];

/// Programs that run another program, here or elsewhere.
const WRAPPERS: &[&str] = &[
    "env",
    "xargs",
    "sudo",
    "doas",
    "su",
    "runuser",
    "run0",
    "pkexec",
    "exec",
    "command",
    "builtin",
    "nohup",
    "nice",
    "ionice",
    "timeout",
    "gtimeout",
    "time",
    "stdbuf",
    "setsid",
    "watch",
    "watchexec",
    "entr",
    "parallel",
    "ssh",
    "autossh",
    "mosh",
    "rsh",
    "rlogin",
    "sshpass",
    "telnet",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "chroot",
    "unshare",
    "nsenter",
    "flock",
    "strace",
    "ltrace",
    "dtruss",
    "script",
    "screen",
    "tmux",
    "zellij",
    "systemd-run",
    "at",
    "batch",
    "crontab",
    "unbuffer",
    "rlwrap",
    "proot",
    "fakeroot",
    "firejail",
    "bwrap",
    "chrt",
    "taskset",
    "setpriv",
    "capsh",
    "dbus-run-session",
    "xvfb-run",
    "caffeinate",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "nix-shell",
    "direnv",
    "ansible",
    "fabric",
    "fab",
    "hyperfine",
    "tee",
    "sponge",
    "dd",
    "ld.so",
    "wine",
    "qemu",
    "cargo-watch",
    "nodemon",
    "concurrently",
    "dotenv",
    "wsl",
];

/// Subcommands that run another program or script.
const RUNNING_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("docker", &["run", "exec", "compose", "buildx", "build", "attach", "start"]),
    ("podman", &["run", "exec", "compose", "build", "attach", "start"]),
    ("nerdctl", &["run", "exec", "compose", "build"]),
    ("docker-compose", &["run", "exec", "up"]),
    ("kubectl", &["exec", "run", "debug", "attach", "cp"]),
    ("oc", &["exec", "run", "debug", "rsh"]),
    ("lxc", &["exec", "shell"]),
    ("vagrant", &["ssh", "up", "provision"]),
    ("heroku", &["run", "ps:exec"]),
    ("fly", &["ssh"]),
    ("gcloud", &["ssh"]),
    ("aws", &["ssm", "execute-command"]),
    ("gh", &["api", "extension", "codespace", "alias"]),
    ("npm", &["exec", "x", "explore"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx", "node"]),
    ("corepack", &["npm", "pnpm", "yarn"]),
    ("go", &["run", "generate", "tool"]),
    ("cargo", &["run", "r", "script", "watch"]),
    ("uv", &["run", "tool"]),
    ("poetry", &["run", "shell"]),
    ("pipenv", &["run", "shell"]),
    ("pdm", &["run"]),
    ("hatch", &["run", "shell"]),
    ("rye", &["run"]),
    ("pixi", &["run", "shell"]),
    ("conda", &["run"]),
    ("mamba", &["run"]),
    ("bundle", &["exec"]),
    ("mise", &["exec", "x", "run"]),
    ("asdf", &["exec"]),
    ("nix", &["run", "shell", "develop"]),
    ("op", &["run"]),
    ("doppler", &["run"]),
    ("composer", &["exec", "run-script"]),
    ("gradle", &["run"]),
    ("dotnet", &["run", "exec", "script", "fsi", "watch"]),
    ("stack", &["run", "exec", "ghci", "runghc", "script"]),
    ("mix", &["run", "eval"]),
    ("lein", &["run", "repl", "exec"]),
    ("git", &["bisect", "filter-branch", "submodule", "rebase", "difftool", "mergetool", "config", "alias"]),
    ("find", &["-exec", "-execdir", "-ok", "-okdir"]),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--pre"]),
];

/// The first words of commands that are offered with a wildcard: with any further arguments they neither run
/// a script from their arguments, nor delete, nor publish. Builds and tests run the code of the project, as
/// they do without further arguments.
const PLAIN_WILDCARDS: &[&[&str]] = &[
    &["ls"],
    &["pwd"],
    &["echo"],
    &["wc"],
    &["du"],
    &["df"],
    &["stat"],
    &["which"],
    &["basename"],
    &["dirname"],
    &["whoami"],
    &["uname"],
    &["git", "status"],
    &["git", "add"],
    &["git", "commit"],
    &["git", "rev-parse"],
    &["cargo", "build"],
    &["cargo", "check"],
    &["cargo", "clippy"],
    &["cargo", "doc"],
    &["cargo", "fmt"],
    &["cargo", "test"],
    &["go", "build"],
    &["go", "vet"],
    &["npm", "test"],
    &["pnpm", "test"],
    &["yarn", "test"],
    &["pytest"],
];

/// Programs that run one named script of the project, with any arguments.
const SCRIPT_RUNNERS: &[&str] = &["npm", "pnpm", "yarn"];

/// Folders of the system's programs.
const PROGRAM_FOLDERS: &[&str] =
    &["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/sbin/", "/usr/sbin/"];

/// True if a command could run any script, or runs a file that may change.
pub(super) fn runs_any_script(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return true };
    let name = match program.rsplit_once('/') {
        Some((_, name)) if PROGRAM_FOLDERS.iter().any(|folder| format!("{folder}{name}") == **program) => {
            name
        }
        // A file of the project, or a name that only the shell can complete.
        Some(_) => return true,
        None => program,
    };
    let name = plain_name(name);
    let listed = |list: &[&str]| list.contains(&name.as_str()) || list.contains(&unversioned(&name));
    let runs = |list: &[&str]| arguments.iter().any(|word| list.contains(word));
    listed(INTERPRETERS)
        || listed(WRAPPERS)
        || RUNNING_SUBCOMMANDS.iter().any(|(program, list)| *program == name && runs(list))
        // These set programs that git runs.
        || (name == "git" && arguments.iter().any(|word| *word == "-c" || word.starts_with("--config-env") || word.starts_with("--exec-path")))
}

/// True if a rule with these words and a wildcard behind them may be offered.
pub(super) fn has_plain_wildcard(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let named = |runner: &[&str]| matches!(runner, [program, "run", name, ..] if SCRIPT_RUNNERS.contains(program) && is_script_name(name));
    PLAIN_WILDCARDS.iter().any(|plain| words.starts_with(plain)) || named(&words)
}

/// True if a file has the ending of a script.
pub(super) fn is_script_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("sh" | "bash" | "zsh" | "fish" | "ps1" | "bat" | "cmd" | "command"))
}

fn is_script_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
}

/// The name of a program in lower case and without `.exe`: some file systems ignore the case.
fn plain_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower.strip_suffix(".exe").map(str::to_owned).unwrap_or(lower)
}

/// The name of a program without its version: `python` for `python3.12`.
fn unversioned(name: &str) -> &str {
    let bare =
        name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | 'm' | 't'));
    if bare.len() < name.len() && name[bare.len()..].contains(|c: char| c.is_ascii_digit()) {
        bare
    } else {
        name
    }
}
