// tidy: flat table
use super::plausible::{any, bare_value, key, marked_key, password, quoted_value, typed, yaml_value};

// Parts that several patterns share; `concat!` does not accept constants.

/// The body of a key block up to its end, or as far as it goes if the end is missing. Lines may carry numbers
/// or the marks of a diff, and line ends may be escaped.
macro_rules! key_body {
    () => {
        r"(?:(?:[^-]|-[^-])*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr]|[0-9]{1,6}(?:→|:)|[+-])*[A-Za-z0-9+/=]{16,})*)"
    };
}

/// From a name to its value: a closing quote (escaped or not), a sign, an opening quote.
macro_rules! then {
    () => {
        r#"\\?["']?\]?\s*(?::=|=>|[:=])\s*\\?["'`]?"#
    };
}

/// The same for a value in quotes.
macro_rules! then_quoted {
    () => {
        r#"\\?["']?\]?\s*(?::=|=>|[:=])\s*\\?["'`]"#
    };
}

/// A value: in quotes, with or without blanks, or a word.
macro_rules! value {
    () => {
        r#"(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'`;&|<>]+))"#
    };
}

/// Blanks, line ends (escaped or not) and the line numbers of a listing.
macro_rules! gap {
    () => {
        r"(?:\s|\\[nr]|[0-9]{1,6}→)+"
    };
}

/// Names of secrets other than passwords.
macro_rules! names {
    () => {
        "(?i)(?:secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|account[_-]?key|auth[_-]?key|credential)s?"
    };
}

/// A kind of secret.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Name written in place of the secret.
    pub name: &'static str,
    /// A cheap pattern that matches every text that `pattern` matches.
    pub(super) hint: &'static str,
    /// Matches the secret, or more with the secret as the first participating group.
    pub(super) pattern: &'static str,
    /// Returns true if the match looks like a secret.
    pub(super) accept: fn(&str) -> bool,
}

const fn family(
    name: &'static str,
    hint: &'static str,
    pattern: &'static str,
    accept: fn(&str) -> bool,
) -> Family {
    Family { name, hint, pattern, accept }
}

/// All kinds of secrets, the more specific name first.
///
/// Patterns include `_` and `-` if a key may contain them: otherwise half of the key would stay.
pub const FAMILIES: &[Family] = &[
    // Keys in PEM blocks.
    family(
        "ssh-private-key",
        "BEGIN OPENSSH PRIVATE KEY",
        concat!("-----BEGIN OPENSSH PRIVATE KEY-----", key_body!()),
        any,
    ),
    family(
        "private-key",
        "PRIVATE KEY",
        concat!(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----", key_body!()),
        any,
    ),
    family(
        "putty-private-key",
        "Private-Lines:",
        r"Private-Lines: [0-9]+((?:\s|\\[nr])+(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr])*)+)",
        any,
    ),
    family("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Za-z]{50,}", any),
    // Model providers.
    family("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}", any),
    family("openrouter-key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{32,}", any),
    family("openai-key", "sk-", r"\bsk-[A-Za-z0-9_-]{20,}", key),
    family("groq-key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,}", marked_key),
    family("xai-key", "xai-", r"\bxai-[A-Za-z0-9_-]{60,}", marked_key),
    family("replicate-token", "r8_", r"\br8_[A-Za-z0-9]{30,}", marked_key),
    family("perplexity-key", "pplx-", r"\bpplx-[A-Za-z0-9]{40,}", marked_key),
    family("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{30,}", marked_key),
    // Code hosting and packages.
    family("github-token", "gh[pousr]_", r"gh[pousr]_[A-Za-z0-9_]{36,}", any),
    family("github-pat", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}", any),
    family(
        "gitlab-token",
        "gl[a-z]{2,6}-",
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_-]{20,}(?:\.[0-9A-Za-z]{2,20})*",
        marked_key,
    ),
    family("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36,}", any),
    family("pypi-token", "pypi-A", r"\bpypi-A[A-Za-z0-9_-]{50,}", any),
    family("crates-token", "cio", r"\bcio[A-Za-z0-9]{32}\b", key),
    family("rubygems-key", "rubygems_", r"\brubygems_[0-9a-f]{48}", any),
    family("docker-token", "dckr_[a-z]", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", any),
    family("atlassian-token", "ATATT3|ATCTT3", r"\b(?:ATATT3|ATCTT3)[A-Za-z0-9_=-]{50,}", any),
    family("linear-key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}", any),
    family("notion-token", "ntn_", r"\bntn_[A-Za-z0-9]{40,}", any),
    // Cloud providers.
    family("aws-access-key", "AKIA|ASIA|ABIA|ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", no_example),
    family(
        "aws-secret-key",
        r"(?i)secret_?(?:access)?_?key",
        concat!(r"(?i)secret_?(?:access_?)?key", then!(), r"([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"),
        key,
    ),
    family("google-api-key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}", any),
    family(
        "google-oauth",
        r"ya29\.|GOCSPX-|1//0",
        r"\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{24,}|\b1//0[0-9A-Za-z_-]{30,}",
        any,
    ),
    family(
        "azure-key",
        "AccountKey|SharedAccessKey",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})",
        any,
    ),
    family("azure-signature", "sig=", r"[?&]sig=([A-Za-z0-9%+/_-]{30,}(?:=|%3[Dd])*)", key),
    family("digitalocean-token", "do[opr]_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}", any),
    family("databricks-token", "dapi", r"\bdapi[0-9a-f]{32}(?:-[0-9])?\b", any),
    family("vault-token", r"hv[sbr]\.", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}", any),
    family("pulumi-token", "pul-", r"\bpul-[0-9a-f]{40}\b", any),
    family("tailscale-key", "tskey-", r"\btskey-[a-z]+-[A-Za-z0-9-]{16,}", any),
    family("fly-token", "fm[12][ar]?_", r"\bfm[12][ar]?_[A-Za-z0-9+/=_,-]{50,}", any),
    family("heroku-key", "HRKU-", r"\bHRKU-[A-Za-z0-9_-]{36,}", any),
    // Messaging and payments.
    family(
        "slack-token",
        "xox[abceoprs]|xapp-",
        r"\bxox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{20,}",
        key,
    ),
    family(
        "slack-webhook",
        r"hooks\.slack\.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})",
        any,
    ),
    family(
        "discord-webhook",
        "api/webhooks/",
        r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/([0-9]{10,}/[A-Za-z0-9_-]{40,})",
        any,
    ),
    family(
        "discord-token",
        r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]",
        r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}",
        key,
    ),
    family("telegram-token", ":AA", r"(?:\b|bot)([0-9]{8,10}:AA[A-Za-z0-9_-]{32,})", any),
    family(
        "stripe-key",
        "[srw][kh](?:sec)?_",
        r"\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{24,}",
        any,
    ),
    family("square-token", "sq0|EAAA", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}|\bEAAA[A-Za-z0-9_-]{60}\b", any),
    family("sendgrid-key", r"SG\.", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", any),
    family("mailgun-key", "key-", r"\bkey-[0-9a-f]{32}\b", key),
    family("twilio-key", "SK[0-9a-f]", r"\bSK[0-9a-f]{32}\b", any),
    family("shopify-token", "shp[a-z]{2}_", r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}", any),
    // Monitoring and work tools.
    family("sentry-token", "sntry[su]_", r"\bsntry[su]_[A-Za-z0-9_=+/-]{40,}", any),
    family(
        "grafana-token",
        "glsa_|glc_",
        r"\bglsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|\bglc_[A-Za-z0-9+/=]{40,}",
        any,
    ),
    family("newrelic-key", "NRAK-", r"\bNRAK-[A-Z0-9]{20,}", any),
    family("onepassword-token", "ops_eyJ", r"\bops_eyJ[A-Za-z0-9_-]{40,}={0,2}", any),
    family("figma-token", "figd_", r"\bfigd_[A-Za-z0-9_-]{30,}", any),
    // Formats that many services share.
    family("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", any),
    family(
        "database-url",
        "(?:postgres|mysql|mariadb|mongodb|redis|amqp|sqlserver|mssql|clickhouse|cockroach|couchbase|neo4j|bolt)[a-z0-9+]*://",
        r#"(?:postgres|mysql|mariadb|mongodb|redis|amqp|sqlserver|mssql|clickhouse|cockroach|couchbase|neo4j|bolt)[a-z0-9+]*://[^\s:/@"'`]*:([^\s@/"'`]+)@"#,
        password,
    ),
    family(
        "url-password",
        r#"://[^\s:/@"'`<>]*:"#,
        r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@"'`<>]*:([^\s@/"'`<>]+)@"#,
        password,
    ),
    family(
        "authorization",
        "(?i)authorization|bearer",
        concat!(
            r"(?i)(?:authorization",
            then!(),
            r"(?:bearer|basic|token|digest|apikey|bot)\s+|\bbearer\s+)",
            r"([A-Za-z0-9._~+/=-]{12,})"
        ),
        key,
    ),
    family(
        "basic-auth",
        "curl",
        r#"\bcurl\b[^\n|;]*?\s(?:-u|--user)(?:\s+|=)["']?[^\s:"'$]+:([^\s"']{3,})"#,
        password,
    ),
    // Values identified by their names.
    family(
        "password",
        "(?i)pass(?:word|wd|phrase)|pwd",
        concat!(r"(?i)(?:pass(?:word|wd|phrase)?|pwd)[0-9]?", then_quoted!(), r#"([^\s"'`\\]{5,})"#),
        quoted_value,
    ),
    family(
        "password",
        "(?i)pass(?:word|wd|phrase)|pwd",
        concat!(r"(?i)(?:pass(?:word|wd|phrase)|pwd)[0-9]?", then!(), r#"([^\s"'`\\,;&<>|()\[\]{}]{6,})"#),
        bare_value,
    ),
    family(
        "assigned-secret",
        names!(),
        concat!(names!(), then_quoted!(), r#"([^\s"'`\\]{8,})"#),
        quoted_or_key,
    ),
    family(
        "assigned-secret",
        names!(),
        concat!(names!(), then!(), r#"([^\s"'`\\,;&<>|()\[\]{}]{10,})"#),
        bare_value,
    ),
    family(
        "env-secret",
        "(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD|DSN|CREDENTIALS?)=",
        r#"(?m)^[ \t0-9→+:-]*(?:export[ \t]+|set[ \t]+|ENV[ \t]+)?[A-Z][A-Z0-9_]*_?(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD|DSN|CREDENTIALS?)=["']?([^\s"'`]{8,})"#,
        quoted_value,
    ),
    // Passwords in commands and configuration files.
    family(
        "password",
        "sshpass|mysql|mariadb",
        concat!(r"\b(?:sshpass\b[^\n|;&]*?\s-p\s*|(?:mysql|mariadb)[a-z_-]*\b[^\n|;&]*?\s-p)", value!()),
        typed,
    ),
    family(
        "password",
        "redis-cli|mongo|docker|podman|ldap|smbclient|unzip|zip|7z|htpasswd|passin|passout|chpasswd",
        concat!(
            r"(?:\bredis-cli\b[^\n|;&]*?\s-a\s+|\bmongo[a-z]*\b[^\n|;&]*?\s-p\s+",
            r"|\b(?:docker|podman)\s+login\b[^\n|;&]*?\s-p\s+|\bldap[a-z]+\b[^\n|;&]*?\s-w\s+",
            r"|\bsmbclient\b[^\n|;&]*?\s-U\s*[^\s%]+%|\b(?:un)?zip\b[^\n|;&]*?\s-P\s*|\b7za?\b[^\n|;&]*?\s-p",
            r"|\bhtpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+(?:-\S+\s+)*\S+\s+\S+\s+|-pass(?:in|out)\s+pass:)",
            value!()
        ),
        typed,
    ),
    family(
        "password",
        "--[a-z-]*pass",
        concat!(r"--(?:[a-z]+-)*(?:password|passwd|passphrase|pass)(?:=|\s+)", value!()),
        typed,
    ),
    family(
        "password",
        "(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD)=",
        concat!(r"\b[A-Z][A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD)=", value!()),
        typed,
    ),
    family(
        "env-secret",
        r"-e\b|--env",
        concat!(
            r#"(?i)\s(?:-e|--env)(?:\s+|=)["']?[a-z][a-z0-9_]*(?:password|passwd|pwd|pass|secret|token|key|dsn|credentials?)="#,
            value!()
        ),
        typed,
    ),
    family(
        "password",
        "password",
        concat!(
            r"\b(?:machine",
            gap!(),
            r"\S+|default",
            gap!(),
            "login",
            gap!(),
            r"\S+)(?:",
            gap!(),
            r"(?:login|account|user)",
            gap!(),
            r"\S+)*",
            gap!(),
            "password",
            gap!(),
            r"(\S+)"
        ),
        typed,
    ),
    family("password", "password", r"(?m)^[ \t0-9→]*password[ \t]+(\S+)[ \t]*$", typed),
    family(
        "password",
        "(?i)pass(?:word|wd|phrase)?|pwd",
        r#"(?mi)^[ \t0-9→+-]*["']?[a-z0-9_.-]*(?:password|passwd|passphrase|pwd|[_-]pass|\bpass)["']?[ \t]*:[ \t]+(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'#\[{|>!&*]\S*))[ \t]*(?:#[^\n]*)?\r?$"#,
        yaml_value,
    ),
];

/// Rejects the keys of Amazon's own documentation, which end in this way.
fn no_example(text: &str) -> bool {
    !text.ends_with("EXAMPLE")
}

/// A quoted value after `token` and the like: prose and identifiers are not secrets.
fn quoted_or_key(text: &str) -> bool {
    quoted_value(text) && text.bytes().any(|byte| byte.is_ascii_digit())
}
