//! JSON as bytes that are checked once and then read where they lie.
//!
//! `check` walks a line once, without recursion, and proves that it is JSON.
//! Everything else here ([`Raw`], [`Text`], [`Cursor`]) reads checked text in place: strings stay
//! escaped until somebody asks, bodies are not decoded until somebody asks, and nothing is lost.
//! serde's tagged and flattened representations are not used for foreign data: they buffer values and
//! with that lose lone surrogates, large numbers and speed.

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
