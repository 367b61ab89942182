//! Tools that load skills and run slash commands.

use crate::json::object;

object! {
    /// Input of the tool that loads a skill.
    pub struct SkillInput {
        /// Its name; older CLIs call it `command`.
        opt skill: String,
        /// The name, under the key of older CLIs.
        opt command: String,
        /// Arguments of the skill.
        opt args: String,
    }

    /// Result of loading a skill.
    pub struct SkillOutput {
        /// True if it was loaded.
        opt success: bool,
        /// Its name.
        opt command_name: String as "commandName",
        /// The tools that it allows.
        opt allowed_tools: Vec<String> as "allowedTools",
        /// Model that it requests.
        opt model: String,
    }

    /// Input of the tool that runs a slash command; a tool of older CLIs.
    pub struct SlashCommandInput {
        /// The command with its slash and its arguments.
        req command: String,
    }
}
