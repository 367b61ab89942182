//! Fully known commands: the program, its subcommand, its options and the allowed values.
//!
//! Each file has the table of one family of programs. A command gets a [`CommandKind`] only if one [`Shape`]
//! covers every word of it.
//! A missing or abbreviated option makes the command unknown, and the policies ask about it.
//! So an entry must be safe with every value that its [`Value`] accepts; [`Reach`](crate::permissions::Reach)
//! judges the paths among the values.

mod cargo;
mod compilers;
mod files;
mod git;
mod go;
mod listing;
mod make;
mod matcher;
mod node;
mod python;
mod search;
mod system;
mod text;
mod values;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{CommandKind, SimpleCommand, Word};
use values::Value;

/// One form of a command.
pub(super) struct Shape {
    /// The program and its subcommands. `|` separates alternatives, and a `*` at the end of a word matches
    /// any rest.
    pub(super) call: &'static str,
    /// The kind of a command that matches.
    pub(super) kind: CommandKind,
    /// The syntax of options with one dash.
    pub(super) style: Style,
    /// Options without a value. `-NUM` matches a dash and digits.
    pub(super) flags: &'static str,
    /// Options with a value. A name that ends with `=` takes it only in the same word.
    pub(super) values: &'static [(&'static str, Value)],
    /// Options, at least one of them required; none if empty.
    pub(super) needs: &'static str,
    /// The operands.
    pub(super) operands: Operands,
    /// The words after `--`, if another program reads them; otherwise they are operands.
    pub(super) rest: Option<&'static Shape>,
    /// The reason why it may run without asking, or why it is listed although it may not.
    #[cfg_attr(not(test), expect(dead_code, reason = "documentation for maintainers of the tables"))]
    pub(super) why: &'static str,
}

/// The syntax of options with one dash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `-la` is `-l -a`, and `-n5` is `-n 5`.
    Letters,
    /// `-run` is one option, as for `go` and `find`.
    Words,
    /// Like `Words`, but a single letter may have its value attached: `-Iinclude`, as for compilers.
    Compiler,
    /// There are no options: `echo`.
    NoOptions,
}

/// The operands of a command.
#[derive(Clone, Copy)]
pub(super) enum Operands {
    /// There are none.
    None,
    /// Any number of one kind.
    Each(Value),
    /// The first is of one kind, and all others are of another.
    First(Value, Value),
    /// At most two, of these kinds.
    Two(Value, Value),
}

const SHAPE: Shape = Shape {
    call: "",
    kind: CommandKind::Other,
    style: Style::Letters,
    flags: "",
    values: &[],
    needs: "",
    operands: Operands::None,
    rest: None,
    why: "",
};

/// For `--`, if no words may follow it because another program would read them.
const NOTHING: Shape = SHAPE;

/// All tables.
const FAMILIES: &[&[Shape]] = &[
    listing::SHAPES,
    text::SHAPES,
    search::SHAPES,
    files::SHAPES,
    git::SHAPES,
    cargo::SHAPES,
    node::SHAPES,
    python::SHAPES,
    go::SHAPES,
    make::SHAPES,
    compilers::SHAPES,
    system::SHAPES,
];

/// The shapes of each program, in the order of the tables.
static BY_PROGRAM: LazyLock<HashMap<&str, Vec<&Shape>>> = LazyLock::new(|| {
    let mut by_program: HashMap<_, Vec<_>> = HashMap::new();
    for shape in FAMILIES.iter().copied().flatten() {
        for program in shape.call.split(' ').next().unwrap_or_default().split('|') {
            by_program.entry(program).or_default().push(shape);
        }
    }
    by_program
});

/// The kind of a command, by the shape that covers all of its words.
pub(super) fn kind(command: &SimpleCommand) -> Option<CommandKind> {
    covering(command, |shape, _| shape.kind)
}

/// The operands of a command, if a shape covers all of its words.
pub(super) fn operands(command: &SimpleCommand) -> Option<Vec<String>> {
    covering(command, |_, operands| operands.into_iter().map(str::to_owned).collect())
}

fn covering<T>(command: &SimpleCommand, read: impl Fn(&Shape, Vec<&str>) -> T) -> Option<T> {
    let words = command.words.as_slice();
    // Options between `git` and its subcommand would hide the subcommand.
    let shortened = if command.name() == "git" { Some(git::without_leading_options(words)?) } else { None };
    let words: &[Word] = shortened.as_deref().unwrap_or(words);
    let shapes = BY_PROGRAM.get(command.name())?;
    shapes.iter().find_map(|shape| Some(read(shape, matcher::operands(shape, words)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k3_every_shape_says_why_and_names_no_option_twice() {
        for shape in FAMILIES.iter().flat_map(|shapes| shapes.iter()) {
            assert!(!shape.call.is_empty() && !shape.why.is_empty(), "{}", shape.call);
            let flags: Vec<&str> = shape.flags.split_whitespace().collect();
            for (at, flag) in flags.iter().enumerate() {
                assert!(flag.starts_with('-') || shape.call == "find", "{}: {flag}", shape.call);
                assert!(!flags[..at].contains(flag), "{}: {flag}", shape.call);
            }
            for needed in shape.needs.split_whitespace() {
                let is_valued =
                    shape.values.iter().any(|(names, _)| names.split_whitespace().any(|name| name == needed));
                assert!(is_valued || flags.contains(&needed), "{}: {needed}", shape.call);
            }
        }
    }
}
