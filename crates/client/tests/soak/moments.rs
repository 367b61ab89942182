//! The moments at which a session can end.

use futures_util::future::BoxFuture;
use tidings::hooks::{HookOutput, PreToolUse};
use tidings::{Client, Decision, Hook, HookCall, Options, PermissionAsk, query};
use tidings_rehearsal::Chance;
use tokio::sync::mpsc;

use crate::Stages;

type Moment = fn(Stages, Chance) -> BoxFuture<'static, ()>;

/// The moment whose task panics.
pub(crate) const HOST_PANICS: &str = "the host panics";

pub(crate) const MOMENTS: &[(&str, Moment)] = &[
    ("never asked for", |stages, _| Box::pin(async move { drop(query("go", stages.story())) })),
    ("before the handshake is over", |stages, chance| Box::pin(before_connected(stages, chance))),
    ("right after the handshake", |stages, _| Box::pin(async move { drop(connect(stages.story()).await) })),
    ("in the middle of a turn", |stages, chance| Box::pin(mid_turn(stages, chance))),
    ("in the middle of a query", |stages, chance| Box::pin(mid_query(stages, chance))),
    ("while a permission is asked for", |stages, chance| Box::pin(mid_permission(stages, chance))),
    ("while a permission is left for later", |stages, _| Box::pin(permission_for_later(stages))),
    ("while a hook runs", |stages, chance| Box::pin(mid_hook(stages, chance))),
    ("while it closes", |stages, chance| Box::pin(mid_close(stages, chance))),
    ("while a request is under way", |stages, chance| Box::pin(mid_request(stages, chance))),
    ("after a handler has panicked", |stages, chance| Box::pin(handler_panics(stages, chance))),
    (HOST_PANICS, |stages, chance| Box::pin(host_panics(stages, chance))),
    ("when its process is killed", |stages, chance| Box::pin(killed(stages, chance))),
    ("while it is interrupted", |stages, chance| Box::pin(mid_interrupt(stages, chance))),
    ("in order", |stages, _| Box::pin(in_order(stages.story()))),
];

async fn connect(options: Options) -> Client {
    Client::connect(options).await.unwrap()
}

/// A session that ends normally.
pub(crate) async fn in_order(options: Options) {
    let client = connect(options).await;
    assert!(client.send("go").await.unwrap().finish().await.unwrap().is_success());
    client.close().await.unwrap();
}

async fn before_connected(stages: Stages, mut chance: Chance) {
    tokio::select! {
        client = Client::connect(stages.story()) => drop(client),
        () = pause(&mut chance, 60) => {}
    }
}

async fn mid_turn(stages: Stages, mut chance: Chance) {
    let client = connect(stages.story()).await;
    let mut turn = client.send("go").await.unwrap();
    for _ in 0..chance.below(12) {
        turn.next_frame().await.unwrap().unwrap();
    }
    // Either may be dropped first.
    if chance.below(2) == 0 {
        drop(turn);
    }
}

async fn mid_query(stages: Stages, mut chance: Chance) {
    let mut answer = query("go", stages.story());
    for _ in 0..chance.below(12) {
        answer.next_frame().await.unwrap().unwrap();
    }
}

async fn mid_permission(stages: Stages, mut chance: Chance) {
    let (asked, mut asks) = mpsc::channel(8);
    let options = stages.tool().on_permission(move |ask: PermissionAsk| {
        let asked = asked.clone();
        async move {
            let _ = asked.send(()).await;
            ask.context.cancelled().await;
            Decision::deny("too late")
        }
    });
    let client = connect(options).await;
    drop(client.send("go").await.unwrap());
    asks.recv().await.unwrap();
    pause(&mut chance, 20).await;
}

async fn permission_for_later(stages: Stages) {
    let options = stages.tool().on_permission(|_: PermissionAsk| async { Decision::Later });
    let client = connect(options).await;
    let _turn = client.send("go").await.unwrap();
    while client.open_permissions().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}

async fn mid_hook(stages: Stages, mut chance: Chance) {
    let (called, mut calls) = mpsc::channel(8);
    let hook = Hook::on(move |_: HookCall<PreToolUse>| {
        let called = called.clone();
        async move {
            let _ = called.send(()).await;
            std::future::pending::<HookOutput>().await
        }
    });
    let client = connect(stages.tool().hook(hook)).await;
    drop(client.send("go").await.unwrap());
    calls.recv().await.unwrap();
    pause(&mut chance, 20).await;
}

async fn mid_close(stages: Stages, mut chance: Chance) {
    let client = connect(stages.story()).await;
    let _turn = client.send("go").await.unwrap();
    pause(&mut chance, 50).await;
    tokio::select! {
        closed = client.close() => drop(closed),
        () = pause(&mut chance, 50) => {}
    }
}

async fn mid_request(stages: Stages, mut chance: Chance) {
    let client = connect(stages.story()).await;
    tokio::select! {
        status = client.mcp_status() => drop(status),
        () = pause(&mut chance, 4) => {}
    }
}

async fn handler_panics(stages: Stages, mut chance: Chance) {
    let options = stages.tool().on_permission(|ask: PermissionAsk| async move {
        assert!(ask.call.tool_name.is_empty(), "a handler that fails, as it should here");
        Decision::allow()
    });
    let client = connect(options).await;
    let _turn = client.send("go").await.unwrap();
    pause(&mut chance, 200).await;
}

async fn host_panics(stages: Stages, mut chance: Chance) {
    let client = connect(stages.story()).await;
    let _turn = client.send("go").await.unwrap();
    pause(&mut chance, 50).await;
    assert!(client.is_closed(), "a host that fails, as it should here");
}

async fn killed(stages: Stages, mut chance: Chance) {
    let client = connect(stages.story()).await;
    let _turn = client.send("go").await.unwrap();
    pause(&mut chance, 50).await;
    let pid = client.pid().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").args(["-9", &pid]).status().await.unwrap().success());
    if chance.below(2) == 0 {
        drop(client.ended().await);
    }
}

async fn mid_interrupt(stages: Stages, mut chance: Chance) {
    let client = connect(stages.story()).await;
    let mut turn = client.send("go").await.unwrap();
    turn.next_frame().await.unwrap().unwrap();
    tokio::select! {
        stopped = client.interrupt() => drop(stopped),
        () = pause(&mut chance, 20) => {}
    }
}

/// Sleeps for a random time of less than `most` milliseconds.
async fn pause(chance: &mut Chance, most: u64) {
    tokio::time::sleep(std::time::Duration::from_micros(chance.below(most * 1000))).await;
}
