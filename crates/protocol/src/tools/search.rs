//! Tools that search for files, text and other tools.

use crate::json::{object, open_string};

open_string! {
    /// Kind of output of a search through files.
    pub struct GrepMode {
        FILES_WITH_MATCHES = "files_with_matches",
        CONTENT = "content",
        COUNT = "count",
    }
}

object! {
    /// A search for file names.
    pub struct GlobInput {
        /// Pattern, such as `src/**/*.rs`.
        req pattern: String,
        /// Folder to search; defaults to the working folder.
        opt path: String,
    }

    /// Result of a search for file names.
    pub struct GlobOutput {
        /// Names of the files.
        opt filenames: Vec<String>,
        /// Number of these names.
        opt num_files: u64 as "numFiles",
        /// True if there are more.
        opt truncated: bool,
        /// Total number of matches.
        opt total_matches: u64 as "totalMatches",
        /// True if that number is exact.
        opt count_is_complete: bool as "countIsComplete",
        /// True if the search was aborted.
        opt timed_out: bool as "timedOut",
        /// Duration in milliseconds.
        opt duration_ms: u64 as "durationMs",
    }

    /// A search for text in files.
    pub struct GrepInput {
        /// The regular expression.
        req pattern: String,
        /// File or folder to search; defaults to the working folder.
        opt path: String,
        /// Pattern for file names.
        opt glob: String,
        /// File type, such as `rust`.
        opt file_type: String as "type",
        /// Kind of output.
        opt output_mode: GrepMode,
        /// Number of lines to show after a match.
        opt after: u64 as "-A",
        /// Number of lines to show before a match.
        opt before: u64 as "-B",
        /// Number of lines to show around a match.
        opt around: u64 as "-C",
        /// The same, under its other name.
        opt context: u64,
        /// True to show line numbers.
        opt line_numbers: bool as "-n",
        /// True to ignore case.
        opt ignore_case: bool as "-i",
        /// True to show only the matching text.
        opt only_matching: bool as "-o",
        /// Maximum number of results.
        opt head_limit: u64,
        /// Number of results to skip.
        opt offset: u64,
        /// True if a match may span several lines.
        opt multiline: bool,
    }

    /// Result of a search through files.
    pub struct GrepOutput {
        /// Kind of output.
        opt mode: GrepMode,
        /// Files with matches, unless lines are shown.
        opt filenames: Vec<String>,
        /// Number of these files.
        opt num_files: u64 as "numFiles",
        /// The lines, or the counts.
        opt content: String,
        /// Number of lines shown.
        opt num_lines: u64 as "numLines",
        /// Number of matches.
        opt num_matches: u64 as "numMatches",
        /// Total number of files.
        opt total_files: u64 as "totalFiles",
        /// Total number of lines.
        opt total_lines: u64 as "totalLines",
        /// Limit, if it truncated the result.
        opt applied_limit: u64 as "appliedLimit",
        /// Number of results skipped.
        opt applied_offset: u64 as "appliedOffset",
        /// True if the search was aborted.
        opt timed_out: bool as "timedOut",
    }

    /// A search among tools whose descriptions are not loaded.
    pub struct ToolSearchInput {
        /// Search words, or `select:` and names.
        req query: String,
        /// Maximum number of results.
        opt max_results: u64,
    }

    /// Tools found by a search.
    pub struct ToolSearchOutput {
        /// Their names.
        opt matches: Vec<String>,
        /// The query.
        opt query: String,
        /// Number of tools that are not loaded.
        opt total_deferred_tools: u64,
    }
}
