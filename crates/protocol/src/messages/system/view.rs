//! The body of a `system` frame, decoded on demand.

use std::fmt;
use std::marker::PhantomData;

use crate::json::{Misfit, Raw, Reading, Wire};

/// Body of a [`SystemView`](super::SystemView): a frame whose fields `T` has.
pub struct SystemBody<'a, T> {
    frame: Raw<'a>,
    body: PhantomData<fn() -> T>,
}

impl<'a, T: Wire> SystemBody<'a, T> {
    pub(super) fn of(frame: Raw<'a>) -> Self {
        SystemBody { frame, body: PhantomData }
    }

    /// Decodes the body; fails if a required field is missing.
    pub fn read(self) -> Result<T, Misfit> {
        T::read(&mut self.frame.cursor(), &mut Reading::default())
    }
}

impl<T> Clone for SystemBody<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SystemBody<'_, T> {}

impl<T> fmt::Debug for SystemBody<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.frame.fmt(f)
    }
}
