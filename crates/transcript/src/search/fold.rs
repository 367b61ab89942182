//! Hits of one session that say the same, counted as one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Hit, Role};

/// A hit, and the number of hits that say the same.
#[derive(Debug)]
#[non_exhaustive]
pub struct FoldedHit<'h, 'f> {
    /// The first of them.
    pub hit: &'h Hit<'f>,
    /// Number of them, at least 1.
    pub count: u64,
}

/// Identity of what a hit says: its speaker and its text. Files repeat texts: progress of a sub-agent, copies
/// of a conversation, results that are stored twice.
pub type HitText<'h> = (Option<Role>, &'h str);

impl Hit<'_> {
    /// The text of the hit with its speaker; hits of a session with the same text are repeats.
    pub fn says(&self) -> HitText<'_> {
        (self.role, &self.excerpt.text)
    }
}

/// Folds the repeats among the hits of one session, each into its first one.
pub fn folded<'h, 'f>(hits: &'h [Hit<'f>]) -> Vec<FoldedHit<'h, 'f>> {
    let mut places: HashMap<HitText<'h>, usize> = HashMap::new();
    let mut folded: Vec<FoldedHit<'h, 'f>> = Vec::new();
    for hit in hits {
        match places.entry(hit.says()) {
            Entry::Occupied(place) => {
                if let Some(first) = folded.get_mut(*place.get()) {
                    first.count += 1;
                }
            }
            Entry::Vacant(place) => {
                place.insert(folded.len());
                folded.push(FoldedHit { hit, count: 1 });
            }
        }
    }
    folded
}
