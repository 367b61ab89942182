//! Splits a command line into words and operators.

use std::collections::BTreeSet;

use super::quoting::substitutions;
use super::{Opaque, Redirect, RedirectKind, Word, WordKind};

/// A token of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(LexedWord),
    Redirect(Redirect),
    /// `;`, `&` or the end of a line.
    End,
    /// `&&`, `||`, `|` or `|&`: another command must follow.
    Join,
    Open,
    Close,
}

/// A word, with details for the parser.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LexedWord {
    pub(super) word: Word,
    /// True if any part of it was quoted; then it is not a reserved word.
    pub(super) quoted: bool,
    /// True if it sets a variable when it precedes a command.
    pub(super) assigns: bool,
}

/// The tokens of a command line.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    pub(super) opaque: BTreeSet<Opaque>,
    /// The commands inside of substitutions, which are parsed as well.
    pub(super) nested: Vec<String>,
}

pub(super) fn lex(text: &str) -> Lexed {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, out: Lexed::default(), heredocs: Vec::new() };
    lexer.run();
    lexer.out
}

pub(super) struct Lexer<'a> {
    pub(super) chars: &'a [char],
    pub(super) at: usize,
    pub(super) out: Lexed,
    /// Here-documents whose text begins after the end of this line.
    heredocs: Vec<HereDoc>,
}

struct HereDoc {
    /// The token that gets the text.
    token: usize,
    end: String,
    quoted: bool,
    strip_tabs: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' => {
                    self.at += 1;
                    self.out.tokens.push(Token::End);
                    self.heredoc_bodies();
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => self.token(c),
            }
        }
        if !self.heredocs.is_empty() {
            self.opaque(Opaque::Syntax);
        }
    }

    fn token(&mut self, c: char) {
        match (c, self.peek(1)) {
            (';', Some(';' | '&' | '|')) => {
                self.opaque(Opaque::ControlFlow);
                self.push(Token::End, 2);
            }
            ('&', Some('&')) | ('|', Some('|' | '&')) => self.push(Token::Join, 2),
            ('&', Some('>')) => {
                let (kind, length) = match self.peek(2) {
                    Some('>') => (RedirectKind::Append, 3),
                    _ => (RedirectKind::Write, 2),
                };
                self.at += length;
                self.redirect_to(kind);
            }
            (';' | '&', _) => self.push(Token::End, 1),
            ('|', _) => self.push(Token::Join, 1),
            ('(', _) => {
                if self.peek(1) == Some('(') {
                    // Arithmetic or nested groups, which look alike.
                    self.opaque(Opaque::Expansion);
                }
                self.push(Token::Open, 1);
            }
            (')', _) => self.push(Token::Close, 1),
            ('<' | '>', _) => self.redirect(),
            _ => self.word_or_descriptor(),
        }
    }

    fn word_or_descriptor(&mut self) {
        let lexed = self.word();
        if matches!(self.peek(0), Some('<' | '>')) {
            if !lexed.quoted
                && !lexed.word.text.is_empty()
                && lexed.word.text.bytes().all(|b| b.is_ascii_digit())
            {
                return self.redirect();
            }
            if lexed.word.text.ends_with('}') {
                // `{name}>file` opens a descriptor and sets a variable.
                self.opaque(Opaque::Syntax);
            }
        }
        if self.peek(0) == Some('(') {
            // A function, an array, or a zsh pattern that may run code.
            self.opaque(Opaque::Syntax);
        }
        self.out.tokens.push(Token::Word(lexed));
    }

    fn redirect(&mut self) {
        let next = (self.peek(0), self.peek(1), self.peek(2));
        let (kind, length) = match next {
            (Some('<' | '>'), Some('('), _) => {
                self.at += 2;
                self.substitution();
                let word = Word { text: String::new(), kind: WordKind::Dynamic };
                return self.out.tokens.push(Token::Word(LexedWord { word, ..LexedWord::default() }));
            }
            (Some('<'), Some('<'), Some('<')) => (RedirectKind::Text, 3),
            (Some('<'), Some('<'), Some('-')) => return self.heredoc(3),
            (Some('<'), Some('<'), _) => return self.heredoc(2),
            (Some('<' | '>'), Some('&'), _) => (RedirectKind::Duplicate, 2),
            (Some('<'), Some('>'), _) | (Some('>'), Some('|' | '!'), _) => (RedirectKind::Write, 2),
            (Some('>'), Some('>'), Some('|' | '!' | '&')) => {
                // zsh syntax.
                self.opaque(Opaque::Syntax);
                (RedirectKind::Append, 3)
            }
            (Some('>'), Some('>'), _) => (RedirectKind::Append, 2),
            (Some('<'), _, _) => (RedirectKind::Read, 1),
            _ => (RedirectKind::Write, 1),
        };
        self.at += length;
        self.redirect_to(kind);
    }

    fn redirect_to(&mut self, kind: RedirectKind) {
        let Some(lexed) = self.target() else {
            return;
        };
        let is_descriptor = |text: &str| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            !text.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        };
        // `>& file` writes both streams to a file.
        let kind = match kind {
            RedirectKind::Duplicate if !is_descriptor(&lexed.word.text) => RedirectKind::Write,
            kind => kind,
        };
        if lexed.word.kind == WordKind::Glob {
            self.opaque(Opaque::Expansion);
        }
        self.out.tokens.push(Token::Redirect(Redirect { kind, target: lexed.word }));
    }

    /// The word after a redirection.
    fn target(&mut self) -> Option<LexedWord> {
        loop {
            match self.peek(0) {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek(1) == Some('\n') => self.at += 2,
                None | Some('\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>') => {
                    self.opaque(Opaque::Syntax);
                    return None;
                }
                Some(_) => break,
            }
        }
        let lexed = self.word();
        if self.peek(0) == Some('(') {
            self.opaque(Opaque::Syntax);
        }
        Some(lexed)
    }

    fn heredoc(&mut self, length: usize) {
        self.at += length;
        let Some(lexed) = self.target() else {
            return;
        };
        if lexed.word.kind != WordKind::Static {
            self.opaque(Opaque::Syntax);
        }
        let redirect = Redirect { kind: RedirectKind::Text, target: Word::default() };
        let token = self.out.tokens.len();
        self.out.tokens.push(Token::Redirect(redirect));
        let end = lexed.word.text;
        self.heredocs.push(HereDoc { token, end, quoted: lexed.quoted, strip_tabs: length == 3 });
    }

    /// Reads the texts of the here-documents that began on this line.
    fn heredoc_bodies(&mut self) {
        for doc in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            let mut ended = false;
            while self.at < self.chars.len() {
                let rest = &self.chars[self.at..];
                let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at += (length + 1).min(rest.len());
                let line = if doc.strip_tabs { line.trim_start_matches('\t') } else { &line };
                if line == doc.end {
                    ended = true;
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            if !ended {
                self.opaque(Opaque::Syntax);
            }
            // If the end word is not quoted, the text is expanded, and a backslash may even hide the end.
            let kind = if !doc.quoted && body.contains(['$', '`', '\\']) {
                self.opaque(if body.contains(['$', '`']) { Opaque::Substitution } else { Opaque::Syntax });
                self.out.nested.extend(substitutions(&body));
                WordKind::Dynamic
            } else {
                WordKind::Static
            };
            if let Some(Token::Redirect(redirect)) = self.out.tokens.get_mut(doc.token) {
                redirect.target = Word { text: body, kind };
            }
        }
    }

    fn push(&mut self, token: Token, length: usize) {
        self.at += length;
        self.out.tokens.push(token);
    }

    pub(super) fn opaque(&mut self, why: Opaque) {
        self.out.opaque.insert(why);
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }
}
