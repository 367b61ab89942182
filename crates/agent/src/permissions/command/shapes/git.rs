//! Git: reading the repository, and work that can be undone.
// tidy: flat table

use super::values::Value;
use super::values::Value::{
    Address, Name, Number, OneOf, Path, Plain, Refspec, Remote, Revision, Text, Word,
};
use super::{CommandKind, Operands, SHAPE, Shape};
use crate::permissions::command::{Word as ShellWord, WordKind};

const LOOK: Shape = Shape { kind: CommandKind::Look, operands: Operands::Each(Revision), ..SHAPE };

/// Commands that change the repository. They run its hooks and configured programs, as a build runs the code
/// of the project: rules about writing there decide about that.
const WORK: Shape = Shape { kind: CommandKind::Git, ..SHAPE };

/// Commands that send commits to another repository or fetch from one. Rules decide about the repository.
const TRANSFER: Shape = Shape { kind: CommandKind::Network, ..SHAPE };

/// Common options of `log`, `diff` and `show`. Missing on purpose: `--output` writes, `--ext-diff` and
/// `--textconv` run programs, `-O` and `--no-index` read other files.
const LOG_FLAGS: &str = "-p --patch -s --no-patch --stat --shortstat --numstat --dirstat --summary --name-only --name-status \
    --oneline --graph --all --branches --tags --remotes --decorate --no-decorate --merges --no-merges --first-parent --reverse \
    --follow --cached --staged --word-diff --color --no-color --no-ext-diff --no-textconv --abbrev-commit --no-abbrev-commit \
    --full-history --date-order --topo-order --author-date-order --left-right --cherry-pick --cherry --cherry-mark --boundary \
    --simplify-merges -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol -M -C \
    --find-renames --find-copies --no-renames -R --check --quiet -q --exit-code --raw --full-index --binary --text -a -z \
    --minimal --patience --histogram -W --function-context --no-prefix --relative --merge-base -i -E -F --regexp-ignore-case \
    --extended-regexp --fixed-strings --all-match --invert-grep --no-walk --source --cc -m --compact-summary \
    --patch-with-stat --color-words --not -NUM --walk-reflogs -g";

const LOG_VALUES: &[(&str, Value)] = &[
    ("-n --max-count --skip -U --unified --abbrev= --inter-hunk-context", Number),
    ("--since --after --until --before --author --committer --grep -G -S -L", Text),
    (
        "--format= --pretty= --date= --stat= --dirstat= --word-diff= --color= --decorate= --diff-filter= --branches= --tags=",
        Text,
    ),
    (
        "--glob= --exclude= --ignore-submodules= --diff-algorithm= --submodule= --find-renames= -l --date --diff-filter",
        Text,
    ),
    ("--relative=", Path),
];

const PULL_FLAGS: &str =
    "--all --tags -t --prune -p -v -q --verbose --quiet --dry-run --no-tags -n --progress --unshallow";

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "git status",
        flags: "-s --short -b --branch --porcelain -v --verbose --ignored --long -z --show-stash -uno -unormal -uall",
        values: &[("--porcelain= --untracked-files= --ignored=", Word)],
        operands: Operands::Each(Path),
        why: "It prints what has changed",
        ..LOOK
    },
    Shape {
        call: "git reflog",
        flags: LOG_FLAGS,
        values: LOG_VALUES,
        operands: Operands::None,
        why: "It prints history; `expire` and `delete` discard it",
        ..LOOK
    },
    Shape {
        call: "git log|diff|show|shortlog|whatchanged",
        flags: LOG_FLAGS,
        values: LOG_VALUES,
        why: "It prints history",
        ..LOOK
    },
    Shape {
        call: "git shortlog",
        flags: "-s -n -e -c --summary --numbered --email",
        why: "It counts commits",
        ..LOOK
    },
    Shape {
        call: "git rev-parse|describe|ls-files|ls-tree|rev-list|merge-base|name-rev|diff-tree|show-ref|for-each-ref",
        flags: "--show-toplevel --abbrev-ref --short --verify --is-inside-work-tree --git-dir --show-prefix --git-common-dir -q --quiet \
                --tags --all --always --dirty --long --exact-match -z -m -o -c -d -s -r -t -l --modified --others --cached --deleted \
                --stage --exclude-standard --name-only --full-tree --full-name --error-unmatch --count --name-status \
                --is-ancestor --symbolic-full-name --heads --no-merges --merges --first-parent --no-commit-id",
        values: &[(
            "--abbrev= --match --format --sort -n --max-count --count= --short= --since --until",
            Text,
        )],
        why: "It prints names of commits and files",
        ..LOOK
    },
    Shape {
        call: "git blame|annotate",
        flags: "-w -M -C -s -e -l -t -c --porcelain --show-name --show-number --root",
        values: &[("-L --since --date", Text)],
        why: "It prints a file with its authors; `--contents` reads another one",
        ..LOOK
    },
    Shape {
        call: "git cat-file",
        flags: "-p -t -s -e",
        why: "It prints an object; `--textconv` and `--filters` run programs",
        ..LOOK
    },
    Shape {
        call: "git grep",
        flags: "-n -i -l -L -c -w -v -E -F -P -G -h -H -o -q -z -p -W -I -a --cached --line-number --ignore-case --count --untracked \
                --name-only --files-with-matches --heading --break --all-match --and --or --not -NUM",
        values: &[("-e --color=", Text), ("-A -B -C -m --max-count --max-depth", Number)],
        why: "It prints lines that match; `-O` runs a pager",
        ..LOOK
    },
    Shape {
        call: "git remote",
        flags: "-v --verbose",
        operands: Operands::None,
        why: "It prints names and addresses",
        ..LOOK
    },
    Shape {
        call: "git remote get-url",
        operands: Operands::Each(Remote),
        why: "It prints an address",
        ..LOOK
    },
    Shape {
        call: "git stash list|show",
        flags: LOG_FLAGS,
        values: LOG_VALUES,
        why: "It prints the stash",
        ..LOOK
    },
    Shape {
        call: "git worktree list",
        flags: "-v --porcelain",
        operands: Operands::None,
        why: "It prints folders",
        ..LOOK
    },
    Shape {
        call: "git add|stage",
        flags: "-A --all -u --update -v --verbose -n --dry-run -N --intent-to-add --renormalize --ignore-errors --no-all",
        operands: Operands::Each(Path),
        why: "It stages files; `-f` would add those that are to be ignored",
        ..WORK
    },
    Shape {
        call: "git commit",
        flags: "-a --all -v --verbose -q --quiet --amend --no-edit --allow-empty --allow-empty-message -s --signoff --dry-run --short \
                --branch --porcelain -o --only -i --include --no-verify -n --reset-author --no-gpg-sign",
        values: &[
            ("-m --message --author --date", Text),
            ("--cleanup", Word),
            ("--fixup --squash -C --reuse-message", Revision),
            ("-F --file", Path),
        ],
        operands: Operands::Each(Path),
        why: "It makes a commit",
        ..WORK
    },
    Shape {
        call: "git push",
        flags: "-u --set-upstream -v --verbose -q --quiet --tags --follow-tags --no-verify --atomic -n --dry-run --porcelain \
                --progress --no-progress --all",
        operands: Operands::First(Remote, Refspec),
        why: "It sends commits to a configured remote, which is asked about",
        ..TRANSFER
    },
    Shape {
        call: "git pull",
        flags: "--all --tags -t --prune -p -v -q --verbose --quiet --no-tags --rebase -r --no-rebase --ff-only --ff --no-ff --autostash \
                --no-autostash --stat -n --no-edit --squash --no-commit --progress",
        values: &[("--rebase=", Word), ("--depth", Number)],
        operands: Operands::First(Remote, Refspec),
        why: "It merges commits of another repository, which is asked about",
        ..TRANSFER
    },
    Shape {
        call: "git fetch",
        flags: PULL_FLAGS,
        values: &[("--depth --deepen -j --jobs", Number), ("--shallow-since", Text)],
        operands: Operands::First(Address, Refspec),
        why: "It fetches commits and changes no file; rules decide about the repository",
        ..TRANSFER
    },
    Shape {
        call: "git clone",
        flags: "-q --quiet -v --verbose --progress --single-branch --no-tags --no-single-branch",
        values: &[("--depth -j --jobs", Number), ("-b --branch", Revision)],
        operands: Operands::Two(Address, Plain),
        why: "It fetches into a new folder; `-c`, `--template` and `--recurse-submodules` do more",
        ..TRANSFER
    },
    Shape {
        call: "git checkout",
        flags: "-q --quiet -t --track --no-track --progress",
        values: &[("-b", Refspec)],
        needs: "-b",
        operands: Operands::Each(Refspec),
        why: "It begins a new branch and keeps changes; `-B` would replace one",
        ..WORK
    },
    Shape {
        call: "git checkout",
        flags: "-q --quiet --progress",
        operands: Operands::Two(OneOf("main master develop dev trunk next stable -"), OneOf("")),
        why: "It goes to a branch; another word could be a file, whose changes would be lost",
        ..WORK
    },
    Shape {
        call: "git switch",
        flags: "-q --quiet -d --detach -t --track --no-track --guess --no-guess --progress",
        values: &[("-c --create", Refspec)],
        operands: Operands::Each(Revision),
        why: "It goes to a branch and keeps changes; `-C`, `-f` and `--discard-changes` do not",
        ..WORK
    },
    Shape {
        call: "git branch",
        flags: "-a --all -r --remotes -v -vv --verbose --list -l --show-current --no-color -q --quiet -t --track --no-track -i -m --move",
        values: &[
            ("--sort --format --color=", Text),
            ("--contains --no-contains --merged --no-merged --points-at", Revision),
        ],
        operands: Operands::Each(Refspec),
        why: "It lists, creates and renames branches; `-D`, `-M`, `-C` and `-f` replace or delete them",
        ..WORK
    },
    Shape {
        call: "git tag",
        flags: "-l --list -n -a --annotate -i --column",
        values: &[("-m --message --sort --format --contains --points-at", Text)],
        operands: Operands::Each(Name),
        why: "It lists and creates tags; `-d` and `-f` delete or replace them",
        ..WORK
    },
    Shape {
        call: "git stash",
        operands: Operands::None,
        flags: "-u --include-untracked -k --keep-index -q --quiet",
        why: "It puts changes aside, where they are found again",
        ..WORK
    },
    Shape {
        call: "git stash push|save",
        flags: "-u --include-untracked -k --keep-index -q --quiet -S --staged",
        values: &[("-m --message", Text)],
        operands: Operands::Each(Path),
        why: "The same",
        ..WORK
    },
    Shape {
        call: "git stash pop|apply",
        flags: "--index -q --quiet",
        operands: Operands::Each(Revision),
        why: "It brings changes back; it refuses where it would overwrite others",
        ..WORK
    },
    Shape {
        call: "git restore",
        flags: "--staged -S -q --quiet",
        needs: "--staged -S",
        operands: Operands::Each(Path),
        why: "It takes files out of the next commit; without `--staged` it would discard changes",
        ..WORK
    },
    Shape {
        call: "git reset",
        flags: "--soft --mixed -q --quiet -N",
        operands: Operands::Each(Revision),
        why: "It moves the branch and keeps files; `--hard`, `--merge` and `--keep` do not",
        ..WORK
    },
    Shape {
        call: "git merge",
        flags: "--no-ff --ff-only --ff --squash --no-commit --no-edit --continue -q --quiet -v --verbose --stat -n --no-stat",
        values: &[("-m", Text)],
        operands: Operands::Each(Revision),
        why: "It merges; `-s` runs a program by its name, and `--abort` discards changes",
        ..WORK
    },
    Shape {
        call: "git cherry-pick|revert",
        flags: "-n --no-commit --no-edit --continue -x",
        values: &[("-m --mainline", Number)],
        operands: Operands::Each(Revision),
        why: "It applies commits of the repository; `--abort` discards changes, `--strategy` runs a program",
        ..WORK
    },
    Shape {
        call: "git mv",
        flags: "-v -n -k --verbose --dry-run",
        operands: Operands::Each(Plain),
        why: "It moves files, but not to where something runs them",
        ..WORK
    },
    Shape {
        call: "git init",
        flags: "-q --quiet",
        values: &[("-b --initial-branch", Word)],
        operands: Operands::Two(Plain, OneOf("")),
        why: "It makes a repository; `--template` would bring hooks",
        ..WORK
    },
    Shape {
        call: "git worktree add",
        flags: "-q --quiet --detach",
        values: &[("-b", Refspec)],
        operands: Operands::Two(Plain, Revision),
        why: "It makes a new folder with a branch",
        ..WORK
    },
    Shape {
        call: "git notes add|show|list",
        values: &[("-m --message", Text)],
        operands: Operands::Each(Revision),
        why: "It adds and prints notes; `-f` replaces them",
        ..WORK
    },
    Shape {
        call: "git clean",
        flags: "-n --dry-run -d -x -X -q --quiet",
        needs: "-n --dry-run",
        operands: Operands::Each(Path),
        why: "With `-n` it prints what it would delete",
        ..WORK
    },
];

/// The words without options between `git` and its subcommand; `None` if one of them is unknown. `-c` and
/// `--exec-path` name programs to run, and `--git-dir` names another repository.
pub(super) fn without_leading_options(words: &[ShellWord]) -> Option<Vec<ShellWord>> {
    let (name, mut rest) = words.split_first()?;
    loop {
        let (word, others) = rest.split_first()?;
        if word.kind != WordKind::Static {
            return None;
        }
        rest = match word.text.as_str() {
            "--no-pager" | "-P" | "--literal-pathspecs" | "--no-optional-locks" => others,
            "-C" => others.get(1..)?,
            text if text.starts_with('-') => return None,
            _ => break,
        };
    }
    Some(std::iter::once(name).chain(rest).cloned().collect())
}
