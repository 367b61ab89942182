//! One declared setting: its names in each source, and the syntax of its variable.

use std::any::TypeId;

use clap::{Arg, ArgAction, CommandFactory as _};

use super::declared::SettingsCommand;
use super::path::SettingPath;

/// A setting, as `clap` knows it from its declaration.
#[derive(Debug)]
pub(super) struct Setting(Arg);

/// Syntax of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    One,
    /// A boolean.
    Switch,
    /// Several values, with this separator.
    List(char),
}

/// All settings that the command line has, in the order of their declaration.
pub(super) fn all() -> Vec<Setting> {
    SettingsCommand::command().get_arguments().cloned().map(Setting).collect()
}

/// The variable of a key of the file: `TIDINGS_` and the key.
pub(super) fn variable(key: &str) -> String {
    match key {
        // `TIDINGS_DATA` would not say that it is a folder.
        "data" => "TIDINGS_DATA_DIR".to_owned(),
        key => format!("TIDINGS_{}", key.to_uppercase()),
    }
}

impl Setting {
    /// Key in the file.
    pub(super) fn key(&self) -> &str {
        self.0.get_id().as_str()
    }

    /// Flag of the command line.
    pub(super) fn flag(&self) -> String {
        format!("--{}", self.0.get_long().unwrap_or_default())
    }

    /// Variable of the environment.
    pub(super) fn variable(&self) -> String {
        variable(self.key())
    }

    /// Syntax of the variable. A list of paths is separated as in `PATH`, since paths may contain commas.
    pub(super) fn syntax(&self) -> Syntax {
        match self.0.get_action() {
            ArgAction::SetTrue => Syntax::Switch,
            ArgAction::Append if self.is_path() => Syntax::List(':'),
            ArgAction::Append => Syntax::List(','),
            _ => Syntax::One,
        }
    }

    /// Name of the value in the help; a switch has none.
    #[cfg(test)]
    pub(super) fn value_name(&self) -> Option<String> {
        let names = self.0.get_value_names().filter(|_| self.syntax() != Syntax::Switch)?;
        Some(names.join(" "))
    }

    /// The help in one line.
    #[cfg(test)]
    pub(super) fn help(&self) -> String {
        let help = self.0.get_long_help().or_else(|| self.0.get_help()).expect("every setting has a help");
        help.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The values that a choice has, with their help.
    #[cfg(test)]
    pub(super) fn values(&self) -> Vec<(String, Option<String>)> {
        let values = self.0.get_possible_values().into_iter().filter(|_| self.syntax() != Syntax::Switch);
        values.map(|value| (value.get_name().to_owned(), value.get_help().map(ToString::to_string))).collect()
    }

    /// The default, if it is a value.
    #[cfg(test)]
    pub(super) fn default_value(&self) -> Option<String> {
        Some(self.0.get_default_values().first()?.to_str()?.to_owned())
    }

    fn is_path(&self) -> bool {
        self.0.get_value_parser().type_id() == TypeId::of::<SettingPath>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_syntax_follow_from_the_declaration() {
        for (key, flag, variable, syntax) in [
            ("listen", "--listen", "TIDINGS_LISTEN", Syntax::One),
            ("data", "--data", "TIDINGS_DATA_DIR", Syntax::One),
            ("allow_bypass", "--allow-bypass", "TIDINGS_ALLOW_BYPASS", Syntax::Switch),
            ("type_into", "--type-into", "TIDINGS_TYPE_INTO", Syntax::List(',')),
            ("public_urls", "--public-url", "TIDINGS_PUBLIC_URLS", Syntax::List(',')),
            ("allow_folders", "--allow-folder", "TIDINGS_ALLOW_FOLDERS", Syntax::List(':')),
        ] {
            let setting = all().into_iter().find(|setting| setting.key() == key).unwrap();
            let found = (setting.flag(), setting.variable(), setting.syntax());
            assert_eq!(found, (flag.to_owned(), variable.to_owned(), syntax), "{key}");
        }
    }
}
