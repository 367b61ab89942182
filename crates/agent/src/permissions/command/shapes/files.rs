//! Programs that create and change files. No built-in policy allows them without asking; their shapes
//! determine the risk.
// tidy: flat table

use super::values::Value::{Mode, Path, SedEdit};
use super::{CommandKind, Operands, SHAPE, Shape};

const CHANGE: Shape = Shape { kind: CommandKind::Change, operands: Operands::Each(Path), ..SHAPE };

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "mkdir",
        kind: CommandKind::Create,
        flags: "-p -v --parents --verbose",
        why: "It creates folders and changes none",
        ..CHANGE
    },
    Shape {
        call: "touch",
        kind: CommandKind::Create,
        flags: "-a -c -m --no-create",
        why: "It creates empty files; of others it changes the times",
        ..CHANGE
    },
    Shape {
        call: "cp|mv",
        flags: "-r -R -a -p -n -v -i -u -f --recursive --archive --no-clobber --verbose --update --force",
        why: "They change files that are named in the command",
        ..CHANGE
    },
    Shape {
        call: "tee",
        flags: "-a --append",
        why: "It writes the files that are named in the command",
        ..CHANGE
    },
    Shape {
        call: "chmod",
        flags: "-v -c --verbose --changes",
        operands: Operands::First(Mode, Path),
        why: "It changes who may use files; opening them to all is a danger of its own",
        ..CHANGE
    },
    Shape {
        call: "sed",
        flags: "-i -E -r -s --in-place --regexp-extended",
        needs: "-i --in-place",
        operands: Operands::First(SedEdit, Path),
        why: "It replaces text in the files that are named; other programs of `sed` can run and write",
        ..CHANGE
    },
];
