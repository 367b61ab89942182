//! Words: quotes, escapes and expansions.

use super::lexer::{LexedWord, Lexer};
use super::{Opaque, Word, WordKind};

impl Lexer<'_> {
    /// Reads a word up to the next blank or operator.
    pub(super) fn word(&mut self) -> LexedWord {
        let mut lexed = LexedWord::default();
        let (mut brace, mut list) = (false, false);
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => match self.peek(1) {
                    Some('\n') => {
                        self.at += 2;
                        continue;
                    }
                    Some(next) => {
                        self.at += 1;
                        lexed.quoted = true;
                        lexed.word.text.push(next);
                    }
                    None => self.opaque(Opaque::Syntax),
                },
                '\'' => self.single_quotes(&mut lexed),
                '"' => self.double_quotes(&mut lexed),
                '`' => self.backticks(&mut lexed.word),
                '$' => self.dollar(&mut lexed, Quotes::None),
                '*' | '?' | '[' => {
                    lexed.word.kind = lexed.word.kind.max(WordKind::Glob);
                    lexed.word.text.push(c);
                }
                '=' => {
                    lexed.assigns |= !lexed.quoted && is_variable(&lexed.word.text);
                    // zsh replaces `=program` by the path of the program.
                    if lexed.word.text.is_empty()
                        && !lexed.quoted
                        && self.peek(1).is_some_and(char::is_alphanumeric)
                    {
                        self.opaque(Opaque::Expansion);
                    }
                    lexed.word.text.push(c);
                }
                c => {
                    brace |= c == '{';
                    list |= brace && (c == ',' || (c == '.' && self.peek(1) == Some('.')));
                    lexed.word.text.push(c);
                }
            }
            self.at += 1;
        }
        if list {
            self.opaque(Opaque::Expansion);
            lexed.word.kind = WordKind::Dynamic;
        }
        lexed
    }

    /// Reads from the opening quote, and leaves the position on the closing one.
    fn single_quotes(&mut self, lexed: &mut LexedWord) {
        lexed.quoted = true;
        self.at += 1;
        while let Some(c) = self.peek(0) {
            if c == '\'' {
                return;
            }
            lexed.word.text.push(c);
            self.at += 1;
        }
        self.opaque(Opaque::Syntax);
    }

    /// Reads from the opening double quote, and leaves the position on the closing one.
    fn double_quotes(&mut self, lexed: &mut LexedWord) {
        lexed.quoted = true;
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('"', _) => return,
                ('\\', Some('\n')) => self.at += 1,
                ('\\', Some(next @ ('$' | '`' | '"' | '\\'))) => {
                    lexed.word.text.push(next);
                    self.at += 1;
                }
                ('`', _) => self.backticks(&mut lexed.word),
                ('$', _) => self.dollar(lexed, Quotes::Double),
                (c, _) => lexed.word.text.push(c),
            }
            self.at += 1;
        }
        self.opaque(Opaque::Syntax);
    }

    /// Reads from the first backtick, and leaves the position on the last one.
    fn backticks(&mut self, word: &mut Word) {
        self.opaque(Opaque::Substitution);
        word.kind = WordKind::Dynamic;
        let mut inner = String::new();
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match c {
                '`' => break,
                '\\' => {
                    self.at += 1;
                    inner.extend(self.peek(0));
                }
                c => inner.push(c),
            }
            self.at += 1;
        }
        self.out.nested.push(inner);
    }

    /// Reads from the `$`, and leaves the position on the last character that belongs to it.
    fn dollar(&mut self, lexed: &mut LexedWord, quotes: Quotes) {
        let ends = |c: char| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | '<' | '>');
        match self.peek(1) {
            None => return lexed.word.text.push('$'),
            Some(c) if ends(c) || (c == '"' && quotes == Quotes::Double) => return lexed.word.text.push('$'),
            // These are numbers. `$!` is empty before a background job runs, and then the word does not
            // exist.
            Some(c @ ('?' | '#' | '$')) if self.peek(2).is_none_or(|c| !c.is_alphanumeric()) => {
                self.at += 1;
                lexed.word.text.extend(['$', c]);
                return;
            }
            Some('(') => {
                self.at += 2;
                self.substitution();
                self.at = self.at.saturating_sub(1);
            }
            Some('{') => self.braces(),
            Some('\'') if quotes == Quotes::None => {
                self.opaque(Opaque::Expansion);
                self.at += 2;
                while self.peek(0).is_some_and(|c| c != '\'') {
                    self.at += if self.peek(0) == Some('\\') { 2 } else { 1 };
                }
            }
            Some(c) if c.is_alphanumeric() || c == '_' => {
                self.opaque(Opaque::Expansion);
                while self.peek(1).is_some_and(|c| c.is_alphanumeric() || c == '_') {
                    self.at += 1;
                }
            }
            Some(_) => self.opaque(Opaque::Expansion),
        }
        lexed.word.kind = WordKind::Dynamic;
    }

    /// Reads from the `$` of `${…}`, and leaves the position on the closing brace.
    fn braces(&mut self) {
        self.opaque(Opaque::Expansion);
        let mut depth = 0_usize;
        while let Some(c) = self.peek(0) {
            match c {
                '{' => depth += 1,
                '}' if depth <= 1 => return,
                '}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Reads from behind the opening parenthesis, and leaves the position behind the closing one.
    ///
    /// The script is opaque from here on, so a misread quote inside is harmless.
    pub(super) fn substitution(&mut self) {
        self.opaque(Opaque::Substitution);
        let inner = balanced(&self.chars[self.at.min(self.chars.len())..]);
        self.at = (self.at + inner.len() + 1).min(self.chars.len());
        self.out.nested.push(inner.iter().collect());
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

/// The text before the closing parenthesis, with inner parentheses balanced.
fn balanced(chars: &[char]) -> &[char] {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in chars.iter().enumerate() {
        match (quote, c) {
            (None, '(') => depth += 1,
            (None, ')') if depth == 0 => return &chars[..at],
            (None, ')') => depth -= 1,
            (None, '\'' | '"') => quote = Some(*c),
            (Some(open), c) if open == *c => quote = None,
            _ => {}
        }
    }
    chars
}

/// The commands in the substitutions of a text.
pub(super) fn substitutions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    // A few are enough for warnings, and each one scans the rest of the text.
    while let Some(at) = rest.find("$(").filter(|_| found.len() < 16) {
        let inner: Vec<char> = rest[at + 2..].chars().collect();
        found.push(balanced(&inner).iter().collect());
        rest = &rest[at + 2..];
    }
    let mut parts = text.split('`').skip(1);
    while let (Some(inner), true, _) = (parts.next(), found.len() < 32, parts.next()) {
        found.push(inner.to_owned());
    }
    found
}

/// True if a text can precede the `=` of an assignment.
fn is_variable(text: &str) -> bool {
    let name = text.strip_suffix('+').unwrap_or(text);
    let name = name.split('[').next().unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
