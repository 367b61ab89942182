use crate::json::object;

object! {
    /// A skill to load.
    pub struct SkillInput {
        /// Its name; older CLIs call it `command`.
        opt skill: String,
        /// The same, as older CLIs call it.
        opt command: String,
        /// What to tell it.
        opt args: String,
    }

    /// The skill that was loaded.
    pub struct SkillOutput {
        /// Whether it was loaded.
        opt success: bool,
        /// Its name.
        opt command_name: String as "commandName",
        /// The tools that it allows.
        opt allowed_tools: Vec<String> as "allowedTools",
        /// The model that it asks for.
        opt model: String,
    }

    /// A slash command to run; a tool of older CLIs.
    pub struct SlashCommandInput {
        /// The command with its slash and what follows it.
        req command: String,
    }
}
