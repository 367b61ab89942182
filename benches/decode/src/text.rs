//! Text to put into frames: what a model says and what tools print.

use crate::random::Random;

const PROSE: &str = include_str!("../text/prose.txt");
const CODE: &str = include_str!("../text/code.txt");

/// Where varied text comes from.
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
            // The file shows the escape character as a picture, so that a terminal stays calm.
            lines: CODE.lines().map(|line| line.replace('␛', "\u{1b}")).collect(),
        }
    }

    /// What says whether two corpora were made from the same text.
    pub(crate) fn fingerprint() -> u64 {
        crate::random::fingerprint(PROSE.as_bytes()) ^ crate::random::fingerprint(CODE.as_bytes())
    }

    /// A few words, as one delta carries them; a quarter of them from programs.
    pub(crate) fn tokens(&self, random: &mut Random) -> String {
        let words = if random.percent(25) { &self.code } else { &self.prose };
        let count = *random.pick(&[1, 1, 1, 2, 3]);
        let start = random.between(0, words.len() - count);
        let mut text = words[start..start + count].join(" ");
        text.push(' ');
        text
    }

    /// Program text and logs of about `bytes` bytes, in runs of lines that belong together.
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

/// Cuts at the last whole character.
fn cut(text: &mut String, mut bytes: usize) {
    while !text.is_char_boundary(bytes) {
        bytes -= 1;
    }
    text.truncate(bytes);
}
