//! Codes of errors.

macro_rules! codes {
    ($( $(#[$doc:meta])* $Name:ident = $text:literal, $status:literal, $retryable:literal; )+) => {
        /// Codes of errors, to branch on. The text and the status are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $( $(#[$doc])* $Name, )+ }

        impl Code {
            /// All of them.
            pub const ALL: &[Code] = &[$( Code::$Name, )+];

            /// The code as clients see it.
            pub fn as_str(self) -> &'static str {
                match self { $( Code::$Name => $text, )+ }
            }

            /// The HTTP status of a response with this code.
            pub fn status(self) -> u16 {
                match self { $( Code::$Name => $status, )+ }
            }

            /// True if the same request may succeed later.
            pub fn is_retryable(self) -> bool {
                match self { $( Code::$Name => $retryable, )+ }
            }
        }
    };
}

codes! {
    /// The request is malformed.
    Invalid = "invalid", 400, false;
    /// No credential, or an unknown one.
    Unauthorized = "unauthorized", 401, false;
    /// The credential lacks a scope, or is limited to other folders.
    Forbidden = "forbidden", 403, false;
    /// The folder is outside of the server's roots.
    OutsideRoots = "outside_roots", 403, false;
    /// The folder has commands of its own, and is not trusted.
    Untrusted = "untrusted_workspace", 403, false;
    /// The session's budget is used up.
    BudgetExhausted = "budget_exhausted", 403, false;
    /// No such session, request, device or route.
    NotFound = "not_found", 404, false;
    /// The route exists, but not with this method.
    Method = "method_not_allowed", 405, false;
    /// It exists already, or is used by another session.
    Conflict = "conflict", 409, false;
    /// The request was answered before.
    AlreadyAnswered = "already_answered", 409, false;
    /// The request has changed since it was shown.
    DigestMismatch = "digest_mismatch", 409, false;
    /// It existed once.
    Gone = "gone", 410, false;
    /// The body is longer than the limit.
    TooLarge = "too_large", 413, false;
    /// The body must be JSON.
    MediaType = "not_json", 415, false;
    /// The answer does not fit the question.
    Unprocessable = "unprocessable", 422, false;
    /// The answer must repeat the digest of what was shown.
    DigestRequired = "digest_required", 428, false;
    /// Too many requests, connections or sessions.
    TooMany = "too_many", 429, true;
    /// An internal failure.
    Internal = "internal", 500, true;
    /// The agent could not be started, or refused.
    Agent = "agent_failed", 502, true;
    /// The server is stopping, or its disk is full.
    Unavailable = "unavailable", 503, true;
    /// The agent did not answer in time.
    Timeout = "timeout", 504, true;
}
