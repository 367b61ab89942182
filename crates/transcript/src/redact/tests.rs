//! Samples are assembled at run time, so that scanners do not report this file as a leak.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tidings_protocol::json::{Raw, write_string};

use super::*;

mod everywhere;
mod forms;
mod services;

/// Random-looking letters and digits; the same for the same seed.
fn random(seed: u64, length: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]
    };
    (0..length).map(|_| next()).collect()
}

fn mixed(length: usize) -> String {
    // Many alphabets contain the marks, and a pattern must not stop at them.
    format!(
        "a1B_-{}",
        random(7, length - 5, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
    )
}

fn plain(length: usize) -> String {
    format!("a1B{}", random(3, length - 3, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
}

fn letters(length: usize) -> String {
    random(13, length, "abcdefghijklmnopqrstuvwxyz")
}

fn hex(length: usize) -> String {
    random(5, length, "0123456789abcdef")
}

fn upper(length: usize) -> String {
    random(9, length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
}

/// Family, text before the secret, the secret, text after it.
fn samples() -> Vec<(&'static str, &'static str, String, &'static str)> {
    let jwt = format!(
        "{}.{}.{}",
        ["ey", "JhbGciOiJIUzI1NiJ9"].concat(),
        ["ey", "JzdWIiOiIxMjM0NTY3ODkwIn0"].concat(),
        mixed(43)
    );
    let pem = |label: &str, end: &str, body: &str| {
        format!("-----BEGIN {label}-----{end}{body}{end}-----END {label}-----")
    };
    let key = ["PRIVATE", " KEY"].concat();
    let mut samples = services::samples();
    samples.extend([
        ("ssh-private-key", "cat id\n", pem(&["OPENSSH ", &key].concat(), "\n", &plain(64)), "\n$"),
        (
            "private-key",
            "",
            pem(
                &["RSA ", &key].concat(),
                "\n",
                &format!("Proc-Type: 4,ENCRYPTED\n\n{}\n{}==", plain(64), plain(40)),
            ),
            " end",
        ),
        ("private-key", "\"", pem(&key, "\\n", &plain(64)), "\""),
        (
            "private-key",
            "     1→",
            format!("-----BEGIN {key}-----\n     2→{}\n     3→{}", plain(64), plain(64)),
            "\n\nand nothing more",
        ),
        ("private-key", "", pem(&["PGP ", &key, " BLOCK"].concat(), "\n", &plain(64)), ""),
        ("putty-private-key", "Private-Lines: 2", format!("\n{}\n{}\n", plain(64), plain(64)), "# end"),
        ("age-secret-key", "", format!("AGE-SECRET-KEY-{}{}", "1", upper(58)), ""),
        ("anthropic-key", "x-api-key: ", format!("sk-{}-api03-{}AA", "ant", mixed(93)), "'"),
        ("anthropic-key", "ANTHROPIC_AUTH_TOKEN=", format!("sk-{}-oat01-{}", "ant", mixed(86)), "\n"),
        ("openrouter-key", "", format!("sk-{}-v1-{}", "or", hex(64)), ""),
        ("openai-key", "export OPENAI_API_KEY=", format!("sk-{}-{}", "proj", mixed(120)), " # mine"),
        ("openai-key", "", format!("sk-{}", plain(48)), ""),
        ("groq-key", "", format!("{}_{}", "gsk", letters(52)), ""),
        ("groq-key", "", format!("{}_{}", "gsk", plain(52)), ""),
        ("xai-key", "", format!("{}-{}", "xai", letters(80)), ""),
        ("xai-key", "", format!("{}-{}", "xai", plain(80)), ""),
        ("replicate-token", "", format!("{}_{}", "r8", plain(37)), ""),
        ("perplexity-key", "", format!("{}-{}", "pplx", letters(48)), ""),
        ("perplexity-key", "", format!("{}-{}", "pplx", plain(48)), ""),
        ("huggingface-token", "HF_HOME=/x ", format!("{}_{}", "hf", letters(34)), ""),
        ("huggingface-token", "", format!("{}_{}", "hf", letters(34).to_uppercase()), ""),
        ("huggingface-token", "", format!("{}_{}", "hf", plain(34)), ""),
        ("github-token", "https://", format!("{}_{}", "ghp", plain(36)), "@github.com/a/b"),
        ("github-token", "", format!("{}_{}", "ghs", plain(36)), "."),
        ("github-pat", "token ", format!("github_{}_{}_{}", "pat", plain(22), plain(59)), ""),
        ("gitlab-token", "", format!("{}-{}", "glpat", letters(20)), ""),
        ("gitlab-token", "", format!("{}-Ab_{}-{}", "glrt", letters(10), letters(12)), ""),
        ("gitlab-token", "PRIVATE-TOKEN: ", format!("{}-{}", "glpat", mixed(20)), ""),
        ("gitlab-token", "", format!("{}-{}.01.{}", "glpat", mixed(30), "1a2b3c4d5"), ""),
        ("npm-token", "//npm.example.com/:_authToken=", format!("{}_{}", "npm", plain(36)), "\n"),
        ("pypi-token", "password = ", format!("{}-AgEIcHlwaS5vcmc{}", "pypi", mixed(120)), ""),
        ("crates-token", "cargo login ", format!("{}{}", "cio", plain(32)), ""),
        ("rubygems-key", "", format!("{}_{}", "rubygems", hex(48)), ""),
        ("docker-token", "docker login -u me -p ", format!("dckr_{}_{}", "pat", mixed(27)), ""),
        ("atlassian-token", "", format!("{}xFfGF0{}", "ATATT3", mixed(150)), ""),
        ("linear-key", "", format!("lin_{}_{}", "api", plain(40)), ""),
        ("notion-token", "", format!("{}_{}", "ntn", plain(46)), ""),
        ("aws-access-key", "aws_access_key_id = ", format!("{}{}", "AKIA", upper(16)), "\n"),
        ("aws-secret-key", "aws_secret_access_key = ", format!("a1B/+{}", plain(35)), "\n"),
        ("aws-secret-key", "\\\"SecretAccessKey\\\": \\\"", format!("a1B/+{}", plain(35)), "\\\""),
        ("google-api-key", "?key=", format!("{}Sy{}", "AIza", mixed(33)), "&q=1"),
        ("google-oauth", "", format!("{}.{}", "ya29", mixed(120)), ""),
        ("google-oauth", "client_secret: ", format!("{}-{}", "GOCSPX", mixed(28)), ""),
        (
            "azure-key",
            "AccountName=a;AccountKey=",
            format!("a1B/+{}==", plain(81)),
            ";EndpointSuffix=core.windows.net",
        ),
        (
            "azure-signature",
            "https://a.blob.core.windows.net/c?sv=2022&sig=",
            format!("a1B%2F{}%3D", plain(40)),
            "&se=1",
        ),
        ("digitalocean-token", "", format!("dop_{}_{}", "v1", hex(64)), ""),
        ("databricks-token", "", format!("{}{}", "dapi", hex(32)), ""),
        ("vault-token", "VAULT_TOKEN=", format!("{}.{}", "hvs", mixed(90)), ""),
        ("pulumi-token", "", format!("{}-{}", "pul", hex(40)), ""),
        ("tailscale-key", "--authkey ", format!("{}-auth-{}-{}", "tskey", plain(12), plain(32)), ""),
        ("fly-token", "", format!("{}_{}", "fm2", plain(80)), ""),
        ("heroku-key", "", format!("{}-{}", "HRKU", mixed(60)), ""),
        ("slack-token", "", format!("{}-123456789012-123456789012-{}", "xoxb", plain(24)), ""),
        (
            "slack-webhook",
            "https://hooks.slack.com/services/",
            format!("T0{}/B0{}/{}", upper(9), upper(9), plain(24)),
            "",
        ),
        (
            "discord-webhook",
            "https://discord.com/api/webhooks/",
            format!("123456789012345678/{}", mixed(68)),
            "",
        ),
        ("discord-token", "", format!("{}TIz{}.{}.{}", "M", plain(20), plain(6), mixed(38)), ""),
        (
            "telegram-token",
            "https://api.telegram.org/bot",
            format!("123456789:{}{}", "AA", plain(33)),
            "/getMe",
        ),
        ("stripe-key", "", format!("sk_{}_{}", "live", plain(24)), ""),
        ("stripe-key", "", format!("{}_{}", "whsec", plain(32)), ""),
        ("square-token", "", format!("{}-{}", "sq0atp", mixed(22)), ""),
        ("sendgrid-key", "", format!("{}.{}.{}", "SG", mixed(22), mixed(43)), ""),
        ("mailgun-key", "", format!("{}-{}", "key", hex(32)), ""),
        ("twilio-key", "", format!("{}{}", "SK", hex(32)), ""),
        ("shopify-token", "", format!("{}_{}", "shpat", hex(32)), ""),
        ("sentry-token", "", format!("{}_{}", "sntryu", hex(64)), ""),
        ("grafana-token", "", format!("{}_{}_{}", "glsa", plain(32), hex(8)), ""),
        ("newrelic-key", "", format!("{}-{}", "NRAK", upper(27)), ""),
        ("onepassword-token", "", format!("{}_eyJ{}", "ops", plain(100)), ""),
        ("figma-token", "", format!("{}_{}", "figd", mixed(40)), ""),
        ("jwt", "Cookie: session=", jwt.clone(), "; a=b"),
        ("jwt", "Authorization: Bearer ", jwt, "\r\n"),
        ("database-url", "DATABASE_URL=postgres://app:", format!("p{}!", plain(6)), "@db:5432/app"),
        ("database-url", "mongodb+srv://root:", "hunter2".to_owned(), "@cluster0.example.net"),
        ("url-password", "https://me:", "s3cr3t!x".to_owned(), "@example.com/a"),
        ("authorization", "-H 'Authorization: Bearer ", plain(32), "'"),
        ("authorization", "authorization: Basic ", "ZGV2OmwzdG1lMW4h".to_owned(), "\n"),
        ("basic-auth", "curl -s -u admin:", "l3tme-in".to_owned(), " https://example.com"),
        ("password", "password: \"", "Tr0ub4dor&3".to_owned(), "\""),
        ("password", "\\\"dbPassword\\\": \\\"", "correct-horse".to_owned(), "\\\","),
        ("password", "--password=", "tr0ub4dor9x".to_owned(), " --host db"),
        ("assigned-secret", "client_secret = \"", "q7w8-e9r0-t1y2".to_owned(), "\""),
        ("assigned-secret", "api-key: ", plain(20), ""),
        ("assigned-secret", "?access_token=", mixed(24), "&x=1"),
        ("env-secret", "A=1\nSTRIPE_WEBHOOK_KEY=", "only-letters-here".to_owned(), "\nB=2"),
        ("env-secret", "export SENTRY_DSN=", "abcdefgh@ijkl".to_owned(), ""),
    ]);
    samples
}

/// Text that looks like a secret or stands in its position, and is not one.
const LOOK_ALIKES: &[&str] = &[
    "pip install sk-learn-contrib-extra-tools-more",
    "a risk-based-approach-to-everything",
    "the sk-ant- prefix",
    "ghp_short and github_pat_ alone",
    "gh_token_from_environment_variable_name",
    "glossary-of-terms-in-the-manual",
    "npm_config_registry_and_other_settings",
    "npm_lifecycle_event",
    "pypi-server runs on 8080",
    "hf_hub_download(repo_id, filename)",
    "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "glrt-small-words-with-strokes-between-them",
    "cious words: gracious, precious, conscious",
    "AKIAIOSFODNN7EXAMPLE is in the documentation",
    "AKIA and ASIA are prefixes",
    "aws_secret_access_key = ${AWS_SECRET}",
    "AIzawa Prefecture",
    "AccountKey=<your key>",
    "xoxo, with love",
    "the ACME 1234567890:Aardvark case",
    "eyJ is how tokens begin",
    "postgres://localhost:5432/app",
    "postgres://user:password@localhost/app",
    "mysql://root:${MYSQL_PASSWORD}@db/app",
    "redis://localhost:6379",
    "http://127.0.0.1:8080/a@b",
    "git@github.com:owner/repo.git",
    "https://example.com:8443/path",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "the bearer of this letter",
    "docker run -u 1000:1000 image",
    "curl -u \"$USER:$PASS\" https://example.com",
    "max_tokens=4096, input_tokens: 123456789012",
    "token = response.access_token",
    "let token = lexer.next_token();",
    "password = get_password(user)",
    "password: string",
    "password=password",
    "PASSWORD=changeme",
    "type Token = Identifier | Keyword",
    "const token: CancellationToken = source.token;",
    "secret: process.env.SESSION_SECRET",
    "api_key = os.environ[\"OPENAI_API_KEY\"]",
    "token_expires: 2026-11-14T10:00:00Z",
    "tokenizer: cl100k_base_v2",
    "SSH_KEY=/home/dev/.ssh/id_ed25519",
    "KEY=12345678",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 4f2d1c9b8a7e6d5c4b3a2f1e0d9c8b7a6f5e4d3c",
    "123e4567-e89b-12d3-a456-426614174000",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUy dev@host",
    "a.b.c.d.example.com",
    "1.2.3-alpha.4",
];

#[test]
fn f123_every_family_is_found_and_named() {
    for (family, before, secret, after) in samples() {
        let text = format!("{before}{secret}{after}");
        let mut redactor = Redactor::new();
        let redacted = redactor.redact(&text).into_owned();
        assert_eq!(redacted, format!("{before}[redacted: {family} #1]{after}"), "{text}");
    }
}

#[test]
fn f123_every_family_has_a_sample() {
    let named: BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
    let sampled: BTreeSet<&str> = samples().iter().map(|(family, ..)| *family).collect();
    assert_eq!(named, sampled);
    assert!(named.len() >= 20);
}

#[test]
fn c7_passwords_in_commands_and_configuration_are_found() {
    // The password stands between the marks.
    for text in [
        "password: «hunter»",
        "db:\n  user: admin\n  password: «hunter»\n  port: 5432",
        "     3→  password: «hunter» # production",
        "- name: x\n- passwd: '«correct horse»'",
        "ansible_become_pass: «letmein»",
        "  POSTGRES_PASSWORD: «letmein»",
        "spring.datasource.password: \"«s3cret»\"",
        "docker run -e POSTGRES_PASSWORD=«x» postgres",
        "docker run -d --env MYSQL_ROOT_PASSWORD=«my» -e A=b mysql",
        "docker run --env=API_TOKEN=«abcdef» app",
        "podman run -e 'DB_PASS=«abc»' app",
        "cd /srv && PGPASSWORD=«abc» psql -h db",
        "MYSQL_PWD=«abc» mysql -u root",
        "sshpass -p «hunter» ssh me@host",
        "sshpass -p'«hunter 2»' ssh me@host",
        "mysql -u root -p«hunter» db",
        "mysqldump --all -uroot -p'«hunter»' > dump.sql",
        "mariadb-dump -p«hunter» db",
        "mysqladmin --password=«hunter» ping",
        "redis-cli -h db -a «hunter» ping",
        "docker login -u me -p «hunter» registry",
        "openssl rsa -in a -passin pass:«hunter»",
        "wget --user=me --password «hunter» https://example.com",
        "machine example.com login me password «hunter»",
        "     1→machine example.com\n     2→  login me\n     3→  password «hunter»\n",
        "default login anonymous password «me@home»",
        "machine example.com\n\tpassword «hunter»",
    ] {
        let (before, rest) = text.split_once('«').unwrap();
        let (secret, after) = rest.split_once('»').unwrap();
        let redacted = Redactor::new().redact(&format!("{before}{secret}{after}")).into_owned();
        assert!(!redacted.contains(secret) || secret.len() < 3, "{text}: {redacted}");
        assert!(redacted.contains("[redacted: "), "{text}: {redacted}");
    }
    for text in [
        "password: string",
        "  password: str",
        "password: Option<String>,",
        "password: &str",
        "password: req.body.password",
        "password: ${DB_PASSWORD}",
        "password: \"{{ vault_password }}\"",
        "password: !vault |",
        "Password: Enter the password that you were given",
        "password:\n  required: true",
        "docker run -e POSTGRES_PASSWORD=$PW postgres",
        "docker run -e POSTGRES_PASSWORD postgres",
        "OLDPWD=/home/dev",
        "mysql -u root -p db",
        "mysql --protocol=tcp -P 3306",
        "docker login --password-stdin registry",
        "ssh -p 2222 me@host",
        "the default password for new users",
        "zip -r archive.zip src",
        "grep -e token file",
    ] {
        assert_eq!(Redactor::new().redact(text), text);
    }
}

#[test]
fn look_alikes_stay() {
    for text in LOOK_ALIKES {
        let mut redactor = Redactor::new();
        assert_eq!(redactor.redact(text), *text);
    }
}

#[test]
fn one_secret_has_one_number_and_another_has_another() {
    let (first, second) = (format!("ghp_{}", plain(36)), format!("ghp_{}", upper(36)));
    let mut redactor = Redactor::new();
    assert_eq!(
        redactor.redact(&format!("{first} {second} {first}")),
        "[redacted: github-token #1] [redacted: github-token #2] [redacted: github-token #1]"
    );
    assert_eq!(redactor.redact(&second), "[redacted: github-token #2]");
    assert_eq!(redactor.counts().collect::<Vec<_>>(), [("github-token", 4)]);
    assert_eq!(redactor.total(), 4);
}

#[test]
fn f123_secrets_in_json_are_found_behind_escapes_and_the_line_stays_json() {
    for (family, before, secret, after) in samples() {
        let text = format!("{before}{secret}{after}");
        let mut string = String::new();
        write_string(&text, &mut string);
        // Every second letter is escaped: a byte search would not find it.
        let split: String = text
            .chars()
            .enumerate()
            .map(|(at, letter)| {
                if at % 2 == 0 && letter.is_ascii() {
                    format!("\\u{:04x}", u32::from(letter))
                } else {
                    letter
                        .to_string()
                        .replace('\\', "\\\\")
                        .replace('"', "\\\"")
                        .replace('\n', "\\n")
                        .replace('\r', "\\r")
                }
            })
            .collect();
        for json in [
            format!("{{\"a\":[1,{string}],\"b\":2.0}}"),
            format!("{{\"a\" : \"{split}\"}}"),
            format!("{{{string}:null}}"),
        ] {
            let mut redactor = Redactor::new();
            let redacted = redactor.redact_json(&json).into_owned();
            assert!(Raw::parse(&redacted).is_ok(), "{redacted}");
            assert!(!redacted.contains(&secret), "{redacted}");
            assert!(redacted.contains(&format!("[redacted: {family} #1]")), "{redacted}");
        }
    }
}

#[test]
fn a_name_tells_of_the_value_beside_it_in_json() {
    for (json, expected) in [
        (r#"{"password":"correct-horse"}"#, r#"{"password":"[redacted: password #1]"}"#),
        (
            r#"{"env":{"API_KEY" : "q7w8-e9r0-t1y2"}}"#,
            r#"{"env":{"API_KEY" : "[redacted: assigned-secret #1]"}}"#,
        ),
        (r#"{"input_tokens":12,"key":"value"}"#, r#"{"input_tokens":12,"key":"value"}"#),
        (
            r#"{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":1584}"#,
            r#"{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":1584}"#,
        ),
        (r#"{"token":{"ephemeral_5m_input":"x"}}"#, r#"{"token":{"ephemeral_5m_input":"x"}}"#),
        (r#"{"token":"see the vault"}"#, r#"{"token":"see the vault"}"#),
        (r#"["password","correct-horse"]"#, r#"["password","correct-horse"]"#),
    ] {
        assert_eq!(Redactor::new().redact_json(json), expected);
    }
}

#[test]
fn a_private_key_in_a_list_of_lines_is_taken_out_line_by_line() {
    let (begin, body) = (["-----BEGIN PRIVATE", " KEY-----"].concat(), plain(64));
    let json = format!(r#"{{"lines":["+{begin}","+{body}","+-----END PRIVATE KEY-----","+{body}"]}}"#);
    let redacted = Redactor::new().redact_json(&json).into_owned();
    assert_eq!(redacted.matches(&body).count(), 1, "{redacted}");
    assert!(redacted.ends_with(&format!("\"+{body}\"]}}")), "{redacted}");
}

#[test]
fn binary_data_is_left_alone_and_unchanged_json_is_not_written_anew() {
    let json = format!(r#"{{"a":"\u0041\/","data":"{}{}"}}"#, plain(2000), ["AKIA", &upper(16)].concat());
    assert!(matches!(Redactor::new().redact_json(&json), Cow::Borrowed(_)));
}

#[test]
fn a_damaged_line_is_redacted_as_far_as_it_goes() {
    let key = format!("ghp_{}", plain(36));
    let mut redactor = Redactor::new();
    let redacted = redactor.redact_json(&format!(r#"{{"a":"{key}","b":"{key}"#)).into_owned();
    assert_eq!(redacted, r#"{"a":"[redacted: github-token #1]","b":"[redacted: github-token #1]"#);
}

proptest! {
    #[test]
    fn no_text_breaks_it(text in ".{0,200}") {
        let mut redactor = Redactor::new();
        let redacted = redactor.redact(&text).into_owned();
        // Redacted text contains no further secrets.
        prop_assert_eq!(Redactor::new().redact(&redacted).into_owned(), redacted.clone());
        let mut json = String::new();
        write_string(&text, &mut json);
        let line = format!("{{{json}:[{json}]}}");
        let again = redactor.redact_json(&line).into_owned();
        prop_assert!(Raw::parse(&again).is_ok());
        let cut: String = line.chars().take(line.chars().count() / 2).collect();
        redactor.redact_json(&cut);
    }
}
