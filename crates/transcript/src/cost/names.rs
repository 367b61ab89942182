//! Texts that many responses share, as numbers.

use std::collections::HashMap;

/// A text that many responses share, as its number in [`TextTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TextId(pub(super) u32);

impl TextId {
    /// The empty text, for missing values.
    pub(super) const EMPTY: TextId = TextId(0);
}

/// Interned texts: sessions, folders and models.
#[derive(Debug)]
pub(super) struct TextTable {
    texts: Vec<Box<str>>,
    /// Built on demand: names from the cache are only looked up by number.
    by_text: HashMap<Box<str>, TextId>,
    /// The texts that were looked up last; neighbouring lines use the same ones.
    recent: [TextId; 4],
    turn: usize,
}

impl Default for TextTable {
    fn default() -> Self {
        TextTable { texts: vec!["".into()], by_text: HashMap::new(), recent: [TextId::EMPTY; 4], turn: 0 }
    }
}

impl TextTable {
    /// Rebuilds the names from the output of [`TextTable::iter`]; the first is the empty one.
    pub(super) fn from_texts(texts: Vec<Box<str>>) -> Option<Self> {
        (texts.first()?.is_empty()).then(|| TextTable { texts, ..TextTable::default() })
    }

    pub(super) fn get_or_add(&mut self, text: &str) -> TextId {
        if let Some(recent) = self.recent.iter().find(|name| self.get(**name) == text) {
            return *recent;
        }
        if self.by_text.len() + 1 < self.texts.len() {
            let named = |at: usize| TextId(u32::try_from(at).unwrap_or(0));
            let texts = self.texts.iter().enumerate().skip(1);
            self.by_text = texts.map(|(at, text)| (text.clone(), named(at))).collect();
        }
        let name = match self.by_text.get(text) {
            Some(name) => *name,
            None if text.is_empty() => TextId::EMPTY,
            None => {
                // There are far fewer texts than lines, and fewer lines than 2³².
                let name = TextId(u32::try_from(self.texts.len()).unwrap_or(0));
                self.texts.push(text.into());
                self.by_text.insert(text.into(), name);
                name
            }
        };
        self.recent[self.turn % 4] = name;
        self.turn += 1;
        name
    }

    pub(super) fn get(&self, name: TextId) -> &str {
        self.texts.get(name.0 as usize).map_or("", |text| text)
    }

    pub(super) fn has(&self, name: TextId) -> bool {
        (name.0 as usize) < self.texts.len()
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}
