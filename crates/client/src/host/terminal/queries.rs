//! Questions of a program to its terminal. Every terminal that looks at it would answer them, so the host
//! answers with one fixed set, and removes them from the output.

use crate::limits::TERMINAL_SEQUENCE_BYTES_MAX;

/// A part of the program's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Output for the viewers.
    Output(Vec<u8>),
    /// A question, with its answer.
    Query(Reply),
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// These bytes.
    Fixed(Vec<u8>),
    /// The position of the cursor.
    CursorPosition,
    /// None: the program takes silence for "not supported".
    None,
}

/// Splits output into pieces. An incomplete sequence waits for its end.
#[derive(Debug, Default)]
pub(super) struct QueryFilter {
    /// The sequence that has begun, from its ESC on.
    sequence: Vec<u8>,
    /// True inside a string that was too long to wait for; it is passed on as it comes.
    is_long: bool,
}

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

impl QueryFilter {
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut output = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.step(*byte, &mut output, &mut pieces);
        }
        if !output.is_empty() {
            pieces.push(Piece::Output(output));
        }
        pieces
    }

    fn step(&mut self, byte: u8, output: &mut Vec<u8>, pieces: &mut Vec<Piece>) {
        // CAN and SUB cancel a sequence; ESC inside of one that is no string begins another.
        let is_cancelled = matches!(byte, 0x18 | 0x1a) || (byte == ESC && !self.is_string());
        if self.sequence.is_empty() || is_cancelled {
            if !self.sequence.is_empty() {
                output.extend(self.take_rest());
            }
            let to = if byte == ESC { &mut self.sequence } else { output };
            to.push(byte);
            return;
        }
        self.sequence.push(byte);
        if self.is_complete() {
            match reply(&self.sequence).filter(|_| !self.is_long) {
                Some(reply) => {
                    if !output.is_empty() {
                        pieces.push(Piece::Output(std::mem::take(output)));
                    }
                    pieces.push(Piece::Query(reply));
                    self.sequence.clear();
                }
                None => output.extend(self.take_rest()),
            }
        } else if self.sequence.len() > TERMINAL_SEQUENCE_BYTES_MAX && byte != ESC {
            // Long strings are no questions. The beginning stays, since it tells where the end is.
            let begin = self.sequence[..2].to_vec();
            output.extend(self.take_rest());
            (self.sequence, self.is_long) = (begin, true);
        }
    }

    /// Ends the sequence; returns the part of it that was not passed on yet.
    fn take_rest(&mut self) -> Vec<u8> {
        let sequence = std::mem::take(&mut self.sequence);
        let passed_on = if std::mem::take(&mut self.is_long) { 2 } else { 0 };
        sequence[passed_on..].to_vec()
    }

    fn is_string(&self) -> bool {
        matches!(self.sequence.get(1), Some(b']' | b'P' | b'X' | b'^' | b'_'))
    }

    fn is_complete(&self) -> bool {
        let (Some(second), Some(last)) = (self.sequence.get(1), self.sequence.last()) else { return false };
        match second {
            b']' if *last == BEL => true,
            _ if self.is_string() => self.sequence.len() > 3 && self.sequence.ends_with(b"\x1b\\"),
            b'[' => self.sequence.len() > 2 && (0x40..=0x7e).contains(last),
            _ => !(0x20..=0x2f).contains(last),
        }
    }
}

/// The reply to a sequence, if it is a question.
fn reply(sequence: &[u8]) -> Option<Reply> {
    let fixed = |text: &str| Some(Reply::Fixed(text.as_bytes().to_vec()));
    match sequence {
        [ESC, b'[', middle @ .., b'c'] => match middle {
            b"" | b"0" => fixed("\x1b[?62;22c"),
            b">" | b">0" => fixed("\x1b[>0;0;0c"),
            _ => Some(Reply::None),
        },
        [ESC, b'[', middle @ .., b'n'] => match middle {
            b"5" => fixed("\x1b[0n"),
            b"6" => Some(Reply::CursorPosition),
            _ => Some(Reply::None),
        },
        // Is this mode known? It is not.
        [ESC, b'[', b'?', mode @ .., b'$', b'p'] if mode.iter().all(u8::is_ascii_digit) => {
            fixed(&format!("\x1b[?{};0$y", String::from_utf8_lossy(mode)))
        }
        [ESC, b'[', b'>', .., b'q']
        | [ESC, b'[', b'?', .., b'u']
        | [ESC, b'[', .., b'$', b'p']
        | [ESC, b'P', b'+' | b'$', b'q', ..] => Some(Reply::None),
        [ESC, b'[', size @ .., b't'] => {
            let asks = matches!(size, b"11" | b"13" | b"14" | b"15" | b"16" | b"18" | b"19" | b"20" | b"21");
            (asks || size.starts_with(b"14;")).then_some(Reply::None)
        }
        // Colours, the clipboard and the like, and settings of the terminal.
        [ESC, b']', text @ ..] => {
            let text = text.strip_suffix(b"\x07").or_else(|| text.strip_suffix(b"\x1b\\")).unwrap_or(text);
            let is_title =
                matches!(text.split(|byte| *byte == b';').next(), Some(b"0" | b"1" | b"2" | b"8" | b"9"));
            let asks = text.ends_with(b";?") && !is_title || text.starts_with(b"7501");
            asks.then_some(Reply::None)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> (Vec<u8>, Vec<Reply>) {
        let mut filter = QueryFilter::default();
        let (mut output, mut replies) = (Vec::new(), Vec::new());
        for piece in chunks.iter().flat_map(|chunk| filter.feed(chunk)) {
            match piece {
                Piece::Output(bytes) => output.extend(bytes),
                Piece::Query(reply) => replies.push(reply),
            }
        }
        (output, replies)
    }

    #[test]
    fn questions_are_removed_wherever_the_output_is_cut() {
        let bytes = "a\x1b[cb\x1b[6n\x1b[31mrot\x1b[0m\x1b[>0q\x1b[?u\x1b]11;?\x07\x1b]0;Titel?\x07\x1b[?2026$p\x1b]7501;x\x1b\\ä"
            .as_bytes();
        let expected = "ab\x1b[31mrot\x1b[0m\x1b]0;Titel?\x07ä".as_bytes();
        for cut in 0..=bytes.len() {
            let (output, replies) = split(&[&bytes[..cut], &bytes[cut..]]);
            assert_eq!(output, expected, "{cut}");
            let answered: Vec<_> = replies.iter().filter(|reply| **reply != Reply::None).collect();
            let fixed = |text: &str| Reply::Fixed(text.as_bytes().to_vec());
            assert_eq!(answered, [&fixed("\x1b[?62;22c"), &Reply::CursorPosition, &fixed("\x1b[?2026;0$y")]);
            assert_eq!(replies.len(), 7, "{cut}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let long = [b"\x1b]52;c;".to_vec(), vec![b'x'; 3 * TERMINAL_SEQUENCE_BYTES_MAX], b"\x07end".to_vec()]
            .concat();
        let to_the_edge = TERMINAL_SEQUENCE_BYTES_MAX - 2;
        let edge = [b"\x1b]".to_vec(), vec![b'x'; to_the_edge], b"\x1b\\end\x1b[31m".to_vec()].concat();
        let cases: [&[u8]; 8] = [
            b"\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l",
            b"\x1b(B\x1b7\x1b8\x1b=",
            b"\x1b]8;;http://example.com?\x07link\x1b]8;;\x07",
            b"\x1b[8;24;80t\x1b[22;0t",
            b"\x1b[3\x1b[4m\x1b[\x18x",
            "Zeichen ❯ ─ 🦀".as_bytes(),
            &long,
            &edge,
        ];
        for case in cases {
            let name = String::from_utf8_lossy(&case[..case.len().min(40)]);
            assert!(split(&[case]) == (case.to_vec(), Vec::new()), "{name}");
            let bytes: Vec<&[u8]> = case.chunks(1).collect();
            assert!(split(&bytes) == (case.to_vec(), Vec::new()), "{name}, byte by byte");
        }
    }
}
