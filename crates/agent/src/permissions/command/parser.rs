//! Combines words and operators into simple commands.

use super::lexer::{self, LexedWord, Token};
use super::wrappers::{self, Inner};
use super::{Opaque, Role, Script, SimpleCommand, WordKind};
use crate::limits::{COMMAND_BYTES_MAX, COMMAND_DEPTH_MAX, COMMANDS_MAX};
use crate::permissions::is_hidden;

pub(super) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    if text.len() > COMMAND_BYTES_MAX {
        script.opaque.insert(Opaque::TooLong);
        return script;
    }
    if text.chars().any(is_hidden) {
        script.opaque.insert(Opaque::HiddenCharacter);
    }
    parse_into(&mut script, text, Role::Direct, 0);
    script
}

/// Adds the commands of `text`, which is nested `depth` scripts deep.
fn parse_into(script: &mut Script, text: &str, role: Role, depth: usize) {
    if depth >= COMMAND_DEPTH_MAX || script.commands.len() >= COMMANDS_MAX {
        script.opaque.insert(Opaque::TooMany);
        return;
    }
    let lexed = lexer::lex(text);
    script.opaque.extend(lexed.opaque);
    Parser { script, role, depth, building: Building::default(), open: Vec::new(), joined: false }
        .run(lexed.tokens);
    for inner in lexed.nested {
        parse_into(script, &inner, Role::Inner, depth + 1);
    }
}

struct Parser<'a> {
    script: &'a mut Script,
    role: Role,
    depth: usize,
    building: Building,
    /// The open groups: `(` or `{`.
    open: Vec<char>,
    /// True if `&&`, `||` or `|` must be followed by a command.
    joined: bool,
}

/// The command that is being parsed.
#[derive(Default)]
struct Building {
    command: SimpleCommand,
    /// True if a group ended here; only redirections may follow it.
    after_group: bool,
}

impl Building {
    fn is_empty(&self) -> bool {
        self.command == SimpleCommand::default() && !self.after_group
    }
}

impl Parser<'_> {
    fn run(mut self, tokens: Vec<Token>) {
        for token in tokens {
            match token {
                Token::Word(lexed) => self.word(lexed),
                Token::Redirect(redirect) => self.building.command.redirects.push(redirect),
                Token::End => self.finish(),
                Token::Join => {
                    if self.building.is_empty() {
                        self.opaque(Opaque::Syntax);
                    }
                    self.finish();
                    self.joined = true;
                }
                Token::Open => {
                    if !self.building.is_empty() {
                        self.opaque(Opaque::Syntax);
                        self.finish();
                    }
                    self.joined = false;
                    self.open.push('(');
                }
                Token::Close => {
                    self.finish();
                    if self.open.pop() != Some('(') {
                        self.opaque(Opaque::Syntax);
                    }
                    self.building.after_group = true;
                }
            }
        }
        self.finish();
        if self.joined || !self.open.is_empty() {
            self.opaque(Opaque::Syntax);
        }
    }

    fn word(&mut self, lexed: LexedWord) {
        if self.building.after_group {
            self.opaque(Opaque::Syntax);
        }
        let command = &mut self.building.command;
        if command.words.is_empty() {
            if command.assignments.is_empty() && command.redirects.is_empty() && self.reserved(&lexed) {
                return;
            }
            if lexed.assigns {
                self.building.command.assignments.push(lexed.word.text);
                return;
            }
        }
        self.building.command.words.push(lexed.word);
    }

    /// Handles a word of the grammar; true if the word is one.
    fn reserved(&mut self, lexed: &LexedWord) -> bool {
        if lexed.quoted || lexed.word.kind != WordKind::Static {
            // The lexer treats `[[` as a pattern.
            if !lexed.quoted && lexed.word.text == "[[" {
                self.opaque(Opaque::ControlFlow);
            }
            return false;
        }
        match lexed.word.text.as_str() {
            "!" => {}
            "{" => {
                self.joined = false;
                self.open.push('{');
            }
            "}" => {
                if self.open.pop() != Some('{') {
                    self.opaque(Opaque::Syntax);
                }
                self.building.after_group = true;
            }
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "for"
            | "foreach" | "case" | "esac" | "select" | "function" | "coproc" | "repeat" | "always"
            | "end" | "nocorrect" | "noglob" => {
                self.opaque(Opaque::ControlFlow);
            }
            _ => return false,
        }
        true
    }

    /// Ends the command that is being parsed.
    fn finish(&mut self) {
        let building = std::mem::take(&mut self.building);
        if building.is_empty() {
            return;
        }
        self.joined = false;
        if building.command == SimpleCommand::default() {
            return;
        }
        let mut command = building.command;
        command.role = self.role;
        self.add(command, 0);
    }

    /// Adds a command, followed by the commands that it runs.
    fn add(&mut self, mut command: SimpleCommand, wrapped: usize) {
        if self.script.commands.len() >= COMMANDS_MAX || wrapped >= COMMAND_DEPTH_MAX {
            self.opaque(Opaque::TooMany);
            return;
        }
        if let Some(name) = command.words.first()
            && !is_plain_name(&name.text, name.kind)
        {
            self.opaque(Opaque::OddName);
        }
        let runs = wrappers::inner_commands(&command);
        self.script.opaque.extend(runs.opaque);
        if !runs.inner.is_empty() {
            command.role = if command.role == Role::Inner { Role::Inner } else { Role::Wrapper };
        }
        self.script.commands.push(command);
        for inner in runs.inner {
            match inner {
                Inner::Command(words) => {
                    let command = SimpleCommand { words, role: Role::Inner, ..SimpleCommand::default() };
                    self.add(command, wrapped + 1);
                }
                Inner::Script(text) => parse_into(self.script, &text, Role::Inner, self.depth + wrapped + 1),
            }
        }
    }

    fn opaque(&mut self, why: Opaque) {
        self.script.opaque.insert(why);
    }
}

/// True if a command's name is a plain one.
fn is_plain_name(text: &str, kind: WordKind) -> bool {
    if text == "[" {
        return true;
    }
    kind == WordKind::Static
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/+-~@%:".contains(&b))
}
