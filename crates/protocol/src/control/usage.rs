//! `get_usage` and `get_session_cost`: costs, and usage of the plan.

use crate::json::{object, open_string};
use crate::messages::SessionUsage;

open_string! {
    /// A behavior that uses much of a plan.
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
    /// Request for the cost of the session.
    pub struct GetSessionCost {}

    /// Cost of the session.
    pub struct SessionCost {
        /// Text for the user.
        def text: String,
    }

    /// Request for the usage of the plan.
    pub struct GetUsage {
        /// True to omit the behaviors, which take long to compute.
        opt skip_behaviors: bool,
    }

    /// Usage of the plan.
    pub struct Usage {
        opt session: SessionUsage,
        /// Absent for an API key.
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

    /// A limit and its used share.
    pub struct UsageLimit {
        opt utilization: f64,
        opt resets_at: String,
    }

    /// A limit for one model.
    pub struct ModelLimit {
        opt display_name: String,
        opt utilization: f64,
        opt resets_at: String,
    }

    /// Paid use beyond the plan.
    pub struct ExtraUsage {
        opt is_enabled: bool,
        opt monthly_limit: f64,
        opt used_credits: f64,
        opt utilization: f64,
        opt currency: String,
    }

    /// Behaviors, by period.
    pub struct UsageBehaviors {
        opt day: UsagePeriod,
        opt week: UsagePeriod,
    }

    /// Usage in a period, by cause.
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

    /// Share of usage due to a behavior.
    pub struct BehaviorShare {
        req key: BehaviorKey,
        opt pct: f64,
        opt count: u64,
    }

    /// Recommendation for using less.
    pub struct Recommendation {
        req key: BehaviorKey,
        opt pct: f64,
        def title: String,
        opt detail: String,
    }

    /// Prompt for the agent that reduces usage.
    pub struct UsageFix {
        def keys: Vec<BehaviorKey>,
        def messages: Vec<String>,
    }

    /// Share of usage of a named item.
    pub struct NamedShare {
        req name: String,
        opt pct: f64,
    }
}
