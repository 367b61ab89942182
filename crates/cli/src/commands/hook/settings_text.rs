//! The text of a settings file, to which hooks are added: all other parts stay as they are written.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object with its keys in their order, and its values as they are written.
#[derive(Debug, Default)]
struct RawObject(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut entries: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((key, value)) = map.next_entry()? {
                    // Readers disagree about which of two equal keys counts.
                    if entries.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format!("the key `{key}` occurs twice")));
                    }
                    entries.push((key, value));
                }
                Ok(RawObject(entries))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl RawObject {
    fn take<'t, T: Deserialize<'t> + Default>(&'t self, key: &str) -> serde_json::Result<T> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map_or_else(|| Ok(T::default()), |(_, value)| serde_json::from_str(value.get()))
    }

    fn set(&mut self, key: &str, text: String) -> serde_json::Result<()> {
        let value = RawValue::from_string(text)?;
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, found)) => *found = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }

    fn text(&self, indent: &str) -> String {
        let lines = self.0.iter().map(|(key, value)| {
            // Strings always encode.
            format!("{indent}  {}: {}", serde_json::to_string(key).unwrap_or_default(), value.get())
        });
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n{indent}}}", lines.join(",\n")) }
    }
}

/// The settings of a file.
#[derive(Debug)]
pub(super) struct SettingsText {
    settings: RawObject,
}

impl SettingsText {
    /// Parses a file; an empty one has no settings.
    pub(super) fn parse(text: &str) -> serde_json::Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let settings =
            if text.trim().is_empty() { RawObject::default() } else { serde_json::from_str(text)? };
        Ok(SettingsText { settings })
    }

    /// Adds a group to the hooks of an event, behind those that are there.
    pub(super) fn add_hook(&mut self, event: &str, group: Box<RawValue>) -> serde_json::Result<()> {
        let mut hooks: RawObject = self.settings.take("hooks")?;
        let mut groups: Vec<Box<RawValue>> = hooks.take(event)?;
        groups.push(group);
        let mut list = String::from("[");
        for (at, group) in groups.iter().enumerate() {
            // Writing into a String cannot fail.
            let _ = write!(list, "{}\n      {}", if at > 0 { "," } else { "" }, group.get());
        }
        list.push_str("\n    ]");
        hooks.set(event, list)?;
        self.settings.set("hooks", hooks.text("  "))
    }

    pub(super) fn text(&self) -> String {
        self.settings.text("") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn with_stop(text: &str) -> serde_json::Result<String> {
        let mut settings = SettingsText::parse(text)?;
        settings.add_hook("Stop", RawValue::from_string("{\"ours\":1}".to_owned())?)?;
        Ok(settings.text())
    }

    #[test]
    fn hooks_are_added_behind_others_and_the_rest_stays_as_it_is_written() {
        let text =
            "{\"z\": [1,  2.0],\n \"hooks\": {\"Stop\": [ {\"a\":  1e2} ], \"Start\": []}, \"a\": null}";
        let added = with_stop(text).unwrap();
        let value: Value = serde_json::from_str(&added).unwrap();
        assert_eq!(value["hooks"], json!({"Stop": [{"a": 1e2}, {"ours": 1}], "Start": []}));
        assert!(added.find("\"z\": [1,  2.0]").unwrap() < added.find("\"a\": null").unwrap(), "{added}");
        for empty in ["", " \n", "{}", "\u{feff}{}"] {
            let value: Value = serde_json::from_str(&with_stop(empty).unwrap()).unwrap();
            assert_eq!(value, json!({"hooks": {"Stop": [{"ours": 1}]}}), "{empty:?}");
        }
    }

    #[test]
    fn texts_that_are_no_settings_are_refused() {
        for text in [
            "[]",
            "{ // comment\n}",
            "{\"a\":1,}",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"Stop\":{}}}",
            "{\"a\":1,\"a\":2}",
            "{\"hooks\":null}",
        ] {
            assert!(with_stop(text).is_err(), "{text}");
        }
    }
}
