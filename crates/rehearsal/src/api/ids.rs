//! Ids in the format of the API that are the same in every run.

/// Generates ids in the format of the API that are the same in every run.
#[derive(Debug)]
pub(super) struct ApiIds {
    seed: u64,
    made: u64,
}

const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

impl ApiIds {
    pub(super) fn new(seed: u64) -> Self {
        ApiIds { seed, made: 0 }
    }

    /// The id of a message.
    pub(super) fn message(&mut self) -> String {
        self.next("msg_01", 22)
    }

    /// The id of a tool call.
    pub(super) fn tool(&mut self) -> String {
        self.next("toolu_01", 22)
    }

    /// The id of a request.
    pub(super) fn request(&mut self) -> String {
        self.next("req_011C", 20)
    }

    /// Signature of a thought: base64 in form only, without cryptographic meaning.
    pub(super) fn signature(&mut self) -> String {
        self.next("Erehearsal", 84) + "=="
    }

    fn next(&mut self, prefix: &str, digits: usize) -> String {
        self.made += 1;
        // Consecutive numbers give completely different digits, so that mixed-up ids are obvious.
        let mut state = mix(self.seed ^ self.made.rotate_left(32));
        let mut id = String::from(prefix);
        for _ in 0..digits {
            state = mix(state);
            let digit = usize::try_from(state % 58).unwrap_or_default();
            id.push(char::from(DIGITS[digit]));
        }
        id
    }
}

/// The step of the generator `SplitMix64`.
fn mix(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_new_each_time_and_the_same_in_each_run() {
        let run = |seed| {
            let mut ids = ApiIds::new(seed);
            (0..1000).map(|_| ids.message()).collect::<Vec<_>>()
        };
        assert_eq!(run(0), run(0));
        let all: HashSet<_> = run(0).into_iter().chain(run(1)).collect();
        assert_eq!(all.len(), 2000);
        assert!(all.iter().all(|id| id.starts_with("msg_01") && id.len() == 28));
    }
}
