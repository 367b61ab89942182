use jiff::Timestamp;

use super::literals::{self, Literals};
use super::pattern::Pattern;
use super::prefilter::Prefilter;
use super::texts::Role;
use crate::Error;

/// What to look for and where.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The words, or a regular expression.
    pub pattern: String,
    /// Which of the two.
    pub syntax: Syntax,
    /// Whether `A` is `a`.
    pub case: Case,
    /// Only what these said; everybody if empty.
    pub roles: Vec<Role>,
    /// Only calls of this tool and what it gave back.
    pub tool: Option<String>,
    /// Only sessions, or lines, whose working folder contains this, in upper or lower case.
    pub project: Option<String>,
    /// Only lines of this time or later; a line without a time counts as old as its file.
    pub since: Option<Timestamp>,
    /// Only lines before this time.
    pub until: Option<Timestamp>,
    /// Whether sub-agents are searched.
    pub sidechains: Sidechains,
    /// Whether a hit says which tool it is from where that must be looked up.
    pub tools: ToolNames,
}

/// How a pattern is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// As it is.
    #[default]
    Literal,
    /// A regular expression, in which `^` and `$` stand for the borders of lines.
    Regex,
}

/// Whether the case of letters matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// It does.
    #[default]
    Sensitive,
    /// It does not.
    Ignore,
}

/// What becomes of sub-agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sidechains {
    /// They are searched.
    #[default]
    Include,
    /// They are left out.
    LeaveOut,
}

/// A result names its call by id only; the name of the tool stands further up in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolNames {
    /// Hits have the names.
    #[default]
    LookUp,
    /// Hits in results lack them, which is faster.
    LeaveOut,
}

/// Options that make sense, made ready.
#[derive(Debug)]
pub struct Query {
    pub(super) options: Options,
    pub(super) pattern: Pattern,
    pub(super) prefilter: Prefilter,
    #[cfg(feature = "index")]
    pub(crate) literals: Literals,
}

impl Query {
    /// Makes a query ready; an empty or wrong pattern is an error.
    pub fn new(options: Options) -> Result<Self, Error> {
        let pattern = Pattern::new(&options)?;
        let literals = match options.syntax {
            Syntax::Literal => Literals::of_text(&options.pattern, options.case),
            Syntax::Regex => literals::of_regex(&options.pattern, options.case),
        };
        let prefilter = Prefilter::new(&literals);
        Ok(Query {
            options,
            pattern,
            prefilter,
            #[cfg(feature = "index")]
            literals,
        })
    }

    /// What was asked for.
    pub fn options(&self) -> &Options {
        &self.options
    }
}
