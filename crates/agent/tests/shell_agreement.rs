//! A real shell runs what the parser reports, for all commands that the parser understands.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a failed test panics")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use tidings_agent::permissions::Script;

/// Runs a script in bash without any programs: a handler records the commands instead of running them.
/// `status` is the exit status of every command, so that both sides of `&&` and `||` are reached.
fn run_by_bash(script: &str, status: u8, folder: &Path) -> BTreeSet<Vec<String>> {
    const PRELUDE: &str = r#"
        command_not_found_handle() {
            local line
            printf -v line '%s\037' "$@"
            # One write, since the commands of a pipeline run at the same time.
            printf '%s\036' "$line" >> "$LOG"
            return "$STATUS"
        }
        PATH=/nowhere
        eval "$SCRIPT"
        wait
    "#;
    let log = folder.join("log");
    let work = folder.join("work");
    fs_err::create_dir(&work).unwrap();
    let ran = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", PRELUDE])
        .env_clear()
        // A home folder whose path looks like `~`.
        .env("HOME", "~")
        .env("LOG", &log)
        .env("STATUS", status.to_string())
        .env("SCRIPT", script)
        .current_dir(&work)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    ran.unwrap();
    let written = fs_err::read_to_string(&log).unwrap_or_default();
    let commands = written.split('\u{1e}').filter(|line| !line.is_empty());
    commands.map(|line| line.split_terminator('\u{1f}').map(str::to_owned).collect()).collect()
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let script = Script::parse(text);
    if script.is_opaque() {
        return Ok(());
    }
    let known: BTreeSet<Vec<String>> = script
        .commands()
        .iter()
        .map(|command| command.words.iter().map(|word| word.text.clone()).collect())
        .collect();
    for status in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        for ran in run_by_bash(text, status, folder.path()) {
            // `$?` and the like are numbers, which is all that a rule needs to know.
            let matches = |known: &Vec<String>| {
                known.len() == ran.len()
                    && known.iter().zip(&ran).all(|(known, ran)| {
                        known == ran || ["$?", "$$", "$#"].iter().any(|it| known.contains(it))
                    })
            };
            prop_assert!(known.iter().any(matches), "{text:?} runs {ran:?}, known are {known:?}");
        }
    }
    Ok(())
}

fn fragment() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a", "b", "c", " ", " ", " ", " ", "'d e'", "\"f g\"", "\\h", "i\\ j", "'", "\"", "\\", "\\\n", "\n",
        "\n", ";", ";", "&&", "||", "|", "|&", "&", "(", ")", "{ ", " }", " ; }", "#", "x#y", "$?", "$", "=",
        "A=1", "A=1 ", "!", "! ", "~", ">o", ">> o", "2>o", "2>&1", "&>o", ">&o", "<o", "<<<w", "<<E",
        "<<E\n", "\nE\n", "\nE", "<<'E'", "<<'E'\n", "<<-E\n", "\n\tE\n", "E", "\t", "time ", "[ ", "]",
        "-x", "k=v", "@", "%", ",", "{l}", "m{", "1>o", "12", "\\'", "\\\"", "''", "\"\"", "\"\\\"\"",
        "'\"'",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn bash_runs_what_the_parser_reports(fragments in proptest::collection::vec(fragment(), 1..14)) {
        check(&fragments.concat())?;
    }
}

/// A word that may expand to nothing could hide the name of the command behind it.
#[test]
fn words_that_may_expand_to_nothing_are_unknown() {
    for text in ["$! rm -rf x", "a $!", "$x rm", "\"$@\" rm"] {
        assert!(Script::parse(text).is_opaque(), "{text:?}");
    }
}

#[test]
fn bash_runs_what_the_parser_reports_for_a_table() {
    for text in [
        "a; b",
        "a 'b c' \"d\" e\\ f",
        "a <<E && b\ntext\nE\nc",
        "a <<E; b <<'F'\n1\nE\n2\nF\nc",
        "a <<-E\n\tx\n\tE\nb",
        "a # b\nc",
        "a b#c",
        "(a; b) | c",
        "{ a; b; } && c",
        "a \\\n b",
        "! a || b",
        "A=1 a; B=2",
        "a 2>&1 >o | b",
        "a >&o; b &>>o",
        "a & b & c",
        "time a | b",
        "a\n\n\nb",
        "'a' \"b\"'c'\\d",
    ] {
        assert!(!Script::parse(text).is_opaque(), "{text:?}");
        check(text).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert!(!run_by_bash(text, 0, folder.path()).is_empty(), "{text:?}");
    }
}
