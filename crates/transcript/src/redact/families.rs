//! The table of secrets: the name and the patterns of each kind.
// tidy: flat table
use super::plausible::{
    any, bare_value, cookie_value, encoded_login, key, marked_key, mnemonic, password, pgpass, quoted_value,
    typed, url_key, xml_value, yaml_value,
};

// Parts that several patterns share; `concat!` does not accept constants.

/// The body of a key block up to its end, or as far as it goes if the end is missing. Lines may carry numbers
/// or the marks of a diff, and line ends may be escaped.
macro_rules! key_body {
    () => {
        r"(?:(?:[^-]|-[^-])*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\[nr]|[0-9]{1,6}(?:→|:)|[+-])*[A-Za-z0-9+/=]{16,})*)"
    };
}

/// From a name to its value: a closing quote (escaped or not), a sign, the marks of a YAML block or list, an
/// opening quote.
macro_rules! then {
    () => {
        r#"\\*["']?\]?\s*(?::=|=>|[:=])\s*(?:[|>][+-]?[ \t]*\r?\n\s*)?(?:-[ \t]+)?\\*["'`]?"#
    };
}

/// The same for a value in quotes: a type may stand before the sign, and a list may begin behind it.
macro_rules! then_quoted {
    () => {
        r#"\\*["']?\]?\s*(?::=|=>|:[ \t]*[&A-Za-z_][A-Za-z0-9_<>\[\]&' .|?]{0,32}?=|[:=])\s*(?:\[\s*|[bruf])?\\*["'`]"#
    };
}

/// Options and arguments of a command up to an option; a command may go on after an escaped line end.
macro_rules! options {
    () => {
        r"(?:[^\n\\|;&]|\\(?:\r?\n|[^\n]))*?\s"
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
        "(?i)(?:secret|token|(?:api|access|private|signing|encryption|decryption|account|auth|master|app|application|shared|preshared|storage|subscription|hmac|jwt|session|consumer|cipher|crypto|aes|service|service[_-]role|deploy|license|client|webhook|admin|ingest|function|primary|secondary)[_ -]?key|credential|passcode)s?(?:[_-]?(?:key|value|string|base|hex|base64|b64|data|text|plain|id|[0-9]{1,3})){0,2}"
    };
}

/// Names of passwords and of other secrets, for positions where nothing but a name can stand.
macro_rules! any_name {
    () => {
        "(?:password|passwd|passphrase|passcode|pwd|secret|token|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|account[_-]?key|auth[_-]?key|client[_-]?key|master[_-]?key)"
    };
}

/// The values of a secret of Kubernetes, one per line.
macro_rules! kubernetes_data {
    () => {
        r#"[ \t]*\r?\n((?:[ \t0-9→]*[ \t]+["']?[A-Za-z0-9_.-]+["']?:[^\n]*(?:\n|$))+)"#
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
    /// Finds the secrets inside of that match, if it may hold several.
    pub(super) each: Option<&'static str>,
    /// Returns true if the match looks like a secret.
    pub(super) accept: fn(&str) -> bool,
}

const fn family(
    name: &'static str,
    hint: &'static str,
    pattern: &'static str,
    accept: fn(&str) -> bool,
) -> Family {
    Family { name, hint, pattern, each: None, accept }
}

/// A family whose pattern matches a list, and `each` the secrets in it.
const fn list(
    name: &'static str,
    hint: &'static str,
    pattern: &'static str,
    each: &'static str,
    accept: fn(&str) -> bool,
) -> Family {
    Family { name, hint, pattern, each: Some(each), accept }
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
    family(
        "private-key",
        "LS0tLS1CRUdJTi",
        // `-----BEGIN … PRIVATE` in base64, of PKCS #8, RSA, EC, OpenSSH, DSA, PGP and encrypted keys.
        r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NI|BEU0EgUFJJVkFURS|BQR1AgUFJJVkFURS|BFTkNSWVBURUQgUFJJVkFURS)[A-Za-z0-9+/=_-]*(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{40,})*",
        any,
    ),
    family(
        "extended-private-key",
        "[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{8}",
        r"\b[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{80,112}\b",
        any,
    ),
    list(
        "json-web-key",
        "kty",
        r#"\{[^{}]*\\*["']kty\\*["'][^{}]*\}"#,
        r#"\\*["'](?:d|p|q|dp|dq|qi|k)\\*["']\s*:\s*\\*["']([A-Za-z0-9_-]{16,})"#,
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
    family("openai-session-key", "sess-", r"\bsess-[A-Za-z0-9]{40,}", any),
    family("elevenlabs-key", "sk_", r"\bsk_[0-9a-f]{48}\b", any),
    family("cerebras-key", "csk-", r"\bcsk-[a-z0-9]{40,}", marked_key),
    family("fireworks-key", "fw_", r"\bfw_[A-Za-z0-9]{22,}\b", key),
    family("together-key", "tgp_v1_", r"\btgp_v1_[A-Za-z0-9_-]{30,}", any),
    family("langsmith-key", "lsv2_", r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", any),
    family("tavily-key", "tvly-", r"\btvly-[A-Za-z0-9_-]{20,}", key),
    family("pinecone-key", "pcsk_", r"\bpcsk_[A-Za-z0-9_]{40,}", any),
    family("firecrawl-key", "fc-", r"\bfc-[0-9a-f]{32}\b", any),
    family("e2b-key", "e2b_", r"\be2b_[0-9a-f]{40}\b", any),
    family(
        "bedrock-key",
        "ABSK|bedrock-api-key-",
        r"\bABSK[A-Za-z0-9+/]{60,}={0,2}|\bbedrock-api-key-[A-Za-z0-9+/=]{20,}",
        any,
    ),
    // Code hosting and packages.
    family("github-token", "gh[pousr]_", r"gh[pousr]_[A-Za-z0-9_]{36,}", any),
    family("github-pat", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}", any),
    family(
        "gitlab-token",
        "gl[a-z]{2,6}-|GR1348941",
        r"\bgl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_-]{20,}(?:\.[0-9A-Za-z]{2,20})*|\bGR1348941[A-Za-z0-9_-]{20,}",
        marked_key,
    ),
    family("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36,}", any),
    family("pypi-token", "pypi-A", r"\bpypi-A[A-Za-z0-9_-]{50,}", any),
    family("crates-token", "cio", r"\bcio[A-Za-z0-9]{32}\b", key),
    family("rubygems-key", "rubygems_", r"\brubygems_[0-9a-f]{48}", any),
    family("docker-token", "dckr_[a-z]", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", any),
    family(
        "atlassian-token",
        "ATATT3|ATCTT3|ATBB",
        r"\b(?:ATATT3|ATCTT3)[A-Za-z0-9_=-]{50,}|\bATBB[A-Za-z0-9_=-]{24,}",
        any,
    ),
    family("linear-key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}", any),
    family(
        "notion-token",
        "ntn_|secret_[A-Za-z0-9]{12}",
        r"\bntn_[A-Za-z0-9]{40,}|\bsecret_[A-Za-z0-9]{43}\b",
        key,
    ),
    family("nuget-key", "oy2", r"\boy2[a-z0-9]{43}\b", any),
    family("artifactory-key", "AKCp|cmVmd", r"\bAKCp[A-Za-z0-9]{60,}\b|\bcmVmd[A-Za-z0-9]{59}\b", any),
    family("clojars-token", "CLOJARS_", r"\bCLOJARS_[0-9a-z]{60}", any),
    family("circleci-token", "CCIP", r"\bCCIP(?:AT|RJ)_[A-Za-z0-9_]{20,}", any),
    family("buildkite-token", "bk[a-z]{2}_", r"\bbk(?:ua|aj|pt|at)_[0-9a-f]{40}", any),
    family("sonar-token", "sq[upa]_", r"\bsq[upa]_[0-9a-f]{40}", any),
    family("sourcegraph-token", "sg[pd]_", r"\bsg[pd]_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40,}", any),
    family("octopus-key", "API-[A-Z0-9]{12}", r"\bAPI-[A-Z0-9]{26,}\b", key),
    family("jfrog-token", "jfrt@", r"\bjfrt@[A-Za-z0-9]{20,}", any),
    family("airtable-token", "pat[A-Za-z0-9]{10}", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}", any),
    family("asana-token", "[12]/[0-9]{8}", r"\b[12]/[0-9]{12,}(?:/[0-9]{12,})?:[0-9a-f]{32}\b", any),
    family("contentful-token", "CFPAT-", r"\bCFPAT-[A-Za-z0-9_-]{40,}", any),
    family("typeform-token", "tfp_", r"\btfp_[A-Za-z0-9_.=-]{40,}", any),
    family("postman-key", "PMA[KT]-", r"\bPMA[KT]-[A-Za-z0-9][A-Za-z0-9-]{19,}", key),
    family("readme-key", "rdme_", r"\brdme_[a-z0-9]{60,}", any),
    family("prefect-key", "pn[ub]_", r"\bpn[ub]_[A-Za-z0-9]{36}\b", any),
    family("hubspot-token", "pat-[a-z]{2}[0-9]-", r"\bpat-[a-z]{2}[0-9]-[0-9a-fA-F-]{36}", any),
    family("wakatime-key", "waka_", r"\bwaka_[0-9a-f-]{36}", any),
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
    family("azure-signature", "sig=", r"\bsig=([A-Za-z0-9%+/_-]{30,}(?:=|%3[Dd])*)", key),
    family(
        "azure-client-secret",
        "[0-9]Q~",
        r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
        any,
    ),
    family(
        "url-signature",
        "(?i)signature=",
        r"(?i)[?&;](?:X-Amz-Signature|X-Goog-Signature|Signature)=([A-Za-z0-9%+/=_~-]{20,})",
        url_key,
    ),
    family("alibaba-key", "LTAI", r"\bLTAI[A-Za-z0-9]{12,26}\b", key),
    family("amazon-mws-token", r"amzn\.mws\.", r"\bamzn\.mws\.[0-9a-f-]{36}", any),
    family(
        "yandex-key",
        r"AQVN|t1\.9",
        r"\bAQVN[A-Za-z0-9_-]{35,}|\bt1\.[A-Za-z0-9_-]{2,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}",
        any,
    ),
    family(
        "cloudflare-token",
        r"v1\.0-|cf(?:ut|at|k)_",
        r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}|\bcf(?:ut|at|k)_[A-Za-z0-9_-]{40,}",
        any,
    ),
    family(
        "supabase-key",
        "sbp_|sb_secret_",
        r"\bsbp_(?:[a-z0-9]+_)?[0-9a-f]{40,}|\bsb_secret_[A-Za-z0-9_-]{20,}",
        any,
    ),
    family("planetscale-token", "pscale_", r"\bpscale_(?:tkn|oauth|pw|otkn)_[A-Za-z0-9_=.-]{30,}", any),
    family("neon-key", "napi_", r"\bnapi_[a-z0-9]{40,}", any),
    family("aiven-password", "AVNS_", r"\bAVNS_[A-Za-z0-9_-]{12,}", any),
    family("netlify-token", "nfp_", r"\bnfp_[A-Za-z0-9]{36,}", any),
    family("render-key", "rnd_", r"\brnd_[A-Za-z0-9]{28,}", key),
    family("vercel-token", "vc[pciar]k?_", r"\bvc[pciar]k?_[A-Za-z0-9]{24,}", key),
    family("terraform-token", r"\.atlasv1\.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}", any),
    family(
        "doppler-token",
        r"dp\.(?:[psc]t|sa|said|scim|audit)\.",
        r"\bdp\.(?:pt|st|ct|sa|said|scim|audit)\.[A-Za-z0-9_.-]{20,}",
        key,
    ),
    family("infracost-key", "ico-", r"\bico-[A-Za-z0-9]{32}\b", key),
    family("openshift-token", "sha256~", r"\bsha256~[A-Za-z0-9_-]{43}", any),
    family(
        "harness-token",
        r"[ps]at\.[A-Za-z0-9_-]{12}",
        r"\b[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}\b",
        any,
    ),
    family("scalingo-token", "tk-us-", r"\btk-us-[A-Za-z0-9_-]{48}", any),
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
    family(
        "teams-webhook",
        r"webhook\.office\.com",
        r"webhook\.office\.com/webhookb2/([0-9a-fA-F@/-]{36,}(?:IncomingWebhook/[0-9a-zA-Z/-]+)?)",
        any,
    ),
    family(
        "zapier-webhook",
        r"hooks\.zapier\.com",
        r"hooks\.zapier\.com/hooks/catch/([A-Za-z0-9/]{8,})",
        any,
    ),
    family("facebook-token", "EAA[A-Z]", r"\bEAA[A-Z][A-Za-z0-9]{80,}", any),
    family("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"\bA{21,22}[A-Za-z0-9%]{60,}", any),
    family("firebase-key", ":APA91b", r"\bAAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}", any),
    family("twitch-token", "oauth:", r"\boauth:([a-z0-9]{30})\b", key),
    family("mailchimp-key", "-us[0-9]", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b", any),
    family("brevo-key", "x(?:key|smtp)sib-", r"\bx(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}", any),
    family("resend-key", "re_[A-Za-z0-9]{8}_", r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", key),
    family(
        "plaid-token",
        "access-(?:sandbox|development|production)-",
        r"\baccess-(?:sandbox|development|production)-[0-9a-f-]{36}",
        any,
    ),
    family(
        "braintree-token",
        r"access_token\$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
        any,
    ),
    family("shippo-token", "shippo_", r"\bshippo_(?:live|test)_[0-9a-fA-F]{40}", any),
    family("easypost-key", "EZ[AT]K", r"\bEZ[AT]K[A-Za-z0-9]{54}\b", any),
    family("duffel-token", "duffel_", r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{40,}", any),
    family("flutterwave-key", "FLWSECK", r"\bFLWSECK(?:_TEST)?-[0-9A-Za-z]{12,}(?:-X)?", any),
    family("dropbox-token", r"sl\.(?:u\.)?[A-Za-z0-9_=-]{12}", r"\bsl\.(?:u\.)?[A-Za-z0-9_=-]{100,}", any),
    family("square-token", "sq0|EAAA", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}|\bEAAA[A-Za-z0-9_-]{60}\b", any),
    family("sendgrid-key", r"SG\.", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", any),
    family(
        "mailgun-key",
        "key-|-[0-9a-f]{8}-[0-9a-f]{8}",
        r"\bkey-[0-9a-f]{32}\b|\b[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b",
        key,
    ),
    family("twilio-key", "SK[0-9a-f]", r"\bSK[0-9a-f]{32}\b", any),
    family("shopify-token", "shp[a-z]{2,3}_", r"\bshp(?:at|ca|pa|ss|ua|tka)_[0-9A-Fa-f]{32}", any),
    // Monitoring and work tools.
    family(
        "sentry-dsn",
        URL_LOGIN,
        r"\bhttps?://([A-Za-z0-9]{3,64}(?::[A-Za-z0-9]{3,64})?)@[A-Za-z0-9.-]*(?:sentry|glitchtip|bugsink)[A-Za-z0-9.-]*(?::[0-9]+)?/|\bhttps?://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[A-Za-z0-9.-]+(?::[0-9]+)?/[0-9]+",
        password,
    ),
    family("sentry-token", "sntry[su]_", r"\bsntry[su]_[A-Za-z0-9_=+/-]{40,}", any),
    family(
        "grafana-token",
        "glsa_|glc_|eyJrIjoi",
        r"\bglsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|\bglc_[A-Za-z0-9+/=]{32,}|\beyJrIjoi[A-Za-z0-9]{60,}={0,2}",
        any,
    ),
    family(
        "newrelic-key",
        "NR(?:AK|II|JS|RA|IQ)-|NRAL",
        r"\bNR(?:AK|II|JS|RA|IQ)-[A-Za-z0-9_-]{18,}|\b[0-9a-f]{36}NRAL\b",
        any,
    ),
    family(
        "dynatrace-token",
        r"dt0[a-z][0-9]{2}\.",
        r"\bdt0[a-z][0-9]{2}\.[A-Z0-9]{20,}\.[A-Z0-9]{60,}",
        any,
    ),
    family("honeycomb-key", "hc[a-z]ik_", r"\bhc[a-z]ik_[A-Za-z0-9]{50,}", any),
    family("posthog-key", "ph[xs]_", r"\bph[xs]_[A-Za-z0-9]{40,}", any),
    family("maxmind-key", "_mmk", r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b", any),
    family("mapbox-token", r"sk\.eyJ", r"\bsk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{16,}", any),
    family("adobe-secret", "p8e-", r"\bp8e-[A-Za-z0-9_-]{32}\b", any),
    family(
        "onepassword-key",
        "A3-",
        r"\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b",
        any,
    ),
    family("onepassword-token", "ops_eyJ", r"\bops_eyJ[A-Za-z0-9_-]{40,}={0,2}", any),
    family("figma-token", "fig[dour]{1,2}_", r"\bfig(?:d|u|o|ur|or)_[A-Za-z0-9_-]{30,}", any),
    // Formats that many services share.
    family("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", any),
    family(
        "database-url",
        URL_LOGIN,
        r#"(?:postgres|mysql|mariadb|mongodb|redis|amqp|sqlserver|mssql|clickhouse|cockroach|couchbase|neo4j|bolt)[a-z0-9+]*://[^\s:/@"'`]*:([^\s/?#"'`]+)@"#,
        password,
    ),
    family(
        "url-password",
        URL_LOGIN,
        r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@"'`<>]*:([^\s/?#"'`<>]+)@"#,
        password,
    ),
    family("url-password", URL_LOGIN, "://([A-Za-z0-9_.~%-]{16,})@[A-Za-z0-9]", url_key),
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
        "authorization",
        "(?i)authorization",
        concat!(r"(?i)authorization", then!(), r"([A-Za-z0-9._~+/=-]{20,})"),
        key,
    ),
    family("authorization", "(?i)basic", r"(?i)\bbasic\s+([A-Za-z0-9+/_-]{6,}={0,2})", encoded_login),
    family(
        "docker-auth",
        r#"auth["'\\]* *[:=]"#,
        r#"\b_?auth\\*["']?\s*[:=]\s*\\*["']?([A-Za-z0-9+/_-]{6,}={0,2})"#,
        encoded_login,
    ),
    family(
        "basic-auth",
        "curl",
        concat!(
            r"\bcurl\b",
            options!(),
            r#"(?:-u|--user|-U|--proxy-user)(?:\s*|=)["']?[^\s:"'$=-][^\s:"'$]*:([^\s"']{3,})"#
        ),
        password,
    ),
    family(
        "basic-auth",
        r#"-a[\s=\\"']|--auth"#,
        concat!(
            r"\b(?:https?|xhs?)\s",
            r"(?:[^\n\\|;&]|\\(?:\r?\n|[^\n]))*?",
            r#"(?:-a|--auth)(?:\s+|=)["']?[^\s:"'$=-][^\s:"'$]*:([^\s"']+)"#
        ),
        password,
    ),
    family(
        "basic-auth",
        r"(?i)auth *= *\(|basic_?auth\(|networkcredential",
        r#"(?i)(?:\bauth\s*=\s*\(|basic_?auth\(|NetworkCredential\()\s*\\*["'][^"'\n]*["']\s*,\s*\\*["']([^"'\n\\]+)"#,
        password,
    ),
    // Cookies: each has a value of its own.
    list(
        "cookie",
        "(?i)cookie",
        r#"(?i)\b(?:[a-z0-9-]*-)?cookies?2?\\*["']?\]?\s*[:=]\s*\\*["'`]?([^\n"'`\\{]{6,}|\{[^\n{}]{6,}\})"#,
        COOKIES,
        cookie_value,
    ),
    list(
        "cookie",
        r#"-b[\s=\\"']|--cookie"#,
        concat!(
            r"\b(?:curl|wget|https?|xhs?)\b",
            options!(),
            r#"(?:-b|--cookie)(?:\s+|=)(\\*"[^"\n]+|'[^'\n]+|[^\s"'$=]+=[^\s]+)"#
        ),
        COOKIES,
        cookie_value,
    ),
    family(
        "cookie",
        r"(?:TRUE|FALSE)(?:\t|\\+t)/",
        r"(?:TRUE|FALSE)(?:\t|\\t)/\S*?(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)[0-9]+(?:\t|\\t)[^\s\\]+(?:\t|\\t)([^\s\\]+)",
        cookie_value,
    ),
    // Hashes of passwords, which can be tried at leisure.
    family(
        "password-hash",
        r"\$(?:2[abxy]?|apr1|1|5|6|7|y|gy|argon2[a-z]{1,2}|scrypt)\$|\{S?SHA|\{(?:S?MD5|CRYPT|PBKDF2)|(?:pbkdf2|scrypt|SCRAM)[-:_$]",
        concat!(
            r"\${1,2}2[abxy]?\${1,2}[0-9]{2}\${1,2}[./A-Za-z0-9]{22,}",
            r"|\${1,2}(?:apr1|1)\${1,2}[^\s$:]{1,16}\${1,2}[./A-Za-z0-9]{20,}",
            r"|\${1,2}[567]\${1,2}(?:rounds=[0-9]+\${1,2})?[^\s$:]{1,64}\${1,2}[./A-Za-z0-9]{20,}",
            r"|\${1,2}g?y\${1,2}[./A-Za-z0-9]+\${1,2}[./A-Za-z0-9]+\${1,2}[./A-Za-z0-9]{20,}",
            r"|\$(?:argon2[a-z]{1,2}|scrypt)\$[^\s:]{20,}",
            r"|\{(?:S?SHA(?:-?[0-9]{3})?|S?MD5|CRYPT|PBKDF2[A-Z0-9-]*)\}[./A-Za-z0-9+=$,]{12,}",
            r"|\bpbkdf2(?::|_)[a-z0-9]+[:$][0-9]+[:$][^\s$:]+\$[A-Za-z0-9+/=]{20,}",
            r"|\bscrypt:[0-9:]+\$[^\s$]+\$[0-9a-f]{40,}",
            r"|\bSCRAM-SHA-[0-9]+\$[0-9]+:[A-Za-z0-9+/=]+\$[A-Za-z0-9+/=:]{20,}"
        ),
        any,
    ),
    family("password-hash", "[0-9a-fA-F]:::", r"\b[0-9a-fA-F]{32}:[0-9a-fA-F]{32}:::", any),
    // Words that restore a wallet.
    family(
        "mnemonic",
        MNEMONIC_NAMES,
        concat!(
            r"(?i)(?:mnemonic|bip-?39|(?:seed|recovery|secret|backup|wallet|passphrase)[ _-]?(?:recovery[ _-]?)?(?:phrase|words|seed)|\bseed\b|wallet|metamask|ledger|trezor)",
            r"(?s-i:.{0,80}?)(?-i:(?:^|[^A-Za-z])((?:[a-z]{3,8}(?:\\n|[\s,;\x22'\\]|[0-9]{1,2}[.):]?)+){11,23}[a-z]{3,8}))(?:[^A-Za-z]|$)"
        ),
        mnemonic,
    ),
    // Values identified by their names.
    family(
        "password",
        "(?i)pass(?:word|wd|phrase)|pwd",
        concat!(
            r"(?i)(?:pass(?:word|wd|phrase)?|pwd)(?:[_-]?[0-9]{1,2})?",
            then_quoted!(),
            r#"([^\s"'`\\]{5,})"#
        ),
        quoted_value,
    ),
    family(
        "password",
        "(?i)pass(?:word|wd|phrase)|pwd",
        concat!(
            r"(?i)(?:pass(?:word|wd|phrase)|pwd)(?:[_-]?[0-9]{1,2})?",
            then!(),
            r#"([^\s"'`\\,;&<>|()\[\]{}]{6,})"#
        ),
        bare_value,
    ),
    family(
        "assigned-secret",
        NAMES_HINT,
        concat!(names!(), then_quoted!(), r#"([^\s"'`\\]{8,})"#),
        quoted_or_key,
    ),
    family(
        "assigned-secret",
        NAMES_HINT,
        concat!(names!(), then!(), r#"([^\s"'`\\,;&<>|()\[\]{}]{10,})"#),
        bare_value,
    ),
    family(
        "env-secret",
        "(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD|DSN|CREDENTIALS?)=",
        r#"(?m)^[ \t0-9→+:-]*(?:export[ \t]+|set[ \t]+|ENV[ \t]+)?[A-Z][A-Z0-9_]*_?(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD|DSN|CREDENTIALS?)=["']?([^\s"'`]{8,})"#,
        quoted_value,
    ),
    family(
        "password",
        r#"(?i)pass["'\\\]]* *[:=]"#,
        concat!(r"(?i)\bpass", then_quoted!(), r#"([^\s"'`\\]{6,})"#),
        quoted_or_key,
    ),
    family(
        "assigned-secret",
        NAMES_HINT,
        concat!(names!(), r#"\(\s*\\*["']([^\s"'`\\]{8,})\\*["']\s*\)"#),
        quoted_or_key,
    ),
    family(
        "assigned-secret",
        "(?i)-(?:token|secret|api-?key|access-?key|auth-?key|private-?key)",
        r#"(?i)\s--?(?:[a-z0-9]+-)*(?:token|secret|api-?key|access-?key|secret-?key|auth-?key|private-?key)(?:\s+|=)["']?([^\s"'`;&|<>]{8,})"#,
        bare_value,
    ),
    family(
        "password",
        "(?i)pass(?:word|wd|phrase)",
        r#"(?i)pass(?:word|wd|phrase)\(\s*\\*["']([^\s"'`\\]{6,})\\*["']\s*\)"#,
        quoted_or_key,
    ),
    // Elements and attributes of XML, and lists of names and values.
    family(
        "xml-secret",
        concat!("(?i)", any_name!()),
        concat!(
            r"(?i)(?:<|&lt;|\\*u003c)[a-z0-9_:.-]*",
            any_name!(),
            r#"(?:[_.-]?(?:value|key|text|string|hash|data|[0-9]{1,3}))?(?:\s[^<>\n]*)?(?:>|&gt;|\\*u003e)(?:\s|\\[nrt])*(?:<!\[CDATA\[)?([^<>\s\\&\]][^<>\n\\\]]*?)(?:\]\]>)?(?:\s|\\[nrt])*(?:<|&lt;|\\*u003c)\\?/"#
        ),
        xml_value,
    ),
    family(
        "named-value",
        concat!("(?i)", any_name!()),
        concat!(
            r#"(?i)\b(?:name|key|id|variable|property)\\*["']?\s*[:=]\s*\\*["']?[a-z0-9_:./-]*"#,
            any_name!(),
            r#"s?\\*["']?(?:\s|\\[nrt]|,|[a-z]+=\\*["'][^"'<>\n]*["'])*?\\*["']?\bvalue\\*["']?\s*[:=]\s*(?:\\*"([^"\n\\]+)|\\*'([^'\n\\]+)|([^\s"'\\<>]+))"#
        ),
        xml_value,
    ),
    family(
        "named-value",
        concat!("(?i)", any_name!()),
        concat!(
            r#"(?i)\bvalue\s*=\s*\\*["']([^"'\n\\]+)\\*["']\s+(?:key|name|id)\s*=\s*\\*["'][a-z0-9_:.-]*"#,
            any_name!()
        ),
        xml_value,
    ),
    family(
        "named-value",
        concat!("(?i)", any_name!()),
        concat!(
            r#"(?i)<[a-z]+\s[^<>\n]*?(?:key|name|id)\s*=\s*\\*["'][a-z0-9_:.-]*"#,
            any_name!(),
            r#"s?\\*["'][^<>\n]*>\s*([^<>\s\\][^<>\n\\]*?)\s*<\\?/(?:string|entry|property|prop|param|value|setting|item|var)"#
        ),
        xml_value,
    ),
    list(
        "kubernetes-secret",
        r#"kind\\*["']?:\s*\\*["']?Secret|stringData"#,
        concat!(
            r#"(?m)(?:kind:[ \t]*["']?Secret["']?[ \t]*\r?\n(?:[^\n]*\n){0,24}?[ \t0-9→]*data:"#,
            kubernetes_data!(),
            r"|^[ \t0-9→]*stringData:",
            kubernetes_data!(),
            r"|^[ \t0-9→]*data:",
            kubernetes_data!(),
            r#"(?:[^\n]*\n){0,24}?[ \t0-9→]*kind:[ \t]*["']?Secret\b)"#
        ),
        r#"(?m)^[ \t0-9→]*["']?[A-Za-z0-9_.-]+["']?:[ \t]*["']?([^\s"'|>{][^\s"']*)["']?[ \t]*\r?$"#,
        typed,
    ),
    list(
        "kubernetes-secret",
        r#"kind\\*["']?:\s*\\*["']?Secret|stringData"#,
        concat!(
            r#""kind"\s*:\s*"Secret"(?s:.{0,2000}?)"(?:data|stringData)"\s*:\s*\{([^{}]*)\}"#,
            r#"|"(?:data|stringData)"\s*:\s*\{([^{}]*)\}(?s:.{0,2000}?)"kind"\s*:\s*"Secret""#
        ),
        r#":\s*"([^"]+)""#,
        typed,
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
        "-pass|openssl|keytool|jarsigner|ssh-keygen",
        concat!(
            r#"(?:-pass(?:in|out|word|phrase)?(?:\s+|=)["']?pass:(?:["'])?|\bopenssl\b[^\n|;&]*?\s-[kK]\s+"#,
            r"|-(?:src|dest)?(?:store|key)pass\s+|\bssh-keygen\b[^\n|;&]*?\s-[NP]\s*)",
            value!()
        ),
        typed,
    ),
    family(
        "password",
        "(?i)securestring|/pass(?:word)?:|freerdp|net +user|-password",
        concat!(
            r"(?i)(?:\bConvertTo-SecureString(?:\s+-(?:String|AsPlainText|Force))*\s+\(?|\s/pass(?:word)?:|\bx?freerdp[0-9]?\b[^\n|;&]*?\s/p:|\bnet\s+user\s+(?:/add\s+)?[^\s/]+\s+|\s-(?:[a-z]+)?password\s+\(?)",
            value!()
        ),
        typed,
    ),
    family(
        "password",
        "(?i)securestring",
        r#"(?i)\\*(?:"([^"\n\\]+)\\*"|'([^'\n\\]+)\\*')\s*\|\s*ConvertTo-SecureString"#,
        typed,
    ),
    list(
        "password",
        "chpasswd",
        concat!(
            r"(?:(?:echo|printf)\s([^\n|]+)\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:/usr)?(?:/sbin/)?chpasswd",
            r"|chpasswd\b[^\n<]*<<<\s*([^\n]+)|chpasswd\b[^\n<]*<<-?[^\n<]+\n((?:[ \t]*[A-Za-z_][A-Za-z0-9_.-]*:[^\n]+(?:\n|$))+))"
        ),
        r#"[A-Za-z_][A-Za-z0-9_.-]*:((?:[^\s"'|\\;]|\\[^nrt"'])+)"#,
        typed,
    ),
    family(
        "password",
        "passwd|sudo|-stdin|cryptsetup|kinit",
        concat!(
            r#"\b(?:echo|printf)\s+(?:-[a-zA-Z]+\s+|["']%s(?:\\+n)?["']\s+)*"#,
            r#"(?:\\*"([^"\n\\]+)(?:\\+n[^"\n]*)?\\*"|'([^'\n\\]+)(?:\\+n[^'\n]*)?'|([^\s"'`;&|<>\\]+))\s*\|\s*(?:sudo\s+-[a-zA-Z]*S|(?:sudo\s+)?(?:passwd\b|cryptsetup\b|kinit\b|[a-z-]+\s[^\n|;&]*--?(?:password|passphrase)?-?stdin))"#
        ),
        typed,
    ),
    list(
        "kubernetes-secret",
        "create +secret",
        concat!(r"\bcreate\s+secret\s", r"((?:[^\n\\|;&]|\\(?:\r?\n|[^\n]))*)"),
        concat!(r#"--from-literal(?:=|\s+)["']?[A-Za-z0-9_.-]+="#, value!()),
        typed,
    ),
    family(
        "password",
        "(?i)secret +set|configure +set|git +config|config +set|--set",
        concat!(
            r#"(?i)(?:\bsecret\s+set\b[^\n|;&]*?\s(?:--body|-b)(?:\s+|=)|\bconfigure\s+set\s+\S*(?:secret|token|password)\S*\s+|\b(?:git\s+config|config\s+set)\b[^\n|;&]*?(?:token|password|secret)\s+|--set(?:-string)?(?:\s+|=)["']?[a-z0-9_.,=-]*(?:password|secret|token|api_?key)=)"#,
            value!()
        ),
        typed,
    ),
    family(
        "password",
        r":(?:\*|[0-9]{4,5}):",
        r#"(?m)(?:^|["'\s→])(?:\*|[A-Za-z0-9_.-]{3,}):(?:\*|[0-9]{4,5}):[^:\s"'/]+:[^:\s"'/]+:((?:[^\s"'\\:]|\\[:\\])+)(?:["'\\\s]|$)"#,
        pgpass,
    ),
    family("password", "(?i)(?:password|pwd)=", r#"(?i);\s*(?:password|pwd)=([^;"'\s\\]{3,})"#, yaml_value),
    family(
        "password",
        "password=",
        concat!(
            r"\b(?:(?:host|hostaddr|user|dbname|port|sslmode)=\S+\s+password=",
            value!(),
            r#"|password=([^\s"']+)\s+(?:host|hostaddr|user|dbname|port|sslmode)=)"#
        ),
        typed,
    ),
    family(
        "password",
        "(?i)identified|password",
        r"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?by|(?:with|login|encrypted|role\s+\S+|user\s+\S+|set)\s+password(?:\s*=)?)\s+(?:password\s+)?'([^'\n\\]+)",
        typed,
    ),
    family(
        "password",
        "(?i)psk",
        r#"(?i)\b(?:wpa[_-])?psk\s*[=:]\s*(?:"([^"\n]{8,63})"|'([^'\n]{8,63})'|([^\s"'#;,]{8,64}))"#,
        yaml_value,
    ),
    family(
        "password",
        "-pass",
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
        r"-e(?:[\s=\\]|$)|--env",
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

/// Matches a part of every name of a secret other than a password.
const NAMES_HINT: &str = "(?i)secret|token|[a-z][_ -]?key|credential|passcode";

/// An address with a user or a password. One hint for all such families is cheaper than one for each.
const URL_LOGIN: &str = r"://[^\s/@]*@";

/// The cookies of a header, of an option or of a table in code.
const COOKIES: &str = r#"(?i)(?:sess|sid|auth|tok|csrf|xsrf|jwt|remember|login|secret|key)[a-z0-9_.-]*\\*["']?\s*[=:]\s*\\*["']?([^;,\s"'\\{}]{4,})|[a-z0-9_.-]+\\*["']?\s*[=:]\s*\\*["']?([^;,\s"'\\{}]{8,})"#;

/// Words that announce the words of a wallet.
const MNEMONIC_NAMES: &str =
    "(?i)mnemonic|bip-?39|phrase|(?:recovery|backup|wallet)[ _-]?words|seed|wallet|metamask|ledger|trezor";

/// Rejects the keys of Amazon's own documentation, which end in this way.
fn no_example(text: &str) -> bool {
    !text.ends_with("EXAMPLE")
}

/// A quoted value after `token` and the like: prose and identifiers are not secrets.
fn quoted_or_key(text: &str) -> bool {
    quoted_value(text) && text.bytes().any(|byte| byte.is_ascii_digit())
}
