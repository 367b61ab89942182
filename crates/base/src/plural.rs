//! Counts with singular and plural nouns.

/// A number with its noun: `1 agent`, `2 agents`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{number} {}", noun_of(number, noun))
}

/// The noun of a number: `agent` of 1, `agents` of any other.
pub fn noun_of(number: u64, noun: &str) -> String {
    if number == 1 { noun.to_owned() } else { format!("{noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        let table = [(0, "0 agents"), (1, "1 agent"), (2, "2 agents"), (11, "11 agents")];
        for (number, expected) in table {
            assert_eq!(counted(number, "agent"), expected);
        }
    }
}
