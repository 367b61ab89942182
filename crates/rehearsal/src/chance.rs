//! Pseudo-random numbers that their seed reproduces.

/// Pseudo-random numbers that their seed reproduces (`SplitMix64`), for stand-ins and tests.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Numbers from a seed: the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
}
