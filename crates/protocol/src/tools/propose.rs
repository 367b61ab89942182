//! Tools that make the user an offer: goals, skills, a browser, a role.

use crate::json::object;

object! {
    /// A goal: a condition that ends the work.
    pub struct SetGoalInput {
        req condition: String,
        /// False to set it without asking the user.
        opt ask_user: bool,
    }

    /// The goal that was set or proposed.
    pub struct SetGoalOutput {
        opt condition: String,
        /// True if the user was asked.
        opt ask_user: bool as "askUser",
    }

    /// Skills for the user to review.
    pub struct ProposeSkillsInput {
        req proposals: Vec<ProposedSkill>,
    }

    /// A new skill, or changes to one.
    pub struct ProposedSkill {
        opt name: String,
        /// `new` or `improvement`.
        opt kind: String,
        /// The skill to change.
        opt target: String,
        opt description: String,
        /// Reasons for it.
        opt evidence: Vec<String>,
        opt edits: Vec<ProposedSkillEdit>,
        /// The whole text, in place of edits.
        opt skill_md: String as "skillMd",
    }

    /// A change to the text of a skill.
    pub struct ProposedSkillEdit {
        opt old_string: String,
        opt new_string: String,
    }

    /// Number of skills that the user reviews.
    pub struct ProposeSkillsOutput {
        opt proposal_count: u64 as "proposalCount",
    }

    /// An offer to connect the user's browser.
    pub struct OfferChromeSetupInput {
        /// Reason for the offer.
        opt reason: String,
    }

    /// Answer to the offer: `connected`, `not_now` or `no_attempt_yet`.
    pub struct OfferChromeSetupOutput {
        opt outcome: String,
    }

    /// Request for the user's role.
    pub struct ShowOnboardingRolePickerInput {}

    /// The role of the user.
    pub struct ShowOnboardingRolePickerOutput {
        opt role: String,
        opt dismissed: bool,
    }
}
