//! Tokens of the buttons of notifications. A token names its target, its request, the digest of what was
//! asked and the number of the reminder; nothing of it can be changed without the key of the server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use subtle::ConstantTimeEq as _;
use tidings_protocol::api::Choice;

use crate::error::{Code, Error};
use crate::hmac::hmac;
use crate::inbox::Item;

/// The contents of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ActionToken {
    /// The id of the target, which stands for a device.
    pub(super) target: String,
    /// The id of the item.
    pub(super) item: String,
    /// The number of the reminder.
    pub(super) step: u32,
    /// The decisions that it is good for.
    pub(super) decisions: Vec<Choice>,
    /// The digest of what was asked.
    pub(super) digest: String,
}

/// The longest token.
const TOKEN_BYTES_MAX: usize = 2000;

impl ActionToken {
    pub(super) fn new(target: &str, item: &Item, step: u32, decisions: &[Choice]) -> Self {
        ActionToken {
            target: target.to_owned(),
            item: item.id.clone(),
            step,
            decisions: decisions.to_vec(),
            digest: item.digest.clone().unwrap_or_default(),
        }
    }

    /// The token as text, which is safe in a URL.
    pub(super) fn seal(&self, key: &[u8; 32]) -> String {
        let letters: String = self.decisions.iter().map(|decision| letter(*decision)).collect();
        let parts = [&self.target, &self.item, &self.digest].map(|part| BASE64.encode(part)).join(".");
        let text = format!("1.{}.{letters}.{parts}", self.step);
        format!("{text}.{}", BASE64.encode(mac(key, &text)))
    }

    /// Reads a token, and checks that this server made it.
    pub(super) fn open(text: &str, key: &[u8; 32]) -> Result<Self, Error> {
        let refused = || {
            let hint = "open the request and decide there";
            Error::new(Code::Forbidden, "The button of this notification is not valid", hint)
        };
        if text.len() > TOKEN_BYTES_MAX {
            return Err(refused());
        }
        let (signed, found) = text.rsplit_once('.').ok_or_else(refused)?;
        let found = BASE64.decode(found).map_err(|_| refused())?;
        if !bool::from(found.as_slice().ct_eq(&mac(key, signed))) {
            return Err(refused());
        }
        let read = || {
            let mut parts = signed.split('.');
            let part = |text: &str| String::from_utf8(BASE64.decode(text).ok()?).ok();
            parts.next().filter(|version| *version == "1")?;
            let step = parts.next()?.parse().ok()?;
            let decisions = parts.next()?.chars().map(choice).collect::<Option<_>>()?;
            let (target, item, digest) = (part(parts.next()?)?, part(parts.next()?)?, part(parts.next()?)?);
            Some(ActionToken { target, item, step, decisions, digest })
        };
        read().ok_or_else(refused)
    }
}

fn mac(key: &[u8; 32], text: &str) -> [u8; 32] {
    hmac(key, &[b"action\0", text.as_bytes()])
}

fn letter(choice: Choice) -> char {
    match choice {
        Choice::Allow => 'a',
        Choice::Deny => 'd',
    }
}

fn choice(letter: char) -> Option<Choice> {
    [Choice::Allow, Choice::Deny].into_iter().find(|choice| self::letter(*choice) == letter)
}

#[cfg(test)]
mod tests {
    use tidings_protocol::api::InboxKind;

    use super::*;

    #[test]
    fn no_part_of_a_token_can_be_changed() {
        let mut item = Item::new("session.toolu_1", InboxKind::Permission, 0, None);
        item.digest = Some("digest".to_owned());
        let token = ActionToken::new("device:1", &item, 2, &[Choice::Deny]);
        let sealed = token.seal(&[1; 32]);
        assert_eq!(ActionToken::open(&sealed, &[1; 32]).unwrap(), token);
        let refused = |text: &str, key| ActionToken::open(text, key).unwrap_err().code() == Code::Forbidden;
        assert!(refused(&sealed, &[2; 32]), "of another server");
        for index in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last letter has bits without a meaning, which the decoder refuses.
            assert!(refused(&changed, &[1; 32]), "{index}: {changed}");
        }
        let allowing = sealed.replacen(".d.", ".ad.", 1);
        assert!(refused(&allowing, &[1; 32]));
        for text in ["", ".", "1.0.a", &"x".repeat(9999)] {
            assert!(refused(text, &[1; 32]), "{text}");
        }
    }
}
