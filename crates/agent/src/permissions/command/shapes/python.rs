//! Python: tests and packages. The test runners of Ruby and PHP are similar.
// tidy: flat table

use super::values::Value::{Name, Number, Path, PythonPackage, Requirements, Text, Word};
use super::{CommandKind, Operands, SHAPE, Shape};

const TEST: Shape = Shape { kind: CommandKind::Test, operands: Operands::Each(Path), ..SHAPE };

/// Missing on purpose: `-p`, `-c`, `-o`, `--rootdir`, `--confcutdir` and `--pyargs` load other code or
/// settings.
const PYTEST: Shape = Shape {
    flags: "-q -qq -v -vv -vvv -x -s -l --lf --ff --sw --nf --co --collect-only --exitfirst --last-failed --failed-first \
            --stepwise --new-first --no-header --no-summary --quiet --verbose --showlocals --cov --no-cov --disable-warnings",
    values: &[
        ("-k -m", Text),
        ("-n --numprocesses --dist --tb --color --capture --cov-report --import-mode", Word),
        ("-r", Word),
        ("--maxfail --durations --timeout --reruns --count", Number),
        ("--cov --ignore --deselect", Path),
    ],
    ..TEST
};

pub(super) const SHAPES: &[Shape] = &[
    Shape { call: "pytest|py.test", why: "It runs tests of the project", ..PYTEST },
    Shape { call: "python|python3 -m pytest", why: "The same", ..PYTEST },
    Shape {
        call: "python|python3 -m unittest",
        flags: "-v -q -f -b -c --verbose --quiet --failfast --buffer --catch --locals",
        values: &[("-k -p --pattern", Text), ("-s --start-directory -t --top-level-directory", Path)],
        why: "It runs tests of the project",
        ..TEST
    },
    Shape {
        call: "tox",
        flags: "-q -v -r -p --recreate --parallel -l",
        values: &[("-e", Name)],
        operands: Operands::None,
        why: "It runs what the project's settings configure; `-c`, `-x` and `--` would override them",
        ..TEST
    },
    Shape {
        call: "ctest",
        flags: "-V -VV -N --output-on-failure --verbose --rerun-failed --stop-on-failure",
        values: &[
            ("-R -E -L --tests-regex --exclude-regex", Text),
            ("-j --parallel --timeout", Number),
            ("--test-dir", Path),
        ],
        operands: Operands::None,
        why: "It runs tests of the project; `-S` and `--build-and-test` run scripts",
        ..TEST
    },
    Shape {
        call: "rspec",
        flags: "--fail-fast --profile --color --no-color --only-failures --next-failure",
        values: &[("-e --example -t --tag", Text), ("-f --format", Word), ("--seed", Number)],
        why: "It runs tests of the project; `-r`, `-I` and `-O` load other code or settings",
        ..TEST
    },
    Shape {
        call: "phpunit",
        flags: "--stop-on-failure --testdox --no-coverage --debug -v",
        values: &[("--filter", Text), ("--testsuite --group --exclude-group --colors=", Name)],
        why: "It runs tests of the project; `--bootstrap` and `-c` load other code or settings",
        ..TEST
    },
    Shape {
        call: "pip|pip3 install",
        kind: CommandKind::Install,
        flags: "-U --upgrade -q --quiet -v --verbose --no-cache-dir --no-deps --pre --disable-pip-version-check --no-input \
                --dry-run --require-hashes",
        values: &[("-r --requirement -c --constraint", Requirements), ("-e --editable", PythonPackage)],
        operands: Operands::Each(PythonPackage),
        why: "It installs packages of the index; addresses, folders, files and other indexes are not among them",
        ..SHAPE
    },
];
