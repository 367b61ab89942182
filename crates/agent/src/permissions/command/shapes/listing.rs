//! Programs that list names or show properties of the machine.
// tidy: flat table

use super::values::Value::{DateFormat, Name, Number, Path, Text};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

const LOOK: Shape = Shape { kind: CommandKind::Look, ..SHAPE };

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "ls",
        flags: "-a -A -l -h -t -r -R -S -1 -d -F -i -s -n -g -o -G -p -u -c -U -x -m -k -L -H -X -Z -b -B -C -f -N -q -Q -T -v \
                --all --almost-all --human-readable --recursive --reverse --color --group-directories-first \
                --full-time --size --inode --directory --classify --no-group --numeric-uid-gid --author",
        values: &[
            ("--color= --sort= --time= --format= --indicator-style= --time-style", Text),
            ("-I --ignore --hide", Text),
            ("-w --width --block-size", Number),
        ],
        operands: Operands::Each(Path),
        why: "It prints names and no contents, and no option writes or runs anything",
        ..LOOK
    },
    Shape {
        call: "tree",
        flags: "-a -d -f -h -s -D -F -i -r -t -C -n -p -u -g -q -N --du --dirsfirst --noreport --gitignore --prune",
        values: &[("-L", Number), ("-I -P --filelimit", Text)],
        operands: Operands::Each(Path),
        why: "As `ls`; `-o` and `-R` write, `-l` follows links, and neither is here",
        ..LOOK
    },
    Shape { call: "pwd", flags: "-L -P", why: "It prints the folder", ..LOOK },
    Shape {
        call: "cd",
        flags: "-P -L",
        operands: Operands::Two(Path, Text),
        why: "Everything that follows is judged for the new folder as well",
        ..LOOK
    },
    Shape {
        call: "true|false|whoami|nproc|hostname|arch",
        why: "They print a word about the machine; with an operand `hostname` would set it",
        ..LOOK
    },
    Shape {
        call: "id|groups",
        flags: "-u -g -n -G -r",
        operands: Operands::Each(Name),
        why: "They print names of users",
        ..LOOK
    },
    Shape {
        call: "date",
        flags: "-u -R -I --utc --rfc-email --iso-8601",
        values: &[("-d --date", Text), ("--iso-8601= --rfc-3339=", Name)],
        operands: Operands::Each(DateFormat),
        why: "It prints the time; `-s` and operands without `+` set the clock, `-f` and `-r` read files",
        ..LOOK
    },
    Shape {
        call: "uname",
        flags: "-a -s -r -m -n -o -p -v -i --all",
        why: "It prints words about the machine",
        ..LOOK
    },
    Shape {
        call: "sleep|seq",
        style: Style::NoOptions,
        operands: Operands::Each(Text),
        why: "They take numbers and touch no file",
        ..LOOK
    },
    Shape {
        call: "stat",
        flags: "-L -f -t --dereference --terse",
        values: &[("-c --format --printf", Text)],
        operands: Operands::Each(Path),
        why: "It prints size and times of files",
        ..LOOK
    },
    Shape {
        call: "file",
        flags: "-b -i -k -z -L -h --brief --mime --mime-type --mime-encoding --dereference",
        operands: Operands::Each(Path),
        why: "It prints kinds of files; `-C` writes, `-f` and `-m` read other files",
        ..LOOK
    },
    Shape {
        call: "df",
        flags: "-h -H -T -i -k -m -a -l -P --human-readable --total",
        operands: Operands::Each(Path),
        why: "It prints sizes of disks",
        ..LOOK
    },
    Shape {
        call: "du",
        flags: "-s -h -a -c -k -m -b -x -S -0 --summarize --human-readable --all --total --bytes --apparent-size \
                --one-file-system --si",
        values: &[("-d --max-depth -t --threshold -B --block-size", Number), ("--exclude", Text)],
        operands: Operands::Each(Path),
        why: "It prints sizes; `--files0-from` and `-X` read names from files, `-L` and `-D` follow links",
        ..LOOK
    },
    Shape {
        call: "basename|dirname",
        flags: "-a -z --multiple --zero",
        values: &[("-s --suffix", Text)],
        operands: Operands::Each(Path),
        why: "They cut text and look at no file",
        ..LOOK
    },
    Shape {
        call: "realpath|readlink",
        flags: "-e -m -f -s -q -n -z -L -P --canonicalize --quiet --no-symlinks",
        values: &[("--relative-to --relative-base", Path)],
        operands: Operands::Each(Path),
        why: "They print paths",
        ..LOOK
    },
    Shape {
        call: "which|type",
        flags: "-a -t -p",
        operands: Operands::Each(Name),
        why: "They print where programs lie",
        ..LOOK
    },
    Shape {
        call: "command",
        flags: "-v -V",
        needs: "-v -V",
        operands: Operands::Each(Name),
        why: "With `-v` it prints where a program lies; without, it runs it",
        ..LOOK
    },
    Shape {
        call: "cargo|rustc|node|npm|go|python|python3|gcc|clang|make|cmake|java|javac|tsc|pytest|pip|pip3|rustup|deno|bun|uv",
        flags: "--version",
        needs: "--version",
        style: Style::Words,
        why: "It prints a version",
        ..LOOK
    },
    Shape { call: "go version", why: "It prints a version; with an operand it would read a file", ..LOOK },
];
