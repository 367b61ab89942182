//! Cargo: builds and tests of the project.
// tidy: flat table

use super::values::Value::{Count, Name, Number, OneOf, Path, Text, Word};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

const FLAGS: &str = "-q --quiet -v -vv --verbose --release -r --all --workspace --lib --bins --examples --tests --benches \
    --all-targets --all-features --no-default-features --locked --offline --frozen --keep-going --no-run --no-fail-fast \
    --doc --timings --no-deps --document-private-items --fix --allow-dirty --allow-staged --ignore-rust-version";

/// Missing on purpose: `--config` and `-Z` name programs to run, `--target-dir` and `--out-dir` write
/// elsewhere.
const VALUES: &[(&str, super::values::Value)] = &[
    ("-p --package --bin --example --test --bench --exclude --message-format --color", Name),
    ("--profile --target", Word),
    ("--features -F", Text),
    ("-j --jobs", Count),
    ("--manifest-path", Path),
];

const BUILD: Shape = Shape { kind: CommandKind::Build, flags: FLAGS, values: VALUES, ..SHAPE };

/// Options of the test programs that `cargo test` builds. `--logfile` writes and is missing on purpose.
const LIBTEST: Shape = Shape {
    flags: "--nocapture --no-capture --ignored --include-ignored --exact --list -q --quiet --show-output --test",
    values: &[("--test-threads", Number), ("--skip", Text), ("--color --format", Word)],
    operands: Operands::Each(Text),
    ..SHAPE
};

const LINTS: Shape = Shape { values: &[("-D -W -A -F", Text)], ..SHAPE };

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "cargo build|b|check|c|doc|d",
        why: "It builds the project, whose code and build scripts are trusted as far as the project is",
        ..BUILD
    },
    Shape {
        call: "cargo clippy",
        rest: Some(&LINTS),
        why: "As a build; behind `--` only lints are named",
        ..BUILD
    },
    Shape {
        call: "cargo fmt",
        flags: "--all --check -q --quiet -v --verbose",
        values: &[("-p --package", Name), ("--manifest-path", Path)],
        rest: Some(&Shape { flags: "--check", ..SHAPE }),
        why: "It formats the project; `--config-path` behind `--` would read other settings",
        ..BUILD
    },
    Shape {
        call: "cargo tree",
        flags: "-d --duplicates --all --workspace --all-features --no-default-features --locked --offline --frozen --no-dedupe",
        values: &[
            ("-p --package -i --invert -e --edges --prefix --charset", Name),
            ("-f --format --features -F", Text),
            ("--depth", Number),
            ("--target", Word),
            ("--manifest-path", Path),
        ],
        why: "It prints dependencies",
        ..BUILD
    },
    Shape {
        call: "cargo metadata",
        flags: "--no-deps --all-features --no-default-features --locked --offline --frozen -q --quiet",
        values: &[("--format-version", OneOf("1")), ("--manifest-path", Path)],
        why: "It prints the project",
        ..BUILD
    },
    Shape {
        call: "cargo test|t|bench",
        kind: CommandKind::Test,
        operands: Operands::Each(Text),
        rest: Some(&LIBTEST),
        why: "It runs the tests of the project",
        ..BUILD
    },
    Shape {
        call: "cargo nextest run|list",
        kind: CommandKind::Test,
        flags: "-q --quiet -v --verbose --release -r --all --workspace --lib --bins --examples --tests --benches --all-targets \
                --all-features --no-default-features --locked --offline --frozen --no-run --no-fail-fast --fail-fast \
                --no-capture --nocapture --hide-progress-bar",
        values: &[
            ("-p --package --bin --example --test --bench --exclude --color --no-tests", Name),
            (
                "--cargo-profile -P --profile --status-level --final-status-level --failure-output --success-output",
                Word,
            ),
            ("--target --run-ignored", Word),
            ("-E --filter-expr --filterset --features -F --partition", Text),
            ("-j --jobs --test-threads --retries --max-fail", Number),
            ("--manifest-path", Path),
        ],
        operands: Operands::Each(Text),
        rest: Some(&LIBTEST),
        why: "It runs the tests of the project; `--config-file` and its kin would run programs of their choice",
        ..BUILD
    },
    Shape {
        call: "cargo install|add",
        kind: CommandKind::Install,
        flags: "--locked --dev --build --no-default-features --all-features -q",
        values: &[("--features -F", Text), ("--version --vers -p --package --rename", Name)],
        operands: Operands::Each(Name),
        style: Style::Letters,
        why: "It is listed so that rules can speak of installing; it is asked about",
        ..BUILD
    },
];
