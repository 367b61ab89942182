//! Go: builds and tests of the project.
// tidy: flat table

use super::values::Value::{Name, Number, OneOf, Output, Path, Text, Word};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

/// Missing on purpose: `-exec`, `-toolexec` and `-vettool` run programs; `-ldflags` and the like pass options
/// to tools that do; `-modfile`, `-overlay` and `-pkgdir` replace code; `-mod=mod` fetches packages that are
/// not in `go.mod` yet.
const BUILD: Shape = Shape {
    kind: CommandKind::Build,
    style: Style::Words,
    flags: "-v -race -x -n -a -trimpath -json -work -msan -asan",
    values: &[
        ("-tags", Text),
        ("-p", Number),
        ("-mod", OneOf("readonly vendor")),
        ("-buildvcs", OneOf("true false auto")),
        ("-o", Output),
    ],
    operands: Operands::Each(Path),
    ..SHAPE
};

pub(super) const SHAPES: &[Shape] = &[
    Shape { call: "go build|vet|fmt", why: "It builds the project", ..BUILD },
    Shape {
        call: "go test",
        kind: CommandKind::Test,
        flags: "-v -race -x -n -a -trimpath -json -short -cover -failfast -benchmem -fullpath",
        values: &[
            ("-run -bench -skip -tags -list -fuzz -timeout -benchtime -fuzztime -coverpkg", Text),
            ("-count -parallel -cpu -p", Number),
            ("-covermode -shuffle", Word),
            ("-mod", OneOf("readonly vendor")),
            ("-vet", Name),
            ("-coverprofile", Output),
        ],
        why: "It runs the tests of the project",
        ..BUILD
    },
    Shape {
        call: "go get|install",
        kind: CommandKind::Install,
        flags: "-u -t -v",
        values: &[],
        why: "It is listed so that rules can speak of installing; it is asked about",
        ..BUILD
    },
];
