//! The minimum of a server made of the same libraries: tokio waits for the agent, its output is stored, and
//! axum sends it over a WebSocket. It has no frames, sessions, users or history.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use axum::serve::ListenerExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

use crate::Failure;
use crate::direct::FILE_BYTES;

/// Serves standard input to one client, and prints the port.
pub(crate) fn run(arguments: &[String]) -> Result<bool, Failure> {
    let kept = File::create(arguments.first().ok_or("no file")?)?;
    let kept = Arc::new(Mutex::new(Some(kept)));
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?.port());
        // Without this option a connection is only slower.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let serve = async move |upgrade: WebSocketUpgrade| {
            let kept = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
            upgrade.protocols(["tidings.v1"]).on_upgrade(async move |socket| {
                if let Some(kept) = kept
                    && let Err(error) = pass_on(socket, kept).await
                {
                    eprintln!("error: {error}");
                }
            })
        };
        axum::serve(listener, Router::new().route("/v1/ws", any(serve))).await?;
        Ok(true)
    })
}

async fn pass_on(mut socket: WebSocket, mut kept: File) -> Result<(), Failure> {
    let mut input = Receiver::from_owned_fd(std::io::stdin().as_fd().try_clone_to_owned()?)?;
    let (mut chunk, mut written, mut lines) = (vec![0; FILE_BYTES], 0, Vec::new());
    loop {
        let count = input.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        if written + count > FILE_BYTES {
            kept.rewind()?;
            written = 0;
        }
        kept.write_all(&chunk[..count])?;
        written += count;
        // A message consists of whole lines, so that the header of a message cuts none.
        lines.extend_from_slice(&chunk[..count]);
        if let Some(end) = memchr::memrchr(b'\n', &lines) {
            let begun = lines.split_off(end + 1);
            socket.send(Message::binary(std::mem::replace(&mut lines, begun))).await?;
        }
    }
}
