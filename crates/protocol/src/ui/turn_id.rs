//! Ids of the turns of a conversation.

use std::cmp::Ordering;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Id of a turn of a session: its side and its number.
///
/// Each side counts its own turns, from one.
/// The order is that of a conversation: `u1`, `a1`, `u2`, `a2`.
///
/// It is written as `{"role":"User","sequence":1}`.
/// Also read: `{"owner":"u","number":1}` and `"u1"`, which related programs write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TurnId {
    /// Side that the turn belongs to.
    pub role: Role,
    /// Number of the turn on its side, from one.
    pub sequence: u64,
}

// Closed on purpose: a conversation has two sides.
/// A side of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Assistant,
}

/// Error for text that is not a [`TurnId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseTurnIdError(());

impl TurnId {
    /// A turn of the user.
    ///
    /// ```
    /// use tidings_protocol::ui::TurnId;
    ///
    /// let turn = TurnId::new_user_turn(1);
    /// assert_eq!(turn.to_string(), "u1");
    /// assert_eq!("u1".parse(), Ok(turn));
    /// assert!(turn < TurnId::new_assistant_turn(1));
    /// ```
    pub const fn new_user_turn(sequence: u64) -> Self {
        Self { role: Role::User, sequence }
    }

    /// A turn of the agent.
    pub const fn new_assistant_turn(sequence: u64) -> Self {
        Self { role: Role::Assistant, sequence }
    }
}

impl Ord for TurnId {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.sequence, self.role).cmp(&(other.sequence, other.role))
    }
}

impl PartialOrd for TurnId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match self.role {
            Role::User => 'u',
            Role::Assistant => 'a',
        };
        write!(f, "{owner}{}", self.sequence)
    }
}

impl FromStr for TurnId {
    type Err = ParseTurnIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (owner, number) = text.split_at_checked(1).ok_or(ParseTurnIdError(()))?;
        // The integer parser of std would also take `+1`.
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseTurnIdError(()));
        }
        Ok(Self {
            role: role_of(owner).ok_or(ParseTurnIdError(()))?,
            sequence: number.parse().map_err(|_| ParseTurnIdError(()))?,
        })
    }
}

impl fmt::Display for ParseTurnIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a turn id is `u` or `a` and a number, such as `u1`")
    }
}

impl Error for ParseTurnIdError {}

impl<'de> Deserialize<'de> for TurnId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TurnIdVisitor)
    }
}

struct TurnIdVisitor;

impl<'de> Visitor<'de> for TurnIdVisitor {
    type Value = TurnId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a turn id: an object with `role` and `sequence`, or text such as `u1`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TurnId, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TurnId, A::Error> {
        let mut role = None;
        let mut sequence = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "role" => fill(&mut role, map.next_value()?, "role")?,
                "owner" => fill(&mut role, map.next_value::<Owner>()?.0, "owner")?,
                "sequence" => fill(&mut sequence, map.next_value()?, "sequence")?,
                "number" => fill(&mut sequence, map.next_value()?, "number")?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(TurnId {
            role: role.ok_or_else(|| de::Error::missing_field("role"))?,
            sequence: sequence.ok_or_else(|| de::Error::missing_field("sequence"))?,
        })
    }
}

/// The side as one letter.
struct Owner(Role);

impl<'de> Deserialize<'de> for Owner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        role_of(&text).map(Self).ok_or_else(|| de::Error::unknown_variant(&text, &["u", "a"]))
    }
}

fn role_of(owner: &str) -> Option<Role> {
    match owner {
        "u" => Some(Role::User),
        "a" => Some(Role::Assistant),
        _ => None,
    }
}

fn fill<T, E: de::Error>(slot: &mut Option<T>, value: T, name: &'static str) -> Result<(), E> {
    if slot.replace(value).is_some() {
        return Err(E::duplicate_field(name));
    }
    Ok(())
}
