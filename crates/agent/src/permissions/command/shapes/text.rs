//! Programs that print, cut and compare text.
// tidy: flat table

use super::values::Value::{Jq, Name, Number, Path, SedPrint, Text};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

const LOOK: Shape = Shape { kind: CommandKind::Look, operands: Operands::Each(Path), ..SHAPE };

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "echo",
        style: Style::NoOptions,
        operands: Operands::Each(Text),
        why: "It prints its words; where they go is judged by the redirection",
        ..LOOK
    },
    Shape {
        call: "cat",
        flags: "-n -b -s -e -t -v -A -E -T -u --number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs",
        why: "It prints files, and no option does more",
        ..LOOK
    },
    Shape {
        call: "head|tail",
        flags: "-q -v -z -f -F -r -NUM --quiet --silent --verbose --follow --retry",
        values: &[("-n --lines -c --bytes -s --pid", Number)],
        why: "They print parts of files",
        ..LOOK
    },
    Shape {
        call: "cut",
        flags: "-s -z -n --complement --only-delimited",
        values: &[("-d --delimiter -f --fields -c --characters -b --bytes --output-delimiter", Text)],
        why: "It prints parts of lines",
        ..LOOK
    },
    Shape {
        call: "tr",
        flags: "-d -s -c -C -t --delete --squeeze-repeats --complement --truncate-set1",
        operands: Operands::Each(Text),
        why: "It changes what it reads from its input, and opens no file",
        ..LOOK
    },
    Shape {
        call: "sort",
        flags: "-n -r -u -f -b -h -V -R -M -g -i -d -z -s -c -C -m --numeric-sort --reverse --unique --ignore-case \
                --human-numeric-sort --version-sort --stable --check --zero-terminated",
        values: &[("-k --key -t --field-separator", Text), ("-S --buffer-size --parallel", Number)],
        why: "It prints lines; `-o` writes, `--compress-program` runs, `-T` and `--files0-from` name other files",
        ..LOOK
    },
    Shape {
        call: "uniq",
        flags: "-c -d -D -u -i -z --count --repeated --unique --ignore-case",
        values: &[("-f --skip-fields -s --skip-chars -w --check-chars", Number)],
        operands: Operands::None,
        why: "It reads its input; a second operand would be a file to write",
        ..LOOK
    },
    Shape {
        call: "wc",
        flags: "-l -w -c -m -L --lines --words --bytes --chars --max-line-length",
        why: "It counts; `--files0-from` reads names from a file",
        ..LOOK
    },
    Shape {
        call: "diff",
        flags: "-u -q -w -b -B -i -a -y -s -c -p -t -E -Z -NUM --brief --color --side-by-side --unified --ignore-all-space \
                --ignore-space-change --ignore-blank-lines --suppress-common-lines --no-dereference --text",
        values: &[("-U --unified= -W --width", Number), ("-x --exclude -I --color= --label", Text)],
        why: "It compares two files; with `-r` it follows links, and with `-N` it prints whole folders",
        ..LOOK
    },
    Shape {
        call: "cmp",
        flags: "-l -b -s --silent --quiet --verbose --print-bytes",
        values: &[("-i --ignore-initial -n --bytes", Number)],
        why: "It compares two files",
        ..LOOK
    },
    Shape {
        call: "comm|paste|nl|rev|tac|fold|expand|unexpand",
        flags: "-1 -2 -3 -i -z -s -b -r -p --total --serial --before --regex --check-order --nocheck-order",
        values: &[
            ("-d --delimiters --output-delimiter -v -n --separator", Text),
            ("-w -t -l --width --tabs", Number),
        ],
        why: "They print lines in another form",
        ..LOOK
    },
    Shape {
        call: "column",
        flags: "-t -x -n -e -J --table --fillrows --json",
        values: &[("-s -o -c -N -R -H -n --separator --output-separator --table-columns", Text)],
        why: "It prints lines in columns",
        ..LOOK
    },
    Shape {
        call: "md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|cksum|shasum",
        flags: "-b -t -z --binary --text --tag --zero",
        values: &[("-a --algorithm", Name)],
        why: "They print sums; `-c` reads names from a file",
        ..LOOK
    },
    Shape {
        call: "hexdump|od",
        flags: "-C -c -d -o -x -v -b -i -s -p -u --canonical --output-duplicates",
        values: &[
            ("-n -N -j -w -l --length --skip --skip-bytes --read-bytes", Number),
            ("-A -t -e --format", Text),
        ],
        operands: Operands::Each(Path),
        why: "They print bytes; `-f` of `hexdump` reads a program",
        ..LOOK
    },
    Shape {
        call: "strings",
        flags: "-a -f -w -NUM --all --print-file-name",
        values: &[("-n --bytes", Number), ("-t -e --radix --encoding", Name)],
        operands: Operands::Each(super::values::Value::Plain),
        why: "It prints text in files; `@file` would read words from a file",
        ..LOOK
    },
    Shape {
        call: "jq",
        flags: "-r -n -c -e -s -S -R -a -j -M -C --raw-output --join-output --null-input --compact-output --exit-status \
                --slurp --sort-keys --raw-input --ascii-output --monochrome-output --color-output --tab",
        values: &[("--indent", Number)],
        operands: Operands::First(Jq, Path),
        why: "It prints parts of its input; `-f`, `-L`, `--rawfile`, `import` and `env` show more than that",
        ..LOOK
    },
    Shape {
        call: "sed",
        flags: "-n -E -r -s -u -z --quiet --silent --regexp-extended --separate --unbuffered --null-data",
        needs: "-n --quiet --silent",
        operands: Operands::First(SedPrint, Path),
        why: "It prints lines by number; other programs of `sed` can write (`w`), read (`r`) and run (`e`)",
        ..LOOK
    },
];
