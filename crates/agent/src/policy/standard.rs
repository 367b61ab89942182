//! The rules for everyday work.

use super::{Category, Rule, RuleTable, Verdict};
use crate::permissions::{CommandKind, Danger, SECRETS};

/// Folders of the system.
const SYSTEM: &[&str] = &[
    "/etc", "/etc/*", "/usr", "/usr/*", "/bin/*", "/sbin/*", "/lib/*", "/boot/*", "/sys/*", "/proc/*",
    "/dev/*",
];

/// Hosts that are this machine, or where code is looked up.
const HOSTS: &[&str] =
    &["localhost", "127.0.0.1", "::1", "github.com", "*.github.com", "*.githubusercontent.com"];

const NONE: &[&str] = &[];

pub(super) fn table() -> RuleTable {
    let mut rules = files();
    rules.extend(commands());
    rules.extend(network());
    rules.push(Rule { categories: vec![Category::Shell], ..Rule::new("shell", Verdict::Ask) });
    // Tools that touch nothing outside of the session.
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
    vec![
        rule("read-secrets", Verdict::Ask, Category::FileRead, SECRETS),
        rule("read", Verdict::Allow, Category::FileRead, NONE),
        Rule {
            reason: Some("Folders of the system are not written to".to_owned()),
            ..rule("write-system", Verdict::Deny, Category::FileWrite, SYSTEM)
        },
        rule("write-secrets", Verdict::Ask, Category::FileWrite, SECRETS),
        rule(
            "write-tests",
            Verdict::Allow,
            Category::FileWrite,
            &[
                "*/tests/*",
                "tests/*",
                "*/spec/*",
                "spec/*",
                "*/specs/*",
                "specs/*",
                "*_test.*",
                "*.test.*",
                "*.spec.*",
                "README*",
                ".gitignore",
            ],
        ),
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
            ..deny("delete-trees", "Whole folders are not deleted without looking")
        },
        Rule { dangers: vec![Danger::Privileged], ..deny("privileged", "Nothing runs as another user") },
        Rule {
            commands: strings(&["chmod *", "/bin/chmod *"]),
            words: strings(&["777", "0777", "a+rwx", "ugo+rwx", "a=rwx", "+rwx"]),
            ..deny("open-to-all", "Files are not opened to everybody")
        },
        Rule {
            commands: strings(&["git *"]),
            dangers: vec![Danger::Discards],
            ..Rule::new("git-discards", Verdict::Ask)
        },
        kinds("git", Verdict::Allow, &[CommandKind::Git]),
        Rule {
            kinds: vec![CommandKind::Look],
            paths: strings(SECRETS),
            ..Rule::new("look-at-secrets", Verdict::Ask)
        },
        kinds("look", Verdict::Allow, &[CommandKind::Look]),
        Rule { timeout_seconds: Some(60), ..kinds("build", Verdict::Allow, &[CommandKind::Build]) },
        Rule { timeout_seconds: Some(120), ..kinds("test", Verdict::Allow, &[CommandKind::Test]) },
        Rule {
            commands: strings(&["npm *", "pip *", "pip3 *"]),
            ..kinds("install-packages", Verdict::Allow, &[CommandKind::Install])
        },
        kinds("install", Verdict::Ask, &[CommandKind::Install]),
    ]
}

fn network() -> Vec<Rule> {
    vec![
        Rule { hosts: strings(HOSTS), ..Rule::new("network-known", Verdict::Allow) },
        Rule { kinds: vec![CommandKind::Network], ..Rule::new("network-command", Verdict::Ask) },
        Rule { categories: vec![Category::Network], ..Rule::new("network", Verdict::Ask) },
    ]
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
