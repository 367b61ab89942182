//! A part of a list, by offset and limit.

/// A part of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Page {
    /// Number of items to skip.
    pub offset: usize,
    /// Maximum number of items; `None` and 0 mean all, as in the SDKs.
    pub limit: Option<usize>,
}

impl Page {
    pub(super) fn of<T>(self, all: Vec<T>) -> Vec<T> {
        let limit = self.limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        all.into_iter().skip(self.offset).take(limit).collect()
    }
}
