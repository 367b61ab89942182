//! Matching of commands with shapes.

use super::{Operands, Shape, Style};
use crate::permissions::command::{Word, WordKind};

use super::values::Value;

/// Programs whose options are all harmless, so that a shell pattern may match any file name, even one that
/// looks like an option.
const HARMLESS_OPTIONS: &[&str] =
    &["ls", "cat", "head", "tail", "wc", "stat", "grep", "echo", "md5sum", "sha256sum"];

/// The operands of a command, if the shape covers every word.
pub(super) fn operands<'a>(shape: &'a Shape, words: &'a [Word]) -> Option<Vec<&'a str>> {
    let rest = after_call(shape.call, words)?;
    let mut reader =
        Reader { shape, name: &words[0].text, operands: Vec::new(), has_needed: shape.needs.is_empty() };
    reader.read(rest)?;
    (reader.has_needed && operands_match(shape.operands, &reader.operands)).then_some(reader.operands)
}

/// The words behind the program and its subcommands.
fn after_call<'a>(call: &str, words: &'a [Word]) -> Option<&'a [Word]> {
    let mut rest = words;
    for part in call.split_ascii_whitespace() {
        let (first, others) = rest.split_first()?;
        let is_one = |name: &str| match name.strip_suffix('*') {
            Some(prefix) => first.text.starts_with(prefix) && Value::Name.accepts(&first.text),
            None => first.text == name,
        };
        if first.kind != WordKind::Static || !part.split('|').any(is_one) {
            return None;
        }
        rest = others;
    }
    Some(rest)
}

fn operands_match(expected: Operands, operands: &[&str]) -> bool {
    let all = |value: Value, texts: &[&str]| texts.iter().all(|text| value.accepts(text));
    match expected {
        Operands::None => operands.is_empty(),
        Operands::Each(value) => all(value, operands),
        Operands::First(first, others) => match operands.split_first() {
            Some((text, rest)) => first.accepts(text) && all(others, rest),
            None => true,
        },
        Operands::Two(first, second) => match operands {
            [] => true,
            [one] => first.accepts(one),
            [one, two] => first.accepts(one) && second.accepts(two),
            _ => false,
        },
    }
}

struct Reader<'a> {
    shape: &'a Shape,
    name: &'a str,
    operands: Vec<&'a str>,
    has_needed: bool,
}

impl<'a> Reader<'a> {
    /// Checks the options and collects the operands. Returns `None` if an option is unknown.
    fn read(&mut self, words: &'a [Word]) -> Option<()> {
        let mut rest = words;
        while let Some((word, others)) = rest.split_first() {
            rest = others;
            let text = word.text.as_str();
            if self.shape.style == Style::NoOptions || text == "-" || !text.starts_with('-') {
                if !self.may_be_pattern(word) {
                    return None;
                }
                // `find` has operators that are plain words; dynamic words are unknown.
                if !contains(self.shape.flags, text) && word.kind != WordKind::Dynamic {
                    self.operands.push(text);
                }
                continue;
            }
            if text == "--" {
                return self.read_rest(rest);
            }
            let taken = self.option(word, rest.first())?;
            rest = &rest[taken..];
        }
        Some(())
    }

    /// Reads the words after `--`.
    fn read_rest(&mut self, words: &'a [Word]) -> Option<()> {
        if let Some(shape) = self.shape.rest {
            let mut reader = Reader { shape, name: self.name, operands: Vec::new(), has_needed: true };
            reader.read(words)?;
            return operands_match(shape.operands, &reader.operands).then_some(());
        }
        for word in words {
            // Behind `--` no name is interpreted as an option.
            (word.kind != WordKind::Dynamic).then_some(())?;
            self.operands.push(&word.text);
        }
        Some(())
    }

    /// True if a word that the shell may replace by file names can only become operands.
    fn may_be_pattern(&self, word: &Word) -> bool {
        match word.kind {
            WordKind::Static => true,
            WordKind::Glob => {
                HARMLESS_OPTIONS.contains(&self.name) || !word.text.starts_with(['*', '?', '['])
            }
            // Such a command keeps its kind, for warnings. No policy allows it.
            WordKind::Dynamic => HARMLESS_OPTIONS.contains(&self.name),
        }
    }

    /// The number of following words that belong to an option; `None` if the option is unknown.
    fn option(&mut self, word: &Word, next: Option<&Word>) -> Option<usize> {
        let text = word.text.as_str();
        // A pattern behind `=` is passed on as it is, unless a file has this very name.
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if word.kind == WordKind::Dynamic || (word.kind == WordKind::Glob && value.is_none()) {
            return None;
        }
        let is_long = text.starts_with("--");
        let is_name = is_long || self.shape.style != Style::Letters;
        if self.is_flag(text) {
            return Some(0);
        }
        if is_name
            && let Some(value) = value
            && let Some(kind) = self.value_of(name).or_else(|| self.attached_value_of(name))
        {
            return kind.accepts(value).then_some(0);
        }
        if is_name && let Some(kind) = self.value_of(text) {
            return Self::next_value(kind, next);
        }
        if is_long {
            return None;
        }
        self.letters(text.strip_prefix('-')?, next)
    }

    /// Reads a group of short options, the last of which may have a value.
    fn letters(&mut self, letters: &str, next: Option<&Word>) -> Option<usize> {
        if self.shape.style == Style::Words {
            return None;
        }
        if contains(self.shape.flags, "-NUM") && letters.bytes().all(|b| b.is_ascii_digit()) {
            return Some(0);
        }
        for (at, letter) in letters.char_indices() {
            let option = format!("-{letter}");
            let rest = &letters[at + letter.len_utf8()..];
            if let Some(kind) = self.value_of(&option) {
                return match rest {
                    "" => Self::next_value(kind, next),
                    rest => kind.accepts(rest).then_some(0),
                };
            }
            // Compilers do not accept several letters in one word.
            if self.shape.style != Style::Letters || !self.is_flag(&option) {
                return None;
            }
        }
        Some(0)
    }

    fn next_value(kind: Value, next: Option<&Word>) -> Option<usize> {
        if let Value::Count = kind {
            let is_count = |word: &Word| word.kind == WordKind::Static && kind.accepts(&word.text);
            return Some(usize::from(next.is_some_and(is_count)));
        }
        let next = next?;
        (next.kind == WordKind::Static && kind.accepts(&next.text)).then_some(1)
    }

    fn is_flag(&mut self, text: &str) -> bool {
        let is_known = contains(self.shape.flags, text);
        self.has_needed |= is_known && contains(self.shape.needs, text);
        is_known
    }

    fn value_of(&mut self, name: &str) -> Option<Value> {
        let (_, value) = self.shape.values.iter().find(|(names, _)| contains(names, name))?;
        self.has_needed |= contains(self.shape.needs, name);
        Some(*value)
    }

    /// The value of an option that accepts it only behind a `=`.
    fn attached_value_of(&self, name: &str) -> Option<Value> {
        let is_it = |names: &str| {
            names
                .split_ascii_whitespace()
                .any(|known| known.strip_suffix('=').is_some_and(|known| known == name))
        };
        self.shape.values.iter().find(|(names, _)| is_it(names)).map(|(_, value)| *value)
    }
}

fn contains(list: &str, text: &str) -> bool {
    !text.is_empty() && list.split_ascii_whitespace().any(|item| item == text)
}
