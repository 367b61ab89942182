//! Text for frames: answers of a model and output of tools.

use crate::random::Random;

const PROSE: &str = include_str!("../text/prose.txt");
const CODE: &str = include_str!("../text/code.txt");

/// Source of varied text.
pub(crate) struct Source {
    prose: Vec<&'static str>,
    code: Vec<&'static str>,
    lines: Vec<String>,
}

impl Source {
    pub(crate) fn new() -> Self {
        Source {
            prose: PROSE.split(' ').collect(),
            code: CODE.split(' ').collect(),
            // The file has a symbol in place of the escape character, so that it can be printed safely.
            lines: CODE.lines().map(|line| line.replace('␛', "\u{1b}")).collect(),
        }
    }

    /// Fingerprint of the text that a corpus was made from.
    pub(crate) fn fingerprint() -> u64 {
        crate::random::fingerprint(PROSE.as_bytes()) ^ crate::random::fingerprint(CODE.as_bytes())
    }

    /// A few words, like the text of one delta; a quarter of them from programs.
    pub(crate) fn tokens(&self, random: &mut Random) -> String {
        let words = if random.percent(25) { &self.code } else { &self.prose };
        let count = *random.pick(&[1, 1, 1, 2, 3]);
        let start = random.between(0, words.len() - count);
        let mut text = words[start..start + count].join(" ");
        text.push(' ');
        text
    }

    /// Program text and logs of about `bytes` bytes, in contiguous runs of lines.
    pub(crate) fn code(&self, random: &mut Random, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 200);
        while text.len() < bytes {
            let start = random.between(0, self.lines.len() - 1);
            let end = (start + random.between(3, 25)).min(self.lines.len());
            for line in &self.lines[start..end] {
                text.push_str(line);
                text.push('\n');
            }
        }
        cut(&mut text, bytes);
        text
    }
}

/// Truncates at a character boundary.
fn cut(text: &mut String, mut bytes: usize) {
    while !text.is_char_boundary(bytes) {
        bytes -= 1;
    }
    text.truncate(bytes);
}
