//! Pseudo-random numbers that are the same in every run.

/// `SplitMix64`: eight bytes of state, no dependency, good enough to vary text.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// A generator from a seed: the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Any number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        let span = (high - low + 1) as u64;
        low + usize::try_from(self.word() % span).unwrap_or(0)
    }

    /// A random element.
    ///
    /// # Panics
    ///
    /// If the slice is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.between(0, from.len() - 1)]
    }

    /// True with a probability of `share` percent.
    pub fn percent(&mut self, share: usize) -> bool {
        self.between(1, 100) <= share
    }

    /// Log-normal, like the sizes of files and outputs: mostly small, a few huge.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to a small range first"
    )]
    pub fn log_normal(&mut self, mean: f64, deviation: f64, low: usize, high: usize) -> usize {
        let (radius, angle) = (self.unit(), self.unit());
        let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
        let size = (mean + deviation * normal).exp();
        (size.min(1e9) as usize).clamp(low, high)
    }

    /// Above 0, at most 1.
    #[expect(clippy::cast_precision_loss, reason = "32 bits fit a double")]
    fn unit(&mut self) -> f64 {
        ((self.word() >> 32) + 1) as f64 / 4_294_967_296.0
    }
}

/// FNV-1a hash, for checking that two runs read the same bytes.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
