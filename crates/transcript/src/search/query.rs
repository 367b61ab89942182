//! Pattern and filters of a search.

use std::collections::HashMap;

use jiff::Timestamp;
use tidings_protocol::json::Text;

use super::hit::Excerpt;
use super::literals::{self, Literals};
use super::pattern::Pattern;
use super::prefilter::Prefilter;
use super::texts::Role;
use crate::{ChangedInputs, Error};

/// Pattern and filters of a search.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The text, or a regular expression.
    pub pattern: String,
    /// Interpretation of the pattern.
    pub syntax: Syntax,
    /// Case sensitivity.
    pub case: Case,
    /// Only text of these roles; all roles if empty.
    pub roles: Vec<Role>,
    /// Only calls of this tool and their results.
    pub tool: Option<String>,
    /// Only sessions or lines whose working folder contains this, ignoring case.
    pub project: Option<String>,
    /// Only lines since this time; a line without a time counts as old as its file.
    pub since: Option<Timestamp>,
    /// Only lines before this time (exclusive).
    pub until: Option<Timestamp>,
    /// Handling of sub-agents.
    pub sidechains: Sidechains,
    /// Look-up of tool names that are not on the matching line.
    pub tools: ToolNames,
    /// Inputs that ran instead of those that the model asked for; both are searched.
    pub changed_inputs: ChangedInputs,
}

/// Interpretation of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// Literal text.
    #[default]
    Literal,
    /// A regular expression; `^` and `$` match at line ends.
    Regex,
}

/// Case sensitivity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// `A` and `a` differ.
    #[default]
    Sensitive,
    /// `A` and `a` are the same.
    Ignore,
}

/// Handling of sub-agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sidechains {
    /// Search them.
    #[default]
    Include,
    /// Leave them out.
    LeaveOut,
}

/// Look-up of the tool names of results. A result names its call by id only; the tool's name stands further
/// up in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolNames {
    /// Hits include the names.
    #[default]
    LookUp,
    /// Hits in results lack them, which is faster.
    LeaveOut,
}

/// Checked and compiled options.
#[derive(Debug)]
pub struct SearchQuery {
    pub(super) options: Options,
    pub(super) pattern: Pattern,
    pub(super) prefilter: Prefilter,
    /// Matches in changed inputs, by the ids of their calls. The lines of these calls need not match.
    changed: HashMap<String, Excerpt>,
    #[cfg(feature = "index")]
    pub(crate) literals: Literals,
}

impl SearchQuery {
    /// Compiles a query; an empty or invalid pattern is an error.
    pub fn new(options: Options) -> Result<Self, Error> {
        let pattern = Pattern::new(&options)?;
        let literals = match options.syntax {
            Syntax::Literal => Literals::of_text(&options.pattern, options.case),
            Syntax::Regex => literals::of_regex(&options.pattern, options.case),
        };
        let matches = options.changed_inputs.iter().filter_map(|(call, input)| {
            let text = |text: Text<'_>| {
                let text = text.get();
                pattern.find(&text).map(|at| Excerpt::of(&text, at))
            };
            let excerpt = input.raw().strings().find_map(|(_, value)| text(value))?;
            Some((call.to_owned(), excerpt))
        });
        let changed: HashMap<String, Excerpt> = matches.collect();
        let prefilter = Prefilter::new(&literals.or_any_of(changed.keys()));
        Ok(SearchQuery {
            options,
            pattern,
            prefilter,
            changed,
            #[cfg(feature = "index")]
            literals,
        })
    }

    /// The match in the input that ran in place of the one of the call with this id.
    pub(super) fn changed(&self, call: &str) -> Option<&Excerpt> {
        self.changed.get(call)
    }

    /// Returns true if the pattern matches in a changed input, which no index of the files knows.
    #[cfg(feature = "index")]
    pub(crate) fn matches_changed_inputs(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The options of the query.
    pub fn options(&self) -> &Options {
        &self.options
    }
}
