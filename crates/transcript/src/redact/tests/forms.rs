//! Forms in which secrets stand in commands, configuration files and headers.

use super::*;

/// The text without its marks, and the secrets that stood between them.
fn unmarked(marked: &str) -> (String, Vec<String>) {
    let mut secrets = Vec::new();
    for part in marked.split('«').skip(1) {
        secrets.push(part.split_once('»').unwrap().0.to_owned());
    }
    (marked.replace(['«', '»'], ""), secrets)
}

/// Checks that the secrets between the marks are removed: from the text, from JSON that contains the text,
/// and from JSON inside of a string of JSON.
fn check(marked: &str) {
    let (text, secrets) = unmarked(marked);
    let (mut json, mut nested) = (String::new(), String::new());
    write_string(&text, &mut json);
    write_string(&format!("{{\"content\":{json}}}"), &mut nested);
    for input in
        [format!("{{\"type\":\"user\",\"message\":{{\"content\":{json}}}}}"), format!("{{\"a\":{nested}}}")]
    {
        let redacted = Redactor::new().redact_json(&input).into_owned();
        assert!(Raw::parse(&redacted).is_ok(), "{redacted}");
        for secret in &secrets {
            assert!(!redacted.contains(secret.as_str()), "{marked}: {redacted}");
        }
    }
    let redacted = Redactor::new().redact(&text).into_owned();
    for secret in &secrets {
        assert!(!redacted.contains(secret.as_str()), "{marked}: {redacted}");
    }
    for before in marked.split(['«', '»']).step_by(2).filter(|before| before.len() > 2) {
        assert!(redacted.contains(before), "more than the secret is removed: {marked}: {redacted}");
    }
}

#[test]
fn c22_a_nested_secret_under_a_key_that_is_named_like_one_is_removed() {
    for parent in
        ["credentials", "credential", "token", "tokens", "secret", "secrets", "api_key", "access_key"]
    {
        for child in [
            "client_secret",
            "access_token",
            "refresh_token",
            "secret_key",
            "api_key",
            "oauth2_token",
            "password",
            "private_key",
        ] {
            for between in [":\n  ", ":\n\n    ", ": ", ":\r\n\t", " = ", ":\n  - "] {
                check(&format!("{parent}{between}{child}: «q7w8e9r0t1y2u3»\n"));
                check(&format!("{parent}{between}{child}: \"«q7w8e9r0t1y2u3»\"\n"));
            }
            check(&format!("{parent}:\n  {child}_1: «q7w8e9r0t1y2u3»\n"));
            check(&format!("{parent}:\n  {parent}:\n    {child}: «q7w8e9r0t1y2u3»\n"));
            check(&format!("{{\"{parent}\": {{\"{child}\": \"«q7w8e9r0t1y2u3»\"}}}}"));
            check(&format!("{parent}={child}=«q7w8e9r0t1y2u3»"));
        }
    }
}

#[test]
fn c22_a_value_of_many_names_is_searched_in_linear_time() {
    let text = "token=".repeat(20_000);
    let begin = std::time::Instant::now();
    Redactor::new().redact(&text);
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}

#[test]
fn c23_secrets_in_kubernetes_configuration_are_removed() {
    for text in [
        "users:\n- name: a\n  user:\n    client-key-data: «TFMwdExTMUNSVWRKVGlCU1UwRWdVRkpK1»\n",
        "    client-key-data: \"«TFMwdExTMUNSVWRKVGlCU1UwRWdVRkpK1»\"",
        "kind: Secret\nstringData:\n  login: «hunter»\n  other: «letmein22»\ntype: Opaque\n",
        "apiVersion: v1\ndata:\n  a: «aHVudGVyMjI=»\n  b: «bGV0bWVpbg==»\nkind: Secret\nmetadata:\n  name: x\n",
        "{\n  \"data\": {\n    \"a\": \"«aHVudGVyMjI=»\"\n  },\n  \"kind\": \"Secret\"\n}",
        "env:\n- name: DB_PASSWORD\n  value: «hunter»\n",
        "env:\n- name: DB_PASSWORD\n  value: \"«hunter»\"\n",
        "[{\"name\": \"DB_PASSWORD\", \"value\": \"«hunter»\"}]",
        "kubectl create secret generic db --from-literal=user=«admin1» --from-literal=pw='«hunter»'",
        "helm install a b --set auth.password=«hunter»",
    ] {
        check(text);
    }
}

#[test]
fn c23_secrets_in_xml_are_removed() {
    for text in [
        "<password>«x9»</password>",
        "<password>«hunter»</password>",
        "<server><username>me</username><password>«hunter»</password></server>",
        "<db:Password encrypted=\"false\">\n  «hunter»\n</db:Password>",
        "<clientSecret>«q7w8e9r0»</clientSecret>",
        "<password><![CDATA[«hunter»]]></password>",
        "&lt;password&gt;«hunter»&lt;/password&gt;",
        "<add key=\"ClearTextPassword\" value=\"«hunter»\" />",
        "<add key='Password' value='«hunter»'/>",
        "<add key=\"ApiKey\" value=\"«hunter»\" />",
        "<add value=\"«hunter»\" key=\"ClearTextPassword\" />",
        "<property name=\"password\" value=\"«hunter»\"/>",
        "<property name=\"db.password\">«hunter»</property>",
        "<string name=\"api_key\">«q7w8e9r0»</string>",
        "<entry key=\"password\">«hunter»</entry>",
        "<connection user=\"me\" password=\"«hunter»\"/>",
        "<input type=\"password\" name=\"password\" value=\"«hunter»\">",
    ] {
        check(text);
    }
}

#[test]
fn c23_secrets_in_powershell_are_removed() {
    for text in [
        "$p = ConvertTo-SecureString \"«hunter»\" -AsPlainText -Force",
        "ConvertTo-SecureString '«hunter»' -AsPlainText -Force",
        "ConvertTo-SecureString -String \"«hunter 2»\" -AsPlainText",
        "ConvertTo-SecureString -AsPlainText -Force -String «hunter»",
        "ConvertTo-SecureString -AsPlainText \"«hunter»\" -Force",
        "\"«hunter»\" | ConvertTo-SecureString -AsPlainText -Force",
        "convertto-securestring '«hunter»'",
        "New-Object System.Net.NetworkCredential(\"me\", \"«hunter»\")",
        "net user me «hunter» /add",
    ] {
        check(text);
    }
}

#[test]
fn c23_cookies_are_removed() {
    for text in [
        "Cookie: sessionid=«k3j4h5g6f7»",
        "cookie: a=b; sessionid=«k3j4h5g6f7»; csrftoken=«Zx9cV8bN7m»",
        "Set-Cookie: sessionid=«k3j4h5g6f7»; Path=/; HttpOnly",
        "set-cookie: connect.sid=«s%3Ak3j4h5g6f7.abc»; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
        "curl -H 'Cookie: sessionid=«k3j4h5g6f7»' https://example.com",
        "curl -H \"Cookie: PHPSESSID=«k3j4h5g6f7»\" https://example.com",
        "curl -b 'sessionid=«k3j4h5g6f7»' https://example.com",
        "curl -b \"sessionid=«k3j4h5g6f7»; other=«Zx9cV8bN7m»\" https://example.com",
        "curl -b sessionid=«k3j4h5g6f7» https://example.com",
        "curl --cookie 'sessionid=«k3j4h5g6f7»' https://example.com",
        "curl --cookie=\"sessionid=«k3j4h5g6f7»\" https://example.com",
        "curl -s \\\n  -b 'sessionid=«k3j4h5g6f7»' \\\n  https://example.com",
        "document.cookie = \"sessionid=«k3j4h5g6f7»\"",
        "requests.get(url, cookies={\"sessionid\": \"«k3j4h5g6f7»\"})",
        "{\"headers\": {\"Cookie\": \"sessionid=«k3j4h5g6f7»\"}}",
        "http example.com Cookie:sessionid=«k3j4h5g6f7»",
        "example.com\tFALSE\t/\tTRUE\t1799999999\tsessionid\t«k3j4h5g6f7»",
    ] {
        check(text);
    }
}

#[test]
fn c23_passwords_of_tools_are_removed() {
    for text in [
        "db.example.com:5432:shop:app:«hunter»",
        "*:*:*:postgres:«hunter»",
        "localhost:5432:*:app:«hunt3r»\n",
        "     1→db.example.com:5432:shop:app:«hunter»\n     2→other.example.com:6432:*:me:«letmein»",
        "echo 'db1:5432:shop:app:«hunter»' >> ~/.pgpass",
        "http -a me:«hunter» https://example.com",
        "http -a 'me:«hunter»' example.com",
        "https --auth me:«hunter» example.com",
        "http --auth=me:«hunter» POST example.com a=b",
        "http -v POST example.com -a me:«hunter»",
        "xh -a me:«hunter» example.com",
        "curl -sS \\\n  -u me:«hunter» \\\n  https://example.com",
        "curl -ume:«hunter» https://example.com",
        "requests.get(url, auth=('me', '«hunter»'))",
        "HTTPBasicAuth(\"me\", \"«hunter»\")",
        "echo 'root:«hunter»' | chpasswd",
        "echo \"root:«hunter»\" | sudo chpasswd",
        "echo root:«hunter» | chpasswd",
        "printf 'root:«hunter»\\nme:«letmein»\\n' | chpasswd",
        "chpasswd <<< 'root:«hunter»'",
        "chpasswd <<EOF\nroot:«hunter»\nme:«letmein»\nEOF",
        "echo '«hunter»' | passwd --stdin me",
        "echo \"«hunter»\" | sudo -S apt update",
        "echo «hunter» | docker login -u me --password-stdin",
        "openssl enc -aes-256-cbc -in a -out b -pass pass:«hunter»",
        "openssl enc -aes-256-cbc -pass 'pass:«hunter»'",
        "openssl rsa -in a -passin pass:«hunter» -passout pass:«letmein»",
        "openssl pkcs12 -export -password pass:«hunter»",
        "openssl enc -d -aes-256-cbc -k «hunter» -in a",
        "openssl enc -d -aes-256-cbc -k '«hunter 2»' -in a",
        "keytool -list -keystore a.jks -storepass «hunter» -keypass «letmein»",
        "ssh-keygen -t ed25519 -N '«hunter»' -f key",
        "Server=db;User Id=sa;Password=«hunter»;Encrypt=true",
        "host=db user=app password=«hunter» dbname=shop",
        "CREATE USER app IDENTIFIED BY '«hunter»'",
        "ALTER ROLE app WITH PASSWORD '«hunter»'",
        "aws configure set aws_secret_access_key «hunter»",
        "gh secret set TOKEN --body \"«hunter»\"",
    ] {
        check(text);
    }
}

#[test]
fn c23_password_hashes_are_removed() {
    let hash = random(21, 86, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./");
    for text in [
        format!("admin:«$2y$05${}»", &hash[..53]),
        format!("admin:«$2b$12${}»", &hash[..53]),
        format!("admin:«$apr1$k3j4h5g6${}»", &hash[..22]),
        format!("root:«$6$k3j4h5g6${hash}»:19000:0:99999:7:::"),
        format!("root:«$6$rounds=656000$k3j4h5g6${hash}»:19000:0:99999:7:::"),
        format!("root:«$y$j9T$k3j4h5g6f7d8s9a0${}»:19000:0:99999:7:::", &hash[..43]),
        format!("root:«$1$k3j4h5g6${}»:19000", &hash[..22]),
        format!("root:«$5$k3j4h5g6${}»:19000", &hash[..43]),
        "admin:«{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=»".to_owned(),
        "userPassword: «{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9gAbCd=»".to_owned(),
        "«$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$W6ph5Mm5Pz8GgiULbPgzG37mj9g»".to_owned(),
        "«pbkdf2_sha256$600000$k3j4h5g6$W6ph5Mm5Pz8GgiULbPgzG37mj9gW6ph5Mm5Pz8=»".to_owned(),
        format!("traefik: admin:«$$2y$$05$${}»", &hash[..53]),
    ] {
        check(&text);
    }
}

#[test]
fn c23_words_of_a_wallet_are_removed() {
    let words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    let more = "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold";
    for text in [
        format!("mnemonic: «{words}»"),
        format!("MNEMONIC=\"«{words}»\""),
        format!("{{\"mnemonic\": \"«{more}»\"}}"),
        format!("My seed phrase is «{words}»."),
        format!("seed phrase:\n\n«{more}»\n"),
        format!("Here are the recovery words:\n> «{words}»"),
        format!("recovery_phrase = '«{words}»'"),
        format!("const wallet = Wallet.fromMnemonic('«{words}»')"),
        format!("secret recovery phrase: «{}»", words.replace(' ', ", ")),
    ] {
        check(&text);
    }
    let numbered: Vec<String> =
        words.split(' ').enumerate().map(|(at, word)| format!("{}. {word}", at + 1)).collect();
    let redacted =
        Redactor::new().redact(&format!("Recovery phrase:\n{}\n", numbered.join("\n"))).into_owned();
    assert!(!redacted.contains("sausage") && !redacted.contains("yellow"), "{redacted}");
}

#[test]
fn c23_secrets_in_other_common_forms_are_removed() {
    for text in [
        "SENTRY_DSN=https://«0123456789abcdef0123456789abcdef»@o1.ingest.sentry.io/1",
        "Sentry.init({ dsn: \"https://«0123456789abcdef0123456789abcdef»@o1.ingest.us.sentry.io/1\" })",
        "const API_KEY: &str = \"«q7w8e9r0t1»\";",
        "let token: string = '«q7w8e9r0t1»'",
        "password = \"«correct horse battery»\"",
        "client_secret: |\n  «q7w8e9r0t1y2»\n",
        "client_secret: >-\n  «q7w8e9r0t1y2»\n",
        "tokens:\n  - «q7w8e9r0t1y2»\n",
        "client.setToken(\"«q7w8e9r0t1»\")",
        "mytool --token «q7w8e9r0t1» run",
        "mytool --api-key=«q7w8e9r0t1» run",
        "SECRET_KEY_BASE: «q7w8e9r0t1y2u3»",
        "DD_API_KEY=«0123456789abcdef0123456789abcdef»",
        "postgres://app:«p@ss:w0rd»@db/app",
        "//registry.example.com/:_auth=«ZGV2OmwzdG1lMW4h»",
        "Authorization: Basic «bWU6aHVudGVy»",
        "PresharedKey = «q7w8e9r0t1y2u3i4o5p6a7s8d9f0g1h2j3k4l5z6x7c=»",
        "transport({ auth: { user: 'me', pass: '«hunter22»' } })",
        "X-Api-Key: «q7w8e9r0t1»",
        "{\"tokens\": [\"«q7w8e9r0t1»\", \"x\"]}",
    ] {
        check(text);
    }
}

#[test]
fn c23_names_beside_values_in_json_are_found() {
    for (json, secret) in [
        (r#"{"env":[{"name":"DB_PASSWORD","value":"hunter"}]}"#, "hunter"),
        (r#"{"key":"ClearTextPassword","value":"hunter"}"#, "hunter"),
        (r#"{"name":"Cookie","value":"sessionid=k3j4h5g6f7"}"#, "k3j4h5g6f7"),
        (r#"{"Cookie":"a=b; sessionid=k3j4h5g6f7"}"#, "k3j4h5g6f7"),
        (r#"{"password":"pw1"}"#, "pw1"),
        (r#"{"password":"hunter \"friend\" 22"}"#, "friend"),
        (r#"{"db_password":"correct horse battery"}"#, "horse"),
        (r#"{"tokens":["q7w8-e9r0-t1y2","z1x2-c3v4-b5n6"]}"#, "z1x2-c3v4-b5n6"),
        (r#"{"auth":"ZGV2OmwzdG1lMW4h"}"#, "ZGV2OmwzdG1lMW4h"),
        (r#"{"credentials":{"client_secret":"q7w8-e9r0-t1y2"}}"#, "q7w8-e9r0-t1y2"),
    ] {
        let redacted = Redactor::new().redact_json(json).into_owned();
        assert!(!redacted.contains(secret) && Raw::parse(&redacted).is_ok(), "{redacted}");
    }
}

#[test]
fn c23_everyday_text_stays() {
    for text in [
        "the password: see vault",
        "password = getenv(\"X\")",
        "password = os.getenv('DB_PASSWORD')",
        "credentials:\n  provider: aws\n  profile: default\n",
        "token:\n  expires: 3600\n",
        "secrets:\n  - db\n  - cache\n",
        "secret: true",
        "<password>string</password>",
        "<label for=\"password\">Password</label>",
        "<PasswordField name=\"password\" />",
        "<input type=\"password\" name=\"password\" placeholder=\"Your password\">",
        "<Token>some words here</Token>",
        "<add key=\"Timeout\" value=\"300\" />",
        "- name: LOG_LEVEL\n  value: debug",
        "Cookie: theme=dark; a=b",
        "Set-Cookie: lang=en; Path=/; Domain=example.com; SameSite=Strict",
        "curl -b cookies.txt https://example.com",
        "git checkout -b feature/session-2",
        "src/main.rs:1234:56: error: expected `;`",
        "main.rs:12:use std::fmt::Write",
        "aa:11:22:33:44:55 and 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
        "image: registry:5000/app:1.2.3",
        "ports:\n  - \"127.0.0.1:5432:5432\"",
        "2026-11-14T10:30:45.123Z level=info msg=started",
        "http -v example.com a:=1 b==2",
        "ls -a && http example.com",
        "it costs $5 or $6 and $1",
        "echo $1 $2 | sort",
        "echo done | tee log",
        "openssl x509 -in cert.pem -noout -text",
        "openssl enc -aes-256-cbc -pass env:PW",
        "openssl req -new -key a.pem -out b.csr",
        "https://user@example.com/a",
        "https://github.com/owner/repo/blob/4f2d1c9b8a7e6d5c4b3a2f1e0d9c8b7a6f5e4d3c/a.rs",
        "the wallet app shows a balance and lets you send and receive coins with a few taps on your phone screen",
        "seed the database with users and then run all of the tests that were added for the new search page",
        "the ledger lists every entry with amount date account balance currency status and the name of the owner",
        "cargo build --features token-2022,serde",
        "grep -rn 'password' src/ | head -20",
        "kind: ConfigMap\ndata:\n  level: debug\n  port: \"8080\"\n",
        "kind: Deployment\nspec:\n  replicas: 2\n",
        "const tokens = text.split(' ').length",
        "fn token(&self) -> &str { &self.token }",
        "getToken(\"access_token\")",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "/home/dev/project/secrets/README.md",
        "basic authentication is not supported",
        "Basic usage and basic concepts",
        "primary key: user_id",
        "session key: agent",
        "auth: { type: oauth2 }",
        "select name, value from settings",
        "max_tokens: 1024, temperature: 0.5",
        "the key: value pairs",
        "pass: 12 fail: 3",
        "<total_tokens>123456 tokens left</total_tokens>",
        "dotnet test /p:Configuration=Release1",
        "Grant { secret: random_hex_16(), id }",
    ] {
        assert_eq!(Redactor::new().redact(text), text);
    }
}
