//! The help of the program itself: its commands in groups.

use std::fmt::Write as _;

use clap::Command;
use tidings_commands::human;

/// The commands of the program in the order of its help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Run Claude Code", &["run", "claude", "resume"]),
    (
        "Sessions of the server",
        &["ps", "inbox", "start", "attach", "send", "approve", "deny", "stop", "set", "take-over"],
    ),
    ("Past sessions", &["sessions"]),
    ("Serve", &["serve", "pair", "token", "hook", "acp", "hub", "fleet", "audit", "backup"]),
    ("Test and develop", &["rehearse", "frames", "schema"]),
    ("This program", &["doctor", "self", "completions", "man", "help"]),
];

/// Styles of headings and names, as those of clap.
const HEADING: &str = "\x1b[1m\x1b[4m";
const NAME: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Columns of names, with the space around them.
const NAME_COLUMNS: usize = 15;

/// Puts the commands into groups, which clap cannot do.
pub(crate) fn grouped(command: Command) -> Command {
    let room = human::columns().saturating_sub(NAME_COLUMNS).max(20);
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        // Writing into a String cannot fail.
        let _ = writeln!(groups, "{HEADING}{heading}:{PLAIN}");
        for name in names {
            // Some commands are missing on some systems.
            let about = match command.find_subcommand(name).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None if *name == "help" => "Print the help of a command".to_owned(),
                None => continue,
            };
            for (number, line) in human::wrapped(&about, room).iter().enumerate() {
                let name = if number == 0 { *name } else { "" };
                let gap = " ".repeat(NAME_COLUMNS - 2 - name.len());
                let _ = writeln!(groups, "  {NAME}{name}{PLAIN}{gap}{line}");
            }
        }
        groups.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{HEADING}Options:{PLAIN}\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    #[test]
    fn each_command_is_in_one_group() {
        let command = Cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).chain(["help"]).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }
}
