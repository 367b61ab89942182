/// Which kind of lines stands at the end, so that an empty line parts it from the other.
#[derive(Debug, Default)]
pub(super) struct Spacing {
    last: Last,
    /// Whether a text goes on.
    in_text: bool,
    /// Whether there was any text.
    said: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Text,
    Cards,
}

impl Spacing {
    /// Text comes, and nothing but text is seen. Whether it is a new text after another one.
    pub(super) fn another_text(&mut self) -> bool {
        let new = !std::mem::replace(&mut self.in_text, true);
        std::mem::replace(&mut self.said, true) && new
    }

    /// Text comes among cards. Whether it is a new text right after another one.
    pub(super) fn text_begins(&mut self) -> bool {
        let new = !std::mem::replace(&mut self.in_text, true);
        let after_text = new && self.last == Last::Text;
        if self.last != Last::Cards {
            self.last = Last::Text;
        }
        after_text
    }

    /// Whether the text that comes is the first after cards.
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

    /// Cards come. Whether they are the first after text.
    pub(super) fn cards_begin(&mut self) -> bool {
        self.in_text = false;
        std::mem::replace(&mut self.last, Last::Cards) == Last::Text
    }
}
