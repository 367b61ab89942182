//! Counts with singular and plural nouns.

/// A number with its noun: `1 agent`, `2 agents`.
pub fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
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
