//! Selection of the turn that answers a request: the rule shared by both stand-ins.

pub use crate::script::Request;
use crate::script::{Script, Turn, When};

/// Plays the turns of a script.
#[derive(Debug)]
pub struct Player {
    turns: Vec<(Turn, usize)>,
    requests: usize,
}

impl Player {
    /// A player at the beginning of a script.
    pub fn new(script: &Script) -> Self {
        Player { turns: script.turns.iter().map(|turn| (turn.clone(), 0)).collect(), requests: 0 }
    }

    /// The turn that answers `request`, with its index in the script; `None` when the script is exhausted.
    ///
    /// Turns with a matching `when` come before those without one.
    pub fn next(&mut self, request: &mut Request) -> Option<(usize, Turn)> {
        self.requests += 1;
        request.number = self.requests;
        let open = |(turn, used): &(Turn, usize)| *used == 0 || turn.repeat;
        let meant = |(turn, _): &(Turn, usize)| turn.when.as_ref().map(|when: &When| when.matches(request));
        let found = self
            .turns
            .iter()
            .position(|entry| open(entry) && meant(entry) == Some(true))
            .or_else(|| self.turns.iter().position(|entry| open(entry) && entry.0.when.is_none()))?;
        self.turns[found].1 += 1;
        Some((found, self.turns[found].0.clone()))
    }

    /// Indices of mandatory turns that were never used.
    pub fn unused(&self) -> Vec<usize> {
        let unused = self.turns.iter().enumerate().filter(|(_, (turn, used))| *used == 0 && !turn.optional);
        unused.map(|(index, _)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> Script {
        Script::parse(
            r#"
[[turn]]
text = "first"
[[turn]]
when = { contains = "SUBTASK", lacks = "done" }
text = "sub"
[[turn]]
text = "second"
[[turn]]
when = { last_contains = "again" }
repeat = true
optional = true
text = "again"
"#,
        )
        .unwrap()
    }

    fn ask(player: &mut Player, texts: &[&str]) -> Option<String> {
        let mut request = Request {
            texts: texts.iter().map(ToString::to_string).collect(),
            last: texts.last().unwrap_or(&"").to_string(),
            ..Request::default()
        };
        player.next(&mut request).and_then(|(_, turn)| turn.text)
    }

    #[test]
    fn turns_are_taken_in_order_unless_one_is_meant_for_the_request() {
        let mut player = Player::new(&script());
        assert_eq!(ask(&mut player, &["hello"]).as_deref(), Some("first"));
        assert_eq!(ask(&mut player, &["do SUBTASK 1"]).as_deref(), Some("sub"));
        assert_eq!(ask(&mut player, &["once again"]).as_deref(), Some("again"));
        assert_eq!(ask(&mut player, &["and again"]).as_deref(), Some("again"));
        assert_eq!(player.unused(), [2]);
        assert_eq!(ask(&mut player, &["do SUBTASK 2"]).as_deref(), Some("second"));
        assert_eq!(ask(&mut player, &["x"]), None);
        assert_eq!(player.unused(), [0; 0]);
    }
}
