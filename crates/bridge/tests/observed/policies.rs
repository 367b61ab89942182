//! Policies of folders for the sessions that people start there themselves.

use serde_json::{Value, json};
use tidings_api::NewDevice;

use super::terminal::{SESSION, Terminal, prompt};
use crate::test_server::until;

fn folder(terminal: &Terminal) -> Value {
    json!(terminal.folder.path().join("project").canonicalize().unwrap())
}

#[tokio::test]
async fn the_policy_is_ask_until_an_admin_sets_another_for_the_folder_and_that_is_logged() {
    let mut terminal = Terminal::without_process(&["config/sessions", "config/projects/-project"]);
    // An agent can write files like these: they mean nothing.
    for file in [".claude/policies.json", "policies.json", ".claude/settings.local.json"] {
        let path = terminal.folder.path().join("project").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = json!({"version": 1, "policy": "allow", "folders": {folder(&terminal).as_str().unwrap(): "deny"}});
        std::fs::write(path, text.to_string()).unwrap();
    }
    terminal.start().await;
    let other = "7f1c2f7e-7f10-4b58-a0a8-4f9be3f4a002";
    let mut cli = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    terminal.process_of(cli.id(), other, "idle");
    let policy_of = async |session: &str| terminal.until_session(session, |_| true).await["policy"].clone();
    assert_eq!(policy_of(other).await, "ask");

    let set = json!({"folder": folder(&terminal), "policy": "deny"});
    let (status, answer) = terminal.call("PUT", "policies", Some(set)).await;
    assert_eq!((status, &answer["policy"]), (200, &json!("deny")), "{answer}");
    terminal.until_logged("policy set to").await;
    terminal.process(SESSION, "idle");
    assert_eq!(policy_of(SESSION).await, "deny");
    assert_eq!(policy_of(other).await, "ask", "sessions that were there keep theirs");
    cli.kill().unwrap();
    cli.wait().unwrap();

    terminal.write([prompt("Make it")]);
    let hook = terminal.ask("toolu_1", "make").await;
    let output: Value = serde_json::from_str(&hook.output().await).unwrap();
    assert_eq!(output["hookSpecificOutput"]["decision"]["behavior"], "deny", "{output}");

    let remove = json!({"folder": folder(&terminal)});
    let (_, answer) = terminal.call("PUT", "policies", Some(remove)).await;
    assert_eq!(answer["policy"], "ask");
    terminal.until_logged("policy removed").await;
    assert_eq!(terminal.call("GET", "policies", None).await.1, json!({"items": []}));
}

#[tokio::test]
async fn only_a_credential_with_the_scope_admin_sets_a_policy() {
    let mut terminal = Terminal::without_process(&["config/sessions"]);
    terminal.start().await;
    let allow = json!({"folder": folder(&terminal), "policy": "allow"});
    for scopes in [&["read", "prompt", "decide", "edit", "always"][..], &["read"]] {
        let wanted = NewDevice {
            scopes: Some(scopes.iter().map(|scope| (*scope).to_owned()).collect()),
            ..NewDevice::default()
        };
        let token = terminal.device(wanted);
        let (status, problem) = terminal.call_as(&token, "PUT", "policies", Some(allow.clone())).await;
        assert_eq!((status, &problem["code"]), (403, &json!("forbidden")), "{problem}");
        assert_eq!(terminal.call_as(&token, "GET", "policies", None).await.0, 403);
    }
    // So is a process that has no credential, as an agent in the folder.
    let (status, problem) = terminal.call_as("", "PUT", "policies", Some(allow.clone())).await;
    assert_eq!(status, 401, "{problem}");
    // An admin of another folder.
    let other = terminal.folder.path().join("config").canonicalize().unwrap();
    let limited = NewDevice {
        scopes: Some(vec!["admin".to_owned()]),
        folders: vec![other.display().to_string()],
        ..NewDevice::default()
    };
    let token = terminal.device(limited);
    let (status, problem) = terminal.call_as(&token, "PUT", "policies", Some(allow)).await;
    assert_eq!((status, &problem["code"]), (403, &json!("outside_roots")), "{problem}");
    assert_eq!(terminal.call("GET", "policies", None).await.1, json!({"items": []}));
}

/// K24: a policy judges the calls of a session that a person started by the folder in the hook's input.
#[tokio::test]
async fn k24_the_folder_of_the_hook_decides_and_without_it_a_person_does() {
    let mut terminal = Terminal::without_process(&["config/sessions", "config/projects/-project"]);
    let project = terminal.folder.path().join("project").canonicalize().unwrap();
    let secret = terminal.folder.path().join("home/.ssh");
    std::fs::create_dir_all(&secret).unwrap();
    std::fs::create_dir_all(project.join("sub")).unwrap();
    std::fs::write(secret.join("id_rsa"), "key").unwrap();
    std::os::unix::fs::symlink(secret.join("id_rsa"), project.join("linkfile")).unwrap();
    terminal.start().await;
    let set = json!({"folder": folder(&terminal), "policy": "standard"});
    assert_eq!(terminal.call("PUT", "policies", Some(set)).await.0, 200);
    terminal.process(SESSION, "idle");
    terminal.until(|session| session["policy"] == "standard").await;
    terminal.write([prompt("Make it")]);
    let outside = terminal.folder.path().canonicalize().unwrap();
    let outside = outside.to_str().unwrap();
    let inside = project.to_str().unwrap();
    let cases = [
        (Some(inside.to_owned()), "make -n", true),
        (Some(format!("{inside}/sub")), "ls", true),
        (Some(inside.to_owned()), "make -n; cat linkfile", false),
        (Some(format!("{inside}/sub")), "cat ../linkfile", false),
        (None, "ls", false),
        (None, "make -n; cat linkfile", false),
        (Some(String::new()), "ls", false),
        (Some("project".to_owned()), "ls", false),
        (Some(format!("{inside}/nowhere")), "ls", false),
        (Some(format!("{inside}/linkfile")), "ls", false),
        (Some(format!("{inside}/..")), "ls", false),
        (Some(outside.to_owned()), "ls", false),
        (Some("/".to_owned()), "ls", false),
    ];
    for (at, (cwd, command, is_allowed)) in cases.iter().enumerate() {
        let id = format!("toolu_{at}");
        // Each call differs from the others, whose requests may still be open.
        let mut call = json!({
            "tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command, "description": id},
        });
        if let Some(cwd) = cwd {
            call["cwd"] = json!(cwd);
        }
        terminal.hook("PreToolUse", &call, "1").await;
        let hook = terminal.hook("PermissionRequest", &call, "1").await;
        if *is_allowed {
            let output: Value = serde_json::from_str(&hook.output().await).unwrap();
            assert_eq!(output["hookSpecificOutput"]["decision"]["behavior"], "allow", "{cwd:?} {command}");
        } else {
            let open = async || terminal.call("GET", "permissions", None).await.1.to_string();
            until(open, |open| open.contains(&id)).await;
        }
    }
}
