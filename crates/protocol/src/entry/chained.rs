//! An entry of the tree: its envelope, and the fields of its kind.

use std::ops::{Deref, DerefMut};

use super::Envelope;
use super::envelope::KEYS;
use crate::json::wire::{ObjectOut, WireObject};
use crate::json::{Cursor, Extra, Misfit, Reading};

/// An entry of the tree: its envelope, and the fields of its kind.
///
/// Dereferences to the fields: `user.message` is `user.fields.message`.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Chained<T> {
    /// Author, time, folder and parent.
    pub envelope: Envelope,
    /// Fields of the kind. Unknown keys are in its `extra`.
    pub fields: T,
}

impl<T> Chained<T> {
    /// An entry from its parts.
    pub fn new(envelope: Envelope, fields: T) -> Self {
        Chained { envelope, fields }
    }
}

impl<T> Deref for Chained<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.fields
    }
}

impl<T> DerefMut for Chained<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.fields
    }
}

impl<T: WireObject> WireObject for Chained<T> {
    /// Reads each half from its own keys only, so that a `null` or a misfit stays with its field.
    fn read_members(cursor: &mut Cursor<'_>, reading: &mut Reading, _: &[&str]) -> Result<Self, Misfit> {
        let mut ahead = cursor.clone();
        let mut around = Extra::default();
        while let Some((key, member)) = ahead.next_member() {
            if KEYS.contains(&&*key.get()) {
                around.keep(member);
            }
        }
        let envelope = Envelope::read_members(&mut around.cursor(), reading, &["type"])?;
        let fields = T::read_members(cursor, reading, KEYS)?;
        Ok(Chained { envelope, fields })
    }

    fn write_members(&self, out: &mut ObjectOut<'_>) {
        self.envelope.write_members(out);
        self.fields.write_members(out);
    }
}
