//! Commands that are known in whole: the program, its subcommand, its options and what their values may be.
//!
//! Each file has the table of one family of programs. A command gets a [`CommandKind`] only if one [`Shape`] accounts for
//! every word of it. An option that is missing here, also one that is shortened, makes the command an unknown one, which
//! the policies ask about. So an entry has to be safe with every value that its [`Value`] accepts; where the values that
//! are paths may lead is decided by [`Reach`](crate::permissions::Reach).

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

use super::{Command, CommandKind, Word};
use values::Value;
pub(in crate::permissions) use values::is_plain_path;

/// One way to call a program.
pub(super) struct Shape {
    /// The program and its subcommands. `|` separates alternatives, and a `*` at the end of a word stands for any rest.
    pub(super) call: &'static str,
    /// The kind of a command that matches.
    pub(super) kind: CommandKind,
    /// How the program reads words with one dash.
    pub(super) style: Style,
    /// Options without a value. `-NUM` stands for a dash and digits.
    pub(super) flags: &'static str,
    /// Options with a value. A name that ends with `=` takes it only in the same word.
    pub(super) values: &'static [(&'static str, Value)],
    /// Options of which at least one has to be there; none if empty.
    pub(super) needs: &'static str,
    /// The words that are no options.
    pub(super) operands: Operands,
    /// The words after `--`, where another program reads them; otherwise they are operands.
    pub(super) rest: Option<&'static Shape>,
    /// Why it may run unasked, or why it is listed although it may not.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is for those who read or change a table"))]
    pub(super) why: &'static str,
}

/// How a program reads words with one dash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `-la` is `-l -a`, and `-n5` is `-n 5`.
    Letters,
    /// `-run` is one option, as for `go` and `find`.
    Words,
    /// As `Words`, but a single letter may have its value behind it: `-Iinclude`, as for compilers.
    Compiler,
    /// There are no options: `echo`.
    NoOptions,
}

/// The words of a command that are no options.
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

/// The words after `--` where there may be none, since another program would read them.
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

/// The kind of a command by the shape that accounts for all of its words.
pub(super) fn kind(command: &Command) -> Option<CommandKind> {
    let words = command.words.as_slice();
    // Options that stand between `git` and its subcommand would hide the latter.
    let shortened = if command.name() == "git" { Some(git::without_leading_options(words)?) } else { None };
    let words: &[Word] = shortened.as_deref().unwrap_or(words);
    let shape =
        FAMILIES.iter().flat_map(|shapes| shapes.iter()).find(|shape| matcher::matches(shape, words))?;
    if shape.kind == CommandKind::Git && git::has_address(words) {
        return Some(CommandKind::Network);
    }
    Some(shape.kind)
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
