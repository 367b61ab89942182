//! The started process: its arguments, environment and files.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use tidings::control::McpServerConfig;
use tidings::options::{EnvBase, PermissionPrompts};
use tidings::transport::Process;
use tidings::{Client, ErrorKind, Options, SystemPrompt};

use crate::stage::Stage;

/// A `claude` that records how it was called, and performs the handshake.
const WITNESS: &str = r#"
printf '%s\n' "$@" > "$(dirname "$0")/args"
env > "$(dirname "$0")/env"
ls -l /proc/self/fd > "$(dirname "$0")/fds" 2>/dev/null
for word in "$@"; do
    case "$word" in /*.json) stat -c '%a' "$word" "$(dirname "$word")" > "$(dirname "$0")/modes"; cat "$word" > "$(dirname "$0")/file";; esac
done
pwd > "$(dirname "$0")/cwd"
read -r line
printf '%s\n' "$line" > "$(dirname "$0")/first"
id=${line#*\"request_id\":\"}
id=${id%%\"*}
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"claude_code_version":"2.1.325"}}}\n' "$id"
while read -r line; do :; done
"#;

async fn witness(options: impl FnOnce(Options) -> Options) -> Stage {
    let stage = Stage::running(WITNESS);
    let client = Client::connect(options(stage.options())).await.unwrap();
    client.close().await.unwrap();
    stage
}

fn read(stage: &Stage, name: &str) -> String {
    std::fs::read_to_string(stage.path(name)).unwrap()
}

/// F41: three kinds of unusable programs, three errors.
#[tokio::test]
async fn f41_what_cannot_be_started_is_told_apart() {
    let stage = Stage::running("exit 0");
    let plain = stage.path("plain");
    std::fs::write(&plain, "no program").unwrap();
    let folder = stage.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let missing = stage.path("missing");
    for (path, words) in
        [(missing, "There is no program"), (folder, "a folder, not a program"), (plain, "not executable")]
    {
        let error = Client::connect(Options::new().program(&path)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains(words) && !error.hint().is_empty(), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    let error = Client::connect(stage.options().cwd("/nonexistent/folder")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Spawn);
    assert!(error.to_string().contains("working folder"), "{error}");
    let no_interpreter = stage.path("script");
    std::fs::write(&no_interpreter, "#!/nonexistent/interpreter\n").unwrap();
    std::fs::set_permissions(&no_interpreter, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = Client::connect(Options::new().program(no_interpreter)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Spawn);
    assert!(error.hint().contains("interpreter"), "{error:?}");
}

/// F19, F20: a megabyte of system prompt and of agents is sent in the handshake; argv stays short.
#[tokio::test]
async fn f19_long_options_stay_off_the_command_line() {
    let long = "x".repeat(1 << 20);
    let prompt = long.clone();
    let stage = witness(move |options| {
        let agent = tidings::control::AgentDefinition::new("helps", prompt.clone());
        options.system_prompt(prompt).define_agent("helper", agent)
    })
    .await;
    assert!(read(&stage, "args").len() < 1000);
    let first: Value = serde_json::from_str(&read(&stage, "first")).unwrap();
    assert_eq!(first["request"]["systemPrompt"], json!([long]));
    assert_eq!(first["request"]["agents"]["helper"]["prompt"], json!(long));
}

/// Secrets are passed as files with access for the owner only, and removed afterwards.
#[tokio::test]
async fn secrets_go_by_files_of_our_own() {
    let mut server = tidings::control::RemoteServer::default();
    server.url = "https://example.com".to_owned();
    server.headers.insert("Authorization".to_owned(), "Bearer secret".to_owned());
    let stage = witness(|options| options.mcp_server("far", McpServerConfig::Http(server))).await;
    let args = read(&stage, "args");
    assert!(!args.contains("secret"), "{args}");
    let file: Value = serde_json::from_str(&read(&stage, "file")).unwrap();
    assert_eq!(file["mcpServers"]["far"]["headers"]["Authorization"], "Bearer secret");
    assert_eq!(read(&stage, "modes"), "600\n700\n");
    let path = args.lines().skip_while(|line| *line != "--mcp-config").nth(1).unwrap();
    assert!(path.ends_with("mcp.json") && !std::path::Path::new(path).exists(), "{path}");
}

/// F24: marks of an enclosing `claude` are not inherited, ours are set, and the rest follows the options.
#[tokio::test]
async fn f24_the_environment_is_what_it_should_be() {
    let stage =
        witness(|options| options.env_base(EnvBase::Only(vec!["PATH".to_owned()])).env("MINE", "yes")).await;
    let env = read(&stage, "env");
    let mut names: Vec<&str> = env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !["_", "OLDPWD", "SHLVL"].contains(name));
    names.sort_unstable();
    let expected = [
        "CLAUDE_AGENT_SDK_VERSION",
        "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE",
        "MINE",
        "PATH",
        "PWD",
        "TIDINGS_OWNER",
    ];
    assert_eq!(names, expected);
    let folder = stage.program().parent().unwrap().canonicalize().unwrap();
    assert_eq!(read(&stage, "cwd").trim(), folder.to_str().unwrap());
}

/// F42: open files of this process are not inherited: no file, and no pipe of another session.
#[tokio::test]
async fn f42_open_files_are_not_handed_on() {
    let other = Stage::running(WITNESS);
    let _other = Client::connect(other.options()).await.unwrap();
    let open = std::fs::File::create(other.path("open-here")).unwrap();
    let before = pipes();
    let stage = witness(|options| options).await;
    let fds = read(&stage, "fds");
    assert!(!fds.contains("open-here"), "{fds}");
    assert!(!before.is_empty() && before.iter().all(|pipe| !fds.contains(pipe.as_str())), "{before:?} {fds}");
    drop(open);
}

/// The pipes of this process that it did not inherit.
fn pipes() -> Vec<String> {
    let links = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let own = links.filter(|link| !inherited(&link.file_name().to_string_lossy()));
    let targets = own.filter_map(|link| std::fs::read_link(link.path()).ok());
    targets.map(|target| target.display().to_string()).filter(|target| target.starts_with("pipe:")).collect()
}

/// True if a file descriptor would be inherited, because the parent of the tests left it so.
fn inherited(fd: &str) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
    let flags =
        info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default().trim().to_owned();
    // O_CLOEXEC, as the kernel shows it.
    u32::from_str_radix(&flags, 8).is_ok_and(|flags| flags & 0o2_000_000 == 0)
}

/// The command can be wrapped in another one.
#[tokio::test]
async fn a_command_can_be_wrapped() {
    let stage = Stage::running(WITNESS);
    let process = Process::wrapped(|command| {
        let mut wrapped = std::process::Command::new("/bin/sh");
        wrapped
            .args(["-c", "WRAPPED=1 exec \"$@\"", "sh"])
            .arg(command.get_program())
            .args(command.get_args());
        wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        wrapped
    });
    let client = Client::connect_over(process, stage.options().model("haiku")).await.unwrap();
    client.close().await.unwrap();
    assert!(read(&stage, "env").contains("WRAPPED=1"));
    assert!(read(&stage, "args").contains("--model=haiku"));
}

/// A `claude` of this version, which names it only if it is asked to, and refuses this flag.
fn silent(version: &str, refused: &str) -> Stage {
    Stage::running(&format!(
        r#"
[ "$1" = --version ] && {{ echo '{version} (Claude Code)'; exit 0; }}
for word in "$@"; do
    case "$word" in {refused}*) echo "error: unknown option '$word'" >&2; exit 1;; esac
done
read -r line
id=$(printf '%s' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
printf '{{"type":"control_response","response":{{"subtype":"success","request_id":"%s","response":{{}}}}}}
' "$id"
while read -r line; do :; done
"#
    ))
}

/// D21: versions that ignore the system prompt of the handshake do not name themselves in it either.
#[tokio::test]
async fn d21_a_version_that_the_handshake_does_not_name_is_checked_too() {
    for (version, is_supported) in [("2.1.92", false), ("2.1.196", false), ("2.1.197", true)] {
        let stage = silent(version, "none");
        match Client::connect(stage.options().system_prompt("Be brief.")).await {
            Ok(client) => {
                assert!(is_supported, "{version}");
                client.close().await.unwrap();
            }
            Err(error) => {
                assert_eq!((error.kind(), is_supported), (ErrorKind::VersionTooOld, false), "{version}");
                assert!(error.to_string().contains(version), "{error}");
                assert!(error.hint().contains("claude update"), "{error:?}");
            }
        }
    }
}

/// R7: an option that this version does not have is refused by its name, even if the CLI would ignore it.
#[tokio::test]
async fn r7_an_option_of_a_later_version_is_refused_by_its_name() {
    let silent = silent("2.1.197", "--permission-prompts");
    let prompts = silent.options().permission_prompts(PermissionPrompts::None);
    let snapshot = SystemPrompt::Custom { blocks: vec![String::new()], snapshot: Some(true) };
    for (options, name, since) in [
        (prompts, "permission_prompts", "2.1.259"),
        (silent.options().system_prompt(snapshot), "snapshot", "2.1.257"),
    ] {
        let error = Client::connect(options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::VersionTooOld, "{error}");
        assert!(error.to_string().contains(name) && error.to_string().contains(since), "{error}");
    }
}

/// F21, F40: a CLI without our flags reports that, and its version explains it.
#[tokio::test]
async fn f40_an_old_cli_is_named_by_its_version() {
    let old = "[ \"$1\" = --version ] && { echo '1.0.44 (Claude Code)'; exit 0; }\necho \"error: unknown option '$1'\" >&2; exit 1";
    let stage = Stage::running(old);
    let error = Client::connect(stage.options()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::VersionTooOld);
    assert!(error.to_string().contains("1.0.44"), "{error}");
    assert_eq!(tidings::find::version(&stage.program()).await.unwrap().to_string(), "1.0.44");
}

/// The check of the version takes its time from the handshake, for a program that answers neither and for one
/// that is too old to answer.
#[tokio::test]
async fn d25_the_timeout_of_the_handshake_covers_the_version() {
    let mute = "exec sleep 60";
    let old = "[ \"$1\" = --version ] && { echo '1.0.44 (Claude Code)'; exit 0; }\nexec sleep 60";
    for (script, kind) in [(mute, ErrorKind::Timeout), (old, ErrorKind::VersionTooOld)] {
        let stage = Stage::running(script);
        let options = stage.options().initialize_timeout(std::time::Duration::from_secs(2));
        let began = std::time::Instant::now();
        let error = Client::connect(options).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(began.elapsed() < std::time::Duration::from_secs(8), "{:?}", began.elapsed());
    }
}
