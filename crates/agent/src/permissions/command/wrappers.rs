//! Commands that run other commands.

use super::options::Options;
use super::{Opaque, RedirectKind, SimpleCommand, Word, WordKind};

/// The commands that a command runs.
#[derive(Debug, Default)]
pub(super) struct InnerCommands {
    pub(super) inner: Vec<Inner>,
    pub(super) opaque: Option<Opaque>,
}

#[derive(Debug)]
pub(super) enum Inner {
    /// A command and its arguments.
    Command(Vec<Word>),
    /// A text that a shell reads.
    Script(String),
}

const SUDO: Options = Options {
    flags: "AbEeHiKklnPSsVv",
    valued: "CDghpRrTtUu",
    long: &["non-interactive", "preserve-env", "login", "set-home", "stdin", "background"],
    long_valued: &["user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "close-from"],
};
const DOAS: Options = Options { flags: "Lns", valued: "aCu", long: &[], long_valued: &[] };
const ENV: Options = Options {
    flags: "i0v",
    valued: "uC",
    long: &["ignore-environment", "null", "debug"],
    long_valued: &["unset", "chdir"],
};
const NICE: Options = Options { flags: "0123456789", valued: "n", long: &[], long_valued: &["adjustment"] };
const IONICE: Options =
    Options { flags: "t", valued: "cn", long: &["ignore"], long_valued: &["class", "classdata"] };
const STDBUF: Options =
    Options { flags: "", valued: "ioe", long: &[], long_valued: &["input", "output", "error"] };
const TIMEOUT: Options = Options {
    flags: "vfp",
    valued: "ks",
    long: &["preserve-status", "foreground", "verbose"],
    long_valued: &["kill-after", "signal"],
};
const NONE: Options = Options { flags: "", valued: "", long: &[], long_valued: &[] };
const SETSID: Options =
    Options { flags: "cfw", valued: "", long: &["ctty", "fork", "wait"], long_valued: &[] };
const COMMAND: Options = Options { flags: "p", valued: "", long: &[], long_valued: &[] };
const TIME: Options =
    Options { flags: "pvaq", valued: "fo", long: &["portability"], long_valued: &["format", "output"] };
const EXEC: Options = Options { flags: "cl", valued: "a", long: &[], long_valued: &[] };
const XARGS: Options = Options {
    flags: "0rtxpo",
    valued: "IndPLsEa",
    long: &["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"],
    long_valued: &[
        "replace",
        "max-args",
        "delimiter",
        "max-procs",
        "max-lines",
        "max-chars",
        "eof",
        "arg-file",
    ],
};

/// Finds the commands that a command runs.
pub(super) fn inner_commands(command: &SimpleCommand) -> InnerCommands {
    let words = command.arguments();
    match command.base_name() {
        "sudo" => after(&SUDO, words, Skip::Assignments),
        "doas" => after(&DOAS, words, Skip::Assignments),
        "env" => after(&ENV, words, Skip::Assignments),
        "nice" => after(&NICE, words, Skip::Nothing),
        "ionice" => after(&IONICE, words, Skip::Nothing),
        "stdbuf" => after(&STDBUF, words, Skip::Nothing),
        "timeout" | "gtimeout" => after(&TIMEOUT, words, Skip::OneWord),
        "nohup" | "builtin" | "busybox" | "toybox" | "caffeinate" | "pkexec" => {
            after(&NONE, words, Skip::Nothing)
        }
        "setsid" => after(&SETSID, words, Skip::Nothing),
        "time" => after(&TIME, words, Skip::Nothing),
        "command" if command.has_flag('v') || command.has_flag('V') => InnerCommands::default(),
        "command" => after(&COMMAND, words, Skip::Nothing),
        "exec" => after(&EXEC, words, Skip::Nothing),
        "xargs" => xargs(words),
        "find" | "gfind" => find(words),
        "fd" | "fdfind" => fd(words),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "mksh" | "fish" | "rbash" => shell(command),
        "eval" | "source" | "." | "alias" | "unalias" | "trap" | "enable" | "disable" | "hash" | "bind"
        | "complete" | "compdef" | "fc" | "let" | "mapfile" | "readarray" | "autoload" | "zmodload"
        | "emulate" | "setopt" | "unsetopt" | "shopt" | "functions" | "aliases"
        // These run their command elsewhere, or in a way that is not analysed here.
        | "su" | "runuser" | "ssh" | "parallel" | "watch" | "script" | "chroot" | "unshare" | "nsenter"
        | "flock" | "strace" | "ltrace" | "gdb" | "at" | "batch" | "entr" | "screen" | "tmux"
        | "systemd-run" | "run0" | "proot" | "firejail" | "bwrap" | "doit" | "expect"
        | "dbus-run-session" | "xvfb-run" | "chrt" | "taskset" | "setpriv" | "capsh" | "unbuffer"
        | "rlwrap" | "socat" => evaluates(words),
        _ => InnerCommands::default(),
    }
}

/// The words between the options and the command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skip {
    Nothing,
    OneWord,
    Assignments,
}

/// The command that follows the options.
fn after(options: &Options, words: &[Word], skip: Skip) -> InnerCommands {
    let Some(mut at) = options.skip(words) else {
        return evaluates(words);
    };
    match skip {
        Skip::Nothing => {}
        Skip::OneWord => at += 1,
        Skip::Assignments => {
            let is_assignment = |word: &&Word| word.text.contains('=');
            at += words.get(at..).unwrap_or_default().iter().take_while(is_assignment).count();
        }
    }
    match words.get(at..) {
        Some(inner) if !inner.is_empty() => {
            InnerCommands { inner: vec![Inner::Command(inner.to_vec())], opaque: None }
        }
        _ => InnerCommands::default(),
    }
}

/// Handles a command that runs text, or has unknown options. The commands that it seems to run are listed.
fn evaluates(words: &[Word]) -> InnerCommands {
    let mut inner = Vec::new();
    let operands: Vec<Word> = words.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect();
    for word in words.iter().filter(|word| word.text.contains(char::is_whitespace)) {
        inner.push(Inner::Script(word.text.clone()));
    }
    if !operands.is_empty() {
        inner.push(Inner::Command(operands));
    }
    InnerCommands { inner, opaque: Some(Opaque::Evaluation) }
}

/// A placeholder for words that are added when it runs.
fn unknown_words() -> Word {
    Word { text: String::new(), kind: WordKind::Dynamic }
}

fn xargs(words: &[Word]) -> InnerCommands {
    let mut runs = after(&XARGS, words, Skip::Nothing);
    for inner in &mut runs.inner {
        if let Inner::Command(words) = inner {
            words.push(unknown_words());
        }
    }
    runs
}

/// `find` runs the words between `-exec` and `;` or `+`.
fn find(words: &[Word]) -> InnerCommands {
    let mut runs = InnerCommands::default();
    let mut rest = words;
    while let Some(at) =
        rest.iter().position(|word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(rest.len());
        let mut inner = rest[..end].to_vec();
        if !inner.is_empty() {
            inner.push(unknown_words());
            runs.inner.push(Inner::Command(inner));
        }
        rest = &rest[end..];
    }
    if words.iter().any(|word| word.kind == WordKind::Dynamic) {
        runs.opaque = Some(Opaque::Expansion);
    }
    runs
}

/// `fd` runs the words after `-x` or `-X`.
fn fd(words: &[Word]) -> InnerCommands {
    let runs = |word: &Word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    match words.iter().position(runs) {
        Some(at) if at + 1 < words.len() => {
            let mut inner = words[at + 1..].to_vec();
            inner.push(unknown_words());
            InnerCommands { inner: vec![Inner::Command(inner)], opaque: None }
        }
        // The option may be part of a group of short options.
        _ if words.iter().any(|word| word.text.starts_with('-') && word.text.contains(['x', 'X'])) => {
            evaluates(words)
        }
        _ => InnerCommands::default(),
    }
}

/// Handles a shell with a text, with a file, or with commands on standard input.
fn shell(command: &SimpleCommand) -> InnerCommands {
    let words = command.arguments();
    let mut has_text = false;
    let mut operand = None;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.text.strip_prefix('-').or_else(|| word.text.strip_prefix('+')) {
            Some(letters) if !letters.is_empty() && !letters.starts_with('-') => {
                has_text |= letters.contains('c');
                // `-o errexit` and `-O extglob` take a word.
                at += usize::from(letters.ends_with(['o', 'O']));
            }
            Some(_) if word.text == "--rcfile" || word.text == "--init-file" => at += 1,
            Some(letters) if !letters.is_empty() => {}
            _ => {
                operand = Some(word);
                break;
            }
        }
        at += 1;
    }
    match operand {
        Some(text) if has_text && text.kind == WordKind::Static => {
            InnerCommands { inner: vec![Inner::Script(text.text.clone())], opaque: None }
        }
        Some(_) if has_text => InnerCommands { inner: Vec::new(), opaque: Some(Opaque::Evaluation) },
        Some(_) => InnerCommands::default(),
        None if has_text || words.iter().any(|word| word.text == "--version") => InnerCommands::default(),
        None => {
            let texts = command.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Text);
            let inner = texts.map(|redirect| Inner::Script(redirect.target.text.clone())).collect();
            InnerCommands { inner, opaque: Some(Opaque::ShellInput) }
        }
    }
}
