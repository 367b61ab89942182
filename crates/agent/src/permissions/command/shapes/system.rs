//! Package managers. No built-in policy allows them without asking; their shapes let rules refer to
//! installing.
// tidy: flat table

use super::values::Value::Name;
use super::{CommandKind, Operands, SHAPE, Shape};

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        call: "apt|apt-get|brew|gem|bundle|composer|uv|poetry install",
        kind: CommandKind::Install,
        flags: "-y --yes -q --quiet",
        operands: Operands::Each(Name),
        why: "They change the machine or run code of packages; they are asked about",
        ..SHAPE
    },
    Shape {
        call: "uv|poetry add",
        kind: CommandKind::Install,
        flags: "--dev -q --quiet",
        operands: Operands::Each(Name),
        why: "The same",
        ..SHAPE
    },
];
