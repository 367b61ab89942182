//! Empty lines between text and cards.

/// Kind of the last lines, to separate text and cards by an empty line.
#[derive(Debug, Default)]
pub(super) struct Spacing {
    last: Last,
    /// True inside of a text.
    in_text: bool,
    /// True once there was any text.
    has_text: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Text,
    Cards,
}

impl Spacing {
    /// Notes text in an output without cards. Returns true if a new text begins after another one.
    pub(super) fn another_text(&mut self) -> bool {
        let new = !std::mem::replace(&mut self.in_text, true);
        std::mem::replace(&mut self.has_text, true) && new
    }

    /// Notes text in an output with cards. Returns true if a new text begins right after another one.
    pub(super) fn text_begins(&mut self) -> bool {
        let new = !std::mem::replace(&mut self.in_text, true);
        let after_text = new && self.last == Last::Text;
        if self.last != Last::Cards {
            self.last = Last::Text;
        }
        after_text
    }

    /// Notes text. Returns true if it is the first after cards.
    pub(super) fn after_cards(&mut self) -> bool {
        std::mem::replace(&mut self.last, Last::Text) == Last::Cards
    }

    pub(super) fn ends_with_cards(&self) -> bool {
        self.last == Last::Cards
    }

    pub(super) fn ends_with_text(&self) -> bool {
        self.last == Last::Text
    }

    pub(super) fn text_ended(&mut self) {
        self.in_text = false;
    }

    /// Notes cards. Returns true if they are the first after text.
    pub(super) fn cards_begin(&mut self) -> bool {
        std::mem::replace(&mut self.last, Last::Cards) == Last::Text
    }
}
