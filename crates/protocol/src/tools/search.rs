use crate::json::{object, open_string};

open_string! {
    /// What a search through files shows.
    pub struct GrepMode {
        FILES_WITH_MATCHES = "files_with_matches",
        CONTENT = "content",
        COUNT = "count",
    }
}

object! {
    /// Names of files to find.
    pub struct GlobInput {
        /// The pattern, as `src/**/*.rs`.
        req pattern: String,
        /// Where to look; the working directory if not said.
        opt path: String,
    }

    /// The names of files that were found.
    pub struct GlobOutput {
        /// The names.
        opt filenames: Vec<String>,
        /// How many these are.
        opt num_files: u64 as "numFiles",
        /// Whether there are more.
        opt truncated: bool,
        /// How many there are.
        opt total_matches: u64 as "totalMatches",
        /// Whether that number is final.
        opt count_is_complete: bool as "countIsComplete",
        /// Whether the search was given up.
        opt timed_out: bool as "timedOut",
        /// How long it took.
        opt duration_ms: u64 as "durationMs",
    }

    /// Text to find in files.
    pub struct GrepInput {
        /// The regular expression.
        req pattern: String,
        /// Where to look; the working directory if not said.
        opt path: String,
        /// Which names of files to look into.
        opt glob: String,
        /// Which type of files to look into, as `rust`.
        opt file_type: String as "type",
        /// What to show.
        opt output_mode: GrepMode,
        /// How many lines to show after a match.
        opt after: u64 as "-A",
        /// How many lines to show before a match.
        opt before: u64 as "-B",
        /// How many lines to show around a match.
        opt around: u64 as "-C",
        /// The same under its other name.
        opt context: u64,
        /// Whether to show the numbers of lines.
        opt line_numbers: bool as "-n",
        /// Whether upper and lower case are the same.
        opt ignore_case: bool as "-i",
        /// Whether to show only what matched.
        opt only_matching: bool as "-o",
        /// How much to show.
        opt head_limit: u64,
        /// How much to leave out before.
        opt offset: u64,
        /// Whether a match may go over several lines.
        opt multiline: bool,
    }

    /// What a search through files found.
    pub struct GrepOutput {
        /// What is shown.
        opt mode: GrepMode,
        /// The files with matches, unless lines are shown.
        opt filenames: Vec<String>,
        /// How many these are.
        opt num_files: u64 as "numFiles",
        /// The lines, or the counts.
        opt content: String,
        /// How many lines are shown.
        opt num_lines: u64 as "numLines",
        /// How many matches were counted.
        opt num_matches: u64 as "numMatches",
        /// How many files there are.
        opt total_files: u64 as "totalFiles",
        /// How many lines there are.
        opt total_lines: u64 as "totalLines",
        /// The limit, if something was left out because of it.
        opt applied_limit: u64 as "appliedLimit",
        /// How much was left out before.
        opt applied_offset: u64 as "appliedOffset",
        /// Whether the search was given up.
        opt timed_out: bool as "timedOut",
    }

    /// Tools to find among those whose descriptions are not loaded.
    pub struct ToolSearchInput {
        /// Words, or `select:` and names.
        req query: String,
        /// How many to give.
        opt max_results: u64,
    }

    /// The tools that were found.
    pub struct ToolSearchOutput {
        /// Their names.
        opt matches: Vec<String>,
        /// What was looked for.
        opt query: String,
        /// How many tools are not loaded.
        opt total_deferred_tools: u64,
    }
}
