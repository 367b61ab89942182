//! Build systems that run the project's own build files.
// tidy: flat table

use super::values::Value::{Count, Name, OneOf, Path, Plain, Text, Word};
use super::{CommandKind, NOTHING, Operands, SHAPE, Shape, Style};

const TARGETS: super::values::Value = OneOf("all build check test lint");

/// Missing on purpose: `-f`, `--eval`, `-I` and `NAME=value` replace parts of the build file, and `-E`
/// imports variables.
const MAKE: Shape = Shape {
    kind: CommandKind::Build,
    flags: "-k -s -n -B -w --keep-going --silent --quiet --dry-run --always-make --no-print-directory --print-directory",
    values: &[("-j --jobs", Count), ("-C --directory", Path)],
    operands: Operands::Each(TARGETS),
    ..SHAPE
};

const JVM: Shape = Shape {
    style: Style::Words,
    flags: "-q --quiet --info --stacktrace --offline --no-daemon --parallel --continue --rerun-tasks --console=plain",
    values: &[("--tests", Text)],
    operands: Operands::Each(Name),
    ..SHAPE
};

const MAVEN: Shape = Shape {
    style: Style::Words,
    flags: "-q -B -o -e -X -U -ntp --quiet --batch-mode --offline --errors -DskipTests --no-transfer-progress",
    values: &[("-Dtest", Name), ("-pl", Name)],
    operands: Operands::Each(OneOf("test compile package verify")),
    ..SHAPE
};

const DOTNET: Shape = Shape {
    flags: "--no-build --no-restore --nologo",
    values: &[("-c --configuration -v --verbosity -f --framework", Name), ("--filter", Text)],
    operands: Operands::Each(Path),
    rest: Some(&NOTHING),
    ..SHAPE
};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "make|just test",
        kind: CommandKind::Test,
        why: "It runs the tests of the project",
        ..MAKE
    },
    Shape {
        call: "make",
        why: "It builds the project; other targets may do anything, `install` for example",
        ..MAKE
    },
    Shape {
        call: "just",
        flags: "-n --dry-run --quiet",
        values: &[],
        why: "It builds the project; other recipes may do anything",
        ..MAKE
    },
    Shape {
        call: "cmake --build",
        flags: "-v --verbose --clean-first",
        values: &[("-j --parallel", Count), ("-t --target --config --preset", Word)],
        operands: Operands::Each(Plain),
        rest: Some(&NOTHING),
        why: "It builds in a folder of the project; behind `--` stand options of another program",
        ..MAKE
    },
    Shape {
        call: "cmake",
        style: Style::Words,
        flags: "--fresh -Wno-dev",
        values: &[("-S", Path), ("-B", Plain), ("-G", Text), ("--preset -DCMAKE_BUILD_TYPE", Word)],
        operands: Operands::Each(Path),
        why: "It prepares a build; `-P` and `-E` run, `-C` and `-D` can name scripts and compilers",
        ..MAKE
    },
    Shape {
        call: "ninja",
        flags: "-v -n --verbose --quiet",
        values: &[("-j -k -l", Count), ("-C", Plain)],
        operands: Operands::Each(Word),
        why: "It builds in a folder of the project; `-f` and `-t` do something else",
        ..MAKE
    },
    Shape {
        call: "gradle test",
        kind: CommandKind::Test,
        operands: Operands::Each(OneOf("test build check")),
        why: "It runs the tests of the project",
        ..JVM
    },
    Shape {
        call: "gradle build",
        kind: CommandKind::Build,
        operands: Operands::Each(OneOf("test build check")),
        why: "It builds the project",
        ..JVM
    },
    Shape { call: "mvn test", kind: CommandKind::Test, why: "It runs the tests of the project", ..MAVEN },
    Shape { call: "mvn compile|package", kind: CommandKind::Build, why: "It builds the project", ..MAVEN },
    Shape { call: "dotnet test", kind: CommandKind::Test, why: "It runs the tests of the project", ..DOTNET },
    Shape { call: "dotnet build", kind: CommandKind::Build, why: "It builds the project", ..DOTNET },
];
