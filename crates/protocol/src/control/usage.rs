//! `get_usage` and `get_session_cost`: what was used, of money and of the plan.

use crate::json::{object, open_string};
use crate::messages::SessionUsage;

open_string! {
    /// A habit that uses much of a plan.
    pub struct BehaviorKey {
        CACHE_MISS = "cache_miss",
        LONG_CONTEXT = "long_context",
        SUBAGENT_HEAVY = "subagent_heavy",
        HIGH_PARALLEL = "high_parallel",
        CRON = "cron",
        MAX_EFFORT = "max_effort",
        WORKFLOW = "workflow",
        ALWAYS_ON_CONTEXT = "always_on_context",
        LARGE_TOOL_RESULTS = "large_tool_results",
    }
}

object! {
    /// What did the session cost?
    pub struct GetSessionCost {}

    /// What the session cost.
    pub struct SessionCost {
        /// For people to read.
        def text: String,
    }

    /// What was used of the plan?
    pub struct GetUsage {
        /// Whether to leave out the habits, which take long to find.
        opt skip_behaviors: bool,
    }

    /// What was used of the plan.
    pub struct Usage {
        opt session: SessionUsage,
        /// Nothing for an API key.
        opt subscription_type: String,
        opt rate_limits_available: bool,
        opt rate_limits: RateLimits,
        opt behaviors: UsageBehaviors,
    }

    /// The limits of a plan.
    pub struct RateLimits {
        opt five_hour: UsageLimit,
        opt seven_day: UsageLimit,
        opt seven_day_oauth_apps: UsageLimit,
        opt seven_day_opus: UsageLimit,
        opt seven_day_sonnet: UsageLimit,
        opt model_scoped: Vec<ModelLimit>,
        opt extra_usage: ExtraUsage,
    }

    /// A limit and what was used of it.
    pub struct UsageLimit {
        opt utilization: f64,
        opt resets_at: String,
    }

    /// A limit of one model.
    pub struct ModelLimit {
        opt display_name: String,
        opt utilization: f64,
        opt resets_at: String,
    }

    /// What is paid beyond the plan.
    pub struct ExtraUsage {
        opt is_enabled: bool,
        opt monthly_limit: f64,
        opt used_credits: f64,
        opt utilization: f64,
        opt currency: String,
    }

    /// Habits, by period.
    pub struct UsageBehaviors {
        opt day: UsagePeriod,
        opt week: UsagePeriod,
    }

    /// What was used in a period, and by what.
    pub struct UsagePeriod {
        opt request_count: u64,
        opt session_count: u64,
        def behaviors: Vec<BehaviorShare>,
        opt recommendations: Vec<Recommendation>,
        opt fix: UsageFix,
        def agents: Vec<NamedShare>,
        def skills: Vec<NamedShare>,
        def plugins: Vec<NamedShare>,
        def mcp_servers: Vec<NamedShare>,
    }

    /// What a habit used.
    pub struct BehaviorShare {
        req key: BehaviorKey,
        opt pct: f64,
        opt count: u64,
    }

    /// What would use less.
    pub struct Recommendation {
        req key: BehaviorKey,
        opt pct: f64,
        def title: String,
        opt detail: String,
    }

    /// What to say to the agent so that it uses less.
    pub struct UsageFix {
        def keys: Vec<BehaviorKey>,
        def messages: Vec<String>,
    }

    /// What something with a name used.
    pub struct NamedShare {
        req name: String,
        opt pct: f64,
    }
}
