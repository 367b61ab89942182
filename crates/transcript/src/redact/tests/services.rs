// tidy: flat table
//! Samples of the tokens of services, and of the forms that have a name of their own.

use super::{hex, letters, mixed, plain, random, upper};

fn lower(length: usize) -> String {
    format!("a1{}", random(11, length - 2, "abcdefghijklmnopqrstuvwxyz0123456789"))
}

fn uuid() -> String {
    format!("{}-{}-{}-{}-{}", hex(8), hex(4), hex(4), hex(4), hex(12))
}

/// Family, text before the secret, the secret, text after it.
pub(super) fn samples() -> Vec<(&'static str, &'static str, String, &'static str)> {
    let pem64 = format!("{}BSU0EgUFJJVkFURSBLRVktLS0tLQ{}", "LS0tLS1CRUdJTi", plain(400));
    vec![
        // Private keys.
        ("private-key", "    client-key-data: ", pem64.clone(), "\n"),
        ("private-key", "{\"client-key-data\":\"", pem64, "\"}"),
        (
            "extended-private-key",
            "",
            format!("x{}{}", "prv", random(4, 107, "ABCDEFGHJKLMNPabcdefghijk123456789")),
            "",
        ),
        ("json-web-key", "{\"kty\":\"OKP\",\"x\":\"abc\",\"d\":\"", plain(43), "\"}"),
        // Model providers.
        ("openai-session-key", "", format!("{}-{}", "sess", plain(40)), ""),
        ("elevenlabs-key", "", format!("{}_{}", "sk", hex(48)), ""),
        ("cerebras-key", "", format!("{}-{}", "csk", lower(48)), ""),
        ("fireworks-key", "", format!("{}_{}", "fw", plain(24)), ""),
        ("together-key", "", format!("{}_v1_{}", "tgp", mixed(43)), ""),
        ("langsmith-key", "", format!("{}_pt_{}_{}", "lsv2", hex(32), hex(10)), ""),
        ("tavily-key", "", format!("{}-dev-{}", "tvly", plain(32)), ""),
        ("pinecone-key", "", format!("{}_{}_{}", "pcsk", plain(6), plain(60)), ""),
        ("firecrawl-key", "", format!("{}-{}", "fc", hex(32)), ""),
        ("e2b-key", "", format!("{}_{}", "e2b", hex(40)), ""),
        ("bedrock-key", "", format!("{}{}=", "ABSK", plain(120)), ""),
        // Code hosting, packages and work tools.
        ("gitlab-token", "", format!("{}{}", "GR1348941", mixed(20)), ""),
        ("gitlab-token", "", format!("{}-{}", "gloas", mixed(64)), ""),
        ("atlassian-token", "", format!("{}{}", "ATBB", plain(32)), ""),
        ("notion-token", "", format!("{}_{}", "secret", plain(43)), ""),
        ("nuget-key", "", format!("{}{}", "oy2", lower(43)), ""),
        ("artifactory-key", "", format!("{}{}", "AKCp", plain(69)), ""),
        ("clojars-token", "", format!("{}_{}", "CLOJARS", lower(60)), ""),
        ("circleci-token", "", format!("{}_{}_{}", "CCIPAT", plain(22), hex(40)), ""),
        ("buildkite-token", "", format!("{}_{}", "bkua", hex(40)), ""),
        ("sonar-token", "", format!("{}_{}", "squ", hex(40)), ""),
        ("sourcegraph-token", "", format!("{}_{}_{}", "sgp", hex(16), hex(40)), ""),
        ("octopus-key", "", format!("{}-{}", "API", upper(26)), ""),
        ("jfrog-token", "", format!("{}@{}", "jfrt", plain(26)), ""),
        ("airtable-token", "", format!("{}{}.{}", "pat", plain(14), hex(64)), ""),
        ("asana-token", "", format!("{}/1234567890123456:{}", "1", hex(32)), ""),
        ("contentful-token", "", format!("{}-{}", "CFPAT", mixed(43)), ""),
        ("typeform-token", "", format!("{}_{}", "tfp", mixed(59)), ""),
        ("postman-key", "", format!("{}-{}-{}", "PMAK", hex(24), hex(34)), ""),
        ("readme-key", "", format!("{}_{}", "rdme", lower(70)), ""),
        ("prefect-key", "", format!("{}_{}", "pnu", plain(36)), ""),
        ("hubspot-token", "", format!("{}-na1-{}", "pat", uuid()), ""),
        ("wakatime-key", "", format!("{}_{}", "waka", uuid()), ""),
        // Cloud providers.
        ("azure-client-secret", "", format!("abc8{}~{}", "Q", plain(33)), ""),
        ("url-signature", "https://b.s3.amazonaws.com/a?x=1&X-Amz-Signature=", hex(64), ""),
        ("alibaba-key", "", format!("{}{}", "LTAI", plain(20)), ""),
        ("amazon-mws-token", "", format!("{}.mws.{}", "amzn", uuid()), ""),
        ("yandex-key", "", format!("{}{}", "AQVN", mixed(36)), ""),
        ("cloudflare-token", "", format!("{}-{}-{}", "v1.0", hex(24), hex(146)), ""),
        ("supabase-key", "", format!("{}_{}", "sbp", hex(40)), ""),
        ("supabase-key", "", format!("sb_{}_{}", "secret", mixed(31)), ""),
        ("planetscale-token", "", format!("{}_tkn_{}", "pscale", mixed(43)), ""),
        ("neon-key", "", format!("{}_{}", "napi", lower(64)), ""),
        ("aiven-password", "", format!("{}_{}", "AVNS", mixed(19)), ""),
        ("netlify-token", "", format!("{}_{}", "nfp", plain(36)), ""),
        ("render-key", "", format!("{}_{}", "rnd", plain(28)), ""),
        ("vercel-token", "", format!("{}_{}", "vcp", plain(56)), ""),
        ("terraform-token", "", format!("{}.{}.{}", plain(14), "atlasv1", mixed(67)), ""),
        ("doppler-token", "", format!("{}.pt.{}", "dp", plain(43)), ""),
        ("doppler-token", "", format!("{}.st.dev_personal.{}", "dp", plain(40)), ""),
        ("infracost-key", "", format!("{}-{}", "ico", plain(32)), ""),
        ("openshift-token", "", format!("{}~{}", "sha256", mixed(43)), ""),
        ("harness-token", "", format!("{}.{}.{}.{}", "pat", plain(22), hex(24), plain(20)), ""),
        ("scalingo-token", "", format!("tk-{}-{}", "us", mixed(48)), ""),
        // Messaging and payments.
        (
            "teams-webhook",
            "https://a.webhook.office.com/webhookb2/",
            format!("{0}@{0}/IncomingWebhook/{1}/{0}", uuid(), hex(32)),
            "",
        ),
        ("zapier-webhook", "https://hooks.zapier.com/hooks/catch/", "1234567/b2c3d4e/".to_owned(), ""),
        ("facebook-token", "", format!("{}{}", "EAAC", plain(150)), ""),
        ("twitter-token", "", format!("{}{}", "A".repeat(22), plain(80)), ""),
        ("firebase-key", "", format!("{}{}:APA91b{}", "AAAA", plain(7), mixed(134)), ""),
        ("twitch-token", "oauth:", lower(30), ""),
        ("mailchimp-key", "", format!("{}-{}", hex(32), "us12"), ""),
        ("mailgun-key", "", format!("{}-{}-{}", hex(32), hex(8), hex(8)), ""),
        ("brevo-key", "", format!("{}-{}-{}", "xkeysib", hex(64), plain(16)), ""),
        ("resend-key", "", format!("{}_{}_{}", "re", plain(8), plain(24)), ""),
        ("plaid-token", "", format!("{}-sandbox-{}", "access", uuid()), ""),
        ("braintree-token", "", format!("access_{}$production${}${}", "token", lower(16), hex(32)), ""),
        ("shippo-token", "", format!("{}_live_{}", "shippo", hex(40)), ""),
        ("easypost-key", "", format!("{}{}", "EZAK", plain(54)), ""),
        ("duffel-token", "", format!("{}_live_{}", "duffel", mixed(43)), ""),
        ("flutterwave-key", "", format!("{}-{}-X", "FLWSECK", hex(32)), ""),
        ("dropbox-token", "", format!("{}.{}", "sl", mixed(135)), ""),
        // Monitoring and others.
        ("sentry-dsn", "https://", hex(32), "@o1.ingest.sentry.io/1"),
        ("sentry-dsn", "https://", hex(32), "@errors.example.com/42"),
        ("grafana-token", "", format!("{}{}", "eyJrIjoi", plain(70)), ""),
        ("newrelic-key", "", format!("{}{}", hex(36), "NRAL"), ""),
        ("dynatrace-token", "", format!("{}.{}.{}", "dt0c01", upper(24), upper(64)), ""),
        ("honeycomb-key", "", format!("{}_{}", "hcaik", lower(58)), ""),
        ("posthog-key", "", format!("{}_{}", "phx", plain(43)), ""),
        ("maxmind-key", "", format!("{}_{}_{}", plain(6), plain(29), "mmk"), ""),
        ("mapbox-token", "", format!("sk.{}1{}.{}", "eyJ", plain(60), plain(22)), ""),
        ("adobe-secret", "", format!("{}-{}", "p8e", mixed(32)), ""),
        (
            "onepassword-key",
            "",
            format!("{}-{}-{}-{}-{}-{}", "A3", upper(6), upper(11), upper(5), upper(5), upper(5)),
            "",
        ),
        // Formats that many services share.
        ("docker-auth", "{\"auths\":{\"ghcr.io\":{\"auth\": \"", "ZGV2OmwzdG1lMW4h".to_owned(), "\"}}}"),
        ("cookie", "Cookie: sessionid=", lower(32), "; theme=dark"),
        ("password-hash", "admin:", format!("$2y$05${}", plain(53)), "\n"),
        (
            "mnemonic",
            "mnemonic: ",
            "legal winner thank year wave sausage worth useful legal winner thank yellow".to_owned(),
            "\n",
        ),
        ("xml-secret", "<password>", letters(6), "</password>"),
        ("named-value", "<add key=\"ClearTextPassword\" value=\"", letters(7), "\" />"),
        (
            "kubernetes-secret",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  login: ",
            "aHVudGVyMjI=".to_owned(),
            "\ntype: Opaque\n",
        ),
    ]
}
