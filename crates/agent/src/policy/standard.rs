//! The standard rules for everyday work.

use super::{Category, FetchSource, Rule, RuleTable, Verdict};
use crate::permissions::runs::RUNS;
use crate::permissions::{CommandKind, Danger, KNOWN_HOSTS, Reach};

/// System folders.
const SYSTEM: &[&str] = &[
    "/etc", "/etc/*", "/usr", "/usr/*", "/bin/*", "/sbin/*", "/lib/*", "/boot/*", "/sys/*", "/proc/*",
    "/dev/*",
];

/// Kinds of commands that may run inside the project.
const HARMLESS: &[CommandKind] =
    &[CommandKind::Look, CommandKind::Git, CommandKind::Build, CommandKind::Test];

/// Files that may be written without asking.
const TESTS: &[&str] = &[
    "*/tests/*",
    "tests/*",
    "*/spec/*",
    "spec/*",
    "*/specs/*",
    "specs/*",
    "*_test.*",
    "*.test.*",
    "*.spec.*",
    "README",
    "README.md",
    "README.*.md",
    "README.rst",
    "README.adoc",
    "README.txt",
    ".gitignore",
];

const NONE: &[&str] = &[];

pub(super) fn table() -> RuleTable {
    let mut rules = files();
    rules.extend(commands());
    rules.extend(network());
    rules.push(Rule { categories: vec![Category::Shell], ..Rule::new("shell", Verdict::Ask) });
    // Tools that affect nothing outside of the session.
    rules.push(Rule {
        tools: strings(&[
            "TodoWrite",
            "TodoRead",
            "TaskCreate",
            "TaskGet",
            "TaskUpdate",
            "TaskList",
            "TaskOutput",
            "BashOutput",
            "ToolSearch",
            "EnterPlanMode",
        ]),
        ..Rule::new("bookkeeping", Verdict::Allow)
    });
    rules.push(Rule { categories: vec![Category::Tool], ..Rule::new("tool", Verdict::Ask) });
    RuleTable { otherwise: Verdict::Ask, timeout_seconds: Some(30), rules }
}

fn files() -> Vec<Rule> {
    let rule = |name, verdict, category, paths| Rule {
        categories: vec![category],
        paths: strings(paths),
        ..Rule::new(name, verdict)
    };
    let reach = |name, category, reach| Rule {
        categories: vec![category],
        reaches: vec![reach],
        ..Rule::new(name, Verdict::Ask)
    };
    vec![
        reach("read-secrets", Category::FileRead, Reach::Secret),
        reach("read-beyond", Category::FileRead, Reach::Beyond),
        reach("read-outside", Category::FileRead, Reach::Named),
        rule("read", Verdict::Allow, Category::FileRead, NONE),
        Rule {
            reason: Some("System folders are read-only".to_owned()),
            ..rule("write-system", Verdict::Deny, Category::FileWrite, SYSTEM)
        },
        reach("write-secrets", Category::FileWrite, Reach::Secret),
        // A workflow or a skill is not a test, whatever its name. No rule could allow these; the rules name
        // the reason.
        rule("write-dotfiles", Verdict::Ask, Category::FileWrite, &["*/.*/?*", ".*/?*"]),
        // A file in a test folder may still be a build file, a pipeline, a hook or executable settings.
        rule("write-what-runs", Verdict::Ask, Category::FileWrite, RUNS),
        Rule {
            reaches: vec![Reach::Folder],
            ..rule("write-tests", Verdict::Allow, Category::FileWrite, TESTS)
        },
        rule("write-dotfiles", Verdict::Ask, Category::FileWrite, &["*/.*", ".*"]),
        rule("write", Verdict::Ask, Category::FileWrite, NONE),
    ]
}

fn commands() -> Vec<Rule> {
    let deny =
        |name: &str, reason: &str| Rule { reason: Some(reason.to_owned()), ..Rule::new(name, Verdict::Deny) };
    let kinds =
        |name, verdict, kinds: &[CommandKind]| Rule { kinds: kinds.to_vec(), ..Rule::new(name, verdict) };
    vec![
        Rule {
            commands: strings(&["rm *", "/bin/rm *", "/usr/bin/rm *"]),
            flags: "rf".to_owned(),
            ..deny("delete-trees", "Recursive deletion without confirmation is not allowed")
        },
        Rule {
            dangers: vec![Danger::Privileged],
            ..deny("privileged", "Running commands as another user is not allowed")
        },
        Rule {
            commands: strings(&["chmod *", "/bin/chmod *"]),
            words: strings(&["777", "0777", "a+rwx", "ugo+rwx", "a=rwx", "+rwx"]),
            ..deny("open-to-all", "Making files writable for all users is not allowed")
        },
        Rule {
            commands: strings(&["git *"]),
            dangers: vec![Danger::Discards],
            ..Rule::new("git-discards", Verdict::Ask)
        },
        Rule { reaches: vec![Reach::Secret], ..kinds("look-at-secrets", Verdict::Ask, HARMLESS) },
        Rule { reaches: vec![Reach::Beyond], ..kinds("look-beyond", Verdict::Ask, HARMLESS) },
        Rule { reaches: vec![Reach::Named], ..kinds("look-outside", Verdict::Ask, &HARMLESS[..1]) },
        Rule {
            reaches: vec![Reach::Public, Reach::Named],
            ..kinds("work-outside", Verdict::Ask, &HARMLESS[1..])
        },
        kinds("git", Verdict::Allow, &[CommandKind::Git]),
        kinds("look", Verdict::Allow, &[CommandKind::Look]),
        Rule { timeout_seconds: Some(60), ..kinds("build", Verdict::Allow, &[CommandKind::Build]) },
        Rule { timeout_seconds: Some(120), ..kinds("test", Verdict::Allow, &[CommandKind::Test]) },
        // Packages run code of their own while they are installed.
        kinds("install", Verdict::Ask, &[CommandKind::Install]),
    ]
}

fn network() -> Vec<Rule> {
    vec![
        // A tool that shows a page neither stores nor runs it.
        Rule {
            categories: vec![Category::Network],
            hosts: strings(KNOWN_HOSTS),
            ..Rule::new("network-known", Verdict::Allow)
        },
        Rule {
            kinds: vec![CommandKind::Network],
            sources: vec![FetchSource::Machine, FetchSource::KnownRemote],
            // Parts of a URL look like paths.
            reaches: vec![Reach::Folder, Reach::Named],
            ..Rule::new("fetch-known", Verdict::Allow)
        },
        Rule { kinds: vec![CommandKind::Network], ..Rule::new("network-command", Verdict::Ask) },
        Rule { categories: vec![Category::Network], ..Rule::new("network", Verdict::Ask) },
    ]
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
