//! Documentation of the settings that is written from their declaration.

use std::fmt::Write as _;

use crate::commands::serve::declared::DeclaredSettings;
use crate::commands::serve::setting::{self, Setting, Syntax};
use crate::generated::part_is_current;

#[test]
fn the_table_of_settings_is_current() {
    let mut table = String::from("\n| flag | variable | file | effect |\n|---|---|---|---|\n");
    for setting in setting::all() {
        let separator = match setting.syntax() {
            Syntax::List(separator) => format!(" (`{separator}` between)"),
            Syntax::One | Syntax::Switch => String::new(),
        };
        let value = setting.value_name().map(|name| format!(" {name}")).unwrap_or_default();
        let cells = [
            format!("`{}{value}`", setting.flag()),
            format!("`{}`{separator}", setting.variable()),
            format!("`{}`", setting.key()),
            effect(&setting),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        writeln!(table, "| {} |", cells.join(" | ")).unwrap();
    }
    table.push('\n');
    part_is_current("docs/operating.md", ["<!-- settings -->", "<!-- /settings -->"], &table);
}

/// Help and values of a setting.
fn help(setting: &Setting) -> String {
    let values: Vec<String> = setting
        .values()
        .into_iter()
        .map(|(name, help)| format!("`{name}`{}", help.map(|help| format!(" ({help})")).unwrap_or_default()))
        .collect();
    let values = if values.is_empty() { String::new() } else { format!("; values: {}", values.join(", ")) };
    format!("{}{values}", setting.help())
}

/// Help, values and default of a setting.
fn effect(setting: &Setting) -> String {
    let mut effect = help(setting);
    if let Some(default) = setting.default_value() {
        write!(effect, " [default: `{default}`]").unwrap();
    }
    effect
}

#[test]
fn the_example_of_the_file_is_current() {
    let mut example = String::from("\n");
    for setting in setting::all() {
        let line = line(&setting);
        writeln!(example, "# {}\n# {line}\n", help(&setting)).unwrap();
        if setting.default_value().is_some() || setting.syntax() == Syntax::Switch {
            toml::from_str::<DeclaredSettings>(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
    let lines = ["# Settings, written by `make generate`:", "# End of the settings that have a flag."];
    part_is_current("packaging/serve.toml", lines, &example);
}

/// A setting as the file has it: with its default, or else with the name of its value.
fn line(setting: &Setting) -> String {
    let key = setting.key();
    let takes = |value: &str| toml::from_str::<DeclaredSettings>(&format!("{key} = {value}")).is_ok();
    let value = setting.default_value().or_else(|| setting.value_name()).unwrap_or_default();
    match setting.syntax() {
        Syntax::Switch => format!("{key} = false"),
        Syntax::List(_) => format!("{key} = [\"{value}\"]"),
        // Numbers have no quotes.
        Syntax::One if takes("1") => format!("{key} = {value}"),
        Syntax::One => format!("{key} = \"{value}\""),
    }
}
