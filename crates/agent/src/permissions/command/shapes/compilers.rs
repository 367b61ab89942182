//! Compilers that are called directly.
// tidy: flat table

use super::values::Value::{Name, Output, Path, Plain, Source, Word};
use super::{CommandKind, Operands, SHAPE, Shape, Style};

const COMPILE: Shape = Shape { kind: CommandKind::Build, style: Style::Compiler, ..SHAPE };

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "gcc|g++|clang|clang++|cc|c++",
        flags: "-c -S -g -O -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Werror -Wpedantic -pedantic -Wshadow -Wconversion -pthread \
                -fPIC -shared -static -fsyntax-only -fsanitize=address -fsanitize=undefined -fno-omit-frame-pointer \
                -MMD -v --verbose",
        values: &[("-std", Name), ("-o", Output), ("-I -L", Path), ("-l", Word), ("-D -U", Name)],
        operands: Operands::Each(Source("c cc cpp cxx h hpp hh o a s")),
        why: "It compiles; `-fplugin`, `-B`, `-specs`, `-wrapper` and `@file` run or read what they name, `-Wl,` too",
        ..COMPILE
    },
    Shape {
        call: "rustc",
        flags: "-O -g --test --verbose -v",
        values: &[("--edition --crate-type --crate-name --emit --cap-lints", Word), ("-o", Output)],
        operands: Operands::Each(Source("rs")),
        why: "It compiles; `-C linker`, `-Z`, `--extern` and `--sysroot` run or load what they name",
        ..COMPILE
    },
    Shape {
        call: "javac",
        flags: "-g -nowarn -verbose -Xlint -Werror -parameters",
        values: &[("-d", Plain), ("--release -source -target -encoding", Name)],
        operands: Operands::Each(Source("java")),
        why: "It compiles; `-processor`, `-J` and `@file` run or read what they name",
        ..COMPILE
    },
];
