//! JSON text that is checked once and then read in place.
//!
//! `check` walks a line once, without recursion, and proves that it is JSON.
//! All other types ([`Raw`], [`Text`], [`Cursor`]) read checked text in place: strings stay escaped and
//! bodies undecoded until they are accessed, and nothing is lost. serde's tagged and flattened
//! representations are not used for foreign data: they buffer values, which loses lone surrogates, large
//! numbers and speed.

mod check;
mod cursor;
mod equal;
mod extra;
mod number;
mod plain;
mod raw;
mod strict;
mod strings;
mod text;
mod value;
pub(crate) mod wire;

pub(crate) use check::Checker;
pub use check::{SyntaxError, check};
pub use cursor::Cursor;
pub use equal::same_json;
pub use extra::Extra;
pub use raw::{Items, Json, Members, Raw};
pub use strict::write_strict;
pub use strings::Strings;
pub use text::{Text, write_string};
pub use value::{BODY_DEPTH_MAX, BodyError};
pub use wire::{Misfit, Reading, Refused, Wire};
pub(crate) use wire::{object, open_string};
