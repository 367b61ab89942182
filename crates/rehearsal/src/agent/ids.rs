//! Ids in the format of the CLI and of the API, from a seed.

use std::hash::{BuildHasher, RandomState};

use crate::Chance;

/// Generates ids in the format of the CLI and of the API.
#[derive(Debug, Clone)]
pub struct Ids {
    chance: Chance,
}

impl Ids {
    /// Ids from a seed: the same seed gives the same ids.
    pub fn seeded(seed: u64) -> Self {
        Ids { chance: Chance::new(seed) }
    }

    /// Ids that differ from run to run.
    pub fn random() -> Self {
        // A hasher of the standard library is keyed by the system's randomness.
        Ids { chance: Chance::new(RandomState::new().hash_one("ids")) }
    }

    /// A version 4 UUID.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.chance.number(), self.chance.number());
        let high = (high & 0xffff_ffff_ffff_0fff) | 0x4000;
        let low = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
        let node = low & 0xffff_ffff_ffff;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{node:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48
        )
    }

    /// `msg_01…`
    pub(super) fn message(&mut self) -> String {
        self.letters("msg_01", 22)
    }

    /// `req_011C…`
    pub(super) fn request(&mut self) -> String {
        self.letters("req_011C", 20)
    }

    /// `toolu_01…`
    pub(super) fn tool(&mut self) -> String {
        self.letters("toolu_01", 22)
    }

    /// Id of a background shell task.
    pub(super) fn shell(&mut self) -> String {
        self.letters("b", 8).to_lowercase()
    }

    /// Id of an agent.
    pub(super) fn agent(&mut self) -> String {
        format!("a{:016x}", self.chance.number())
    }

    /// Id of one run of a task.
    pub(super) fn run(&mut self) -> String {
        let number = self.chance.number();
        format!("0m{:07x}-{:08x}", number >> 36, number & 0xffff_ffff)
    }

    fn letters(&mut self, prefix: &str, count: usize) -> String {
        const LETTERS: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
        let mut id = prefix.to_owned();
        for _ in 0..count {
            let at = usize::try_from(self.chance.number() % LETTERS.len() as u64).unwrap_or_default();
            id.push(char::from(LETTERS[at]));
        }
        id
    }
}
