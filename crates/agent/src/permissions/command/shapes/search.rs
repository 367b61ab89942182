//! Programs that search.
// tidy: flat table

use super::values::Value::{Name, Number, Path, Text};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

const LOOK: Shape = Shape { kind: CommandKind::Look, operands: Operands::First(Text, Path), ..SHAPE };

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "grep|egrep|fgrep",
        flags: "-r -n -i -v -c -l -L -o -w -x -h -H -q -s -E -F -P -G -a -I -z -b -T -y -NUM --recursive --line-number \
                --ignore-case --no-ignore-case --invert-match --count --files-with-matches --files-without-match \
                --only-matching --word-regexp --line-regexp --no-filename --with-filename --quiet --silent \
                --no-messages --extended-regexp --fixed-strings --perl-regexp --basic-regexp --text --color --null \
                --null-data --line-buffered --byte-offset",
        values: &[
            ("-e --regexp --include --exclude --exclude-dir --color= --label", Text),
            ("-A -B -C -m --after-context --before-context --context --max-count", Number),
            ("-f --file", Path),
        ],
        why: "It prints lines that match; `-R` follows links and `-D` reads devices",
        ..LOOK
    },
    Shape {
        call: "rg",
        flags: "-i -s -S -n -N -l -c -o -w -x -v -F -P -U -H -I -q -u -uu -uuu -a -b -p -. -0 --hidden --no-ignore --no-ignore-vcs \
                --files --files-with-matches --files-without-match --count --count-matches --json --heading \
                --no-heading --column --line-number --no-line-number --ignore-case --case-sensitive --smart-case \
                --fixed-strings --multiline --multiline-dotall --only-matching --word-regexp --line-regexp \
                --invert-match --stats --pcre2 --no-filename --with-filename --quiet --text --trim --vimgrep \
                --no-config --no-messages --pretty --passthru --null --type-list --version --unrestricted",
        values: &[
            ("-e --regexp -g --glob --iglob -r --replace --context-separator --colors", Text),
            ("-t --type -T --type-not --color --sort --sortr -E --encoding --engine", Name),
            (
                "-A -B -C -m --after-context --before-context --context --max-count -d --max-depth -j --threads",
                Number,
            ),
            ("-M --max-columns --max-filesize", Number),
            ("-f --file", Path),
        ],
        why: "It prints lines that match; `--pre` and `--hostname-bin` run programs, `-z` too, `-L` follows links",
        ..LOOK
    },
    Shape {
        call: "find",
        style: Style::Words,
        flags: "-print -print0 -ls -prune -o -a -or -and -not ! ( ) , -true -false -quit -depth -xdev -mount -empty -readable \
                -writable -executable -P -daystart -noleaf -nouser -nogroup -ignore_readdir_race",
        values: &[
            (
                "-name -iname -path -ipath -wholename -iwholename -regex -iregex -printf -perm -size -regextype",
                Text,
            ),
            ("-type -xtype -user -group -fstype", Name),
            ("-maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -links -inum", Number),
            ("-newer -anewer -cnewer -samefile", Path),
        ],
        operands: Operands::Each(Path),
        why: "It prints names; `-exec` and its kin run, `-delete` deletes, `-fprint` and its kin write, `-L` follows links",
        ..LOOK
    },
];
