//! `tidings acp`: Claude Code for editors, in the Agent Client Protocol on standard input and output.

mod connection;
mod editor;

use std::path::PathBuf;

use clap::Args;
use tidings_acp::lines::EditorLine;
use tidings_acp::relay::{Relay, RelayOutput};
use tidings_bridge::api::LocalEditor;
use tidings_bridge::server::choose_tls;
use tidings_commands::error::Exit;
use tidings_remote::RemoteServer;

use self::connection::Connection;
use self::editor::Editor;
use crate::commands::remote::RemoteArgs;
use crate::commands::serve::embedded::Embedded;

/// Serve Claude Code to an editor, in the Agent Client Protocol on standard input and output
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AcpArgs {
    /// Data folder of a server on this machine [default: the default of `tidings serve`]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Address of a server; its token is read from `TIDINGS_TOKEN` [env: `TIDINGS_SERVER`]
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    server: Option<String>,

    /// Run by itself, although a server runs; sessions end with the editor
    #[arg(long, conflicts_with_all = ["data", "server"])]
    standalone: bool,

    /// `claude` program to run without a server [default: found automatically]
    #[arg(long, value_name = "PATH")]
    claude_path: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Editors start it by themselves; docs/editors.md has the settings for Zed, JetBrains, Neovim and Emacs.

If `tidings serve` runs, sessions live there: they are on the page and the phone at the same time, the first answer to \
a request wins, and they go on when the editor is closed. Without a server it runs by itself, and its sessions end \
with the editor; Claude Code keeps them on disk, and the editor can load them again.";

/// Lines that are written to the editor together.
const LINES_TOGETHER_MAX: usize = 64;

impl AcpArgs {
    pub(crate) fn run(&self) -> anyhow::Result<Exit> {
        // One thread: a delta that passes from thread to thread wakes each of them.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(self.serve());
        // A read of standard input cannot be interrupted.
        runtime.shutdown_background();
        done
    }

    async fn serve(&self) -> anyhow::Result<Exit> {
        choose_tls();
        match self.remote().await? {
            Some(remote) => relay(&remote).await?,
            None => Box::pin(self.standalone()).await?,
        }
        Ok(Exit::Success)
    }

    /// The server that runs; none if there is none and none was named.
    async fn remote(&self) -> anyhow::Result<Option<RemoteServer>> {
        if self.standalone {
            return Ok(None);
        }
        let args = RemoteArgs { data: self.data.clone(), server: self.server.clone(), json: false };
        let is_named = args.data.is_some() || args.remote_url().is_some();
        let found = match args.remote() {
            // Whatever it says about itself: a server of another version is one, too.
            Ok(remote) => {
                let answered = remote.get::<serde_json::Value>("/v1/meta").await;
                answered.map(|_| remote).map_err(Into::into)
            }
            Err(error) => Err(error),
        };
        match found {
            Ok(remote) => Ok(Some(remote)),
            Err(error) if is_named => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Runs the sessions in this process, without a server.
    async fn standalone(&self) -> anyhow::Result<()> {
        let folder = tempfile::Builder::new().prefix("tidings-acp-").tempdir()?;
        let mut embedded = Embedded::open(folder.path(), self.claude_path.clone()).await?;
        let done = Box::pin(serve_here(&mut Editor::new(), &mut embedded.editor)).await;
        embedded.close().await;
        done
    }
}

/// Serves the editor from this process until it leaves.
async fn serve_here(editor: &mut Editor, sessions: &mut LocalEditor) -> anyhow::Result<()> {
    loop {
        tokio::select! {
            biased;
            line = sessions.next() => {
                let mut together = vec![line];
                together.extend(std::iter::from_fn(|| sessions.ready()).take(LINES_TOGETHER_MAX));
                editor.write(&together).await?;
            }
            lines = editor.read() => {
                let Some(lines) = lines? else { return Ok(()) };
                for line in lines {
                    let response = match line {
                        EditorLine::Whole(line) => sessions.receive(&line).await?,
                        EditorLine::TooLong(long) if long.is_response() => sessions.receive(&long.error()).await?,
                        EditorLine::TooLong(long) => Some(long.error()),
                    };
                    editor.write(response.as_slice()).await?;
                }
            }
        }
    }
}

/// Relays between the editor and a server, which may restart, until the editor leaves.
async fn relay(remote: &RemoteServer) -> anyhow::Result<()> {
    let mut relay = Relay::new(&uuid::Uuid::new_v4().to_string());
    let mut editor = Editor::new();
    let mut first = Some(Connection::open(remote).await?);
    loop {
        let mut connection = match first.take() {
            Some(connection) => connection,
            None => match editor.wait_for_server(&mut relay, remote).await? {
                Some(connection) => connection,
                None => return Ok(()),
            },
        };
        let output = relay.connected();
        if connection.send_all(output.to_server).await.is_ok()
            && pass(&mut relay, &mut editor, &mut connection).await? == End::Editor
        {
            connection.close().await;
            return Ok(());
        }
        relay.disconnected();
    }
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Editor,
    Server,
}

/// Passes lines in both directions until one side ends.
async fn pass(relay: &mut Relay, editor: &mut Editor, connection: &mut Connection) -> anyhow::Result<End> {
    loop {
        tokio::select! {
            biased;
            line = connection.next() => {
                let Some(line) = line else { return Ok(End::Server) };
                let mut output = relay.from_server(&line);
                // Deltas that are ready are written together.
                for _ in 0..LINES_TOGETHER_MAX {
                    let Some(line) = connection.ready() else { break };
                    output.to_editor.append(&mut relay.from_server(&line).to_editor);
                }
                editor.write(&output.to_editor).await?;
            }
            lines = editor.read() => {
                let Some(lines) = lines? else { return Ok(End::Editor) };
                for line in lines {
                    let RelayOutput { to_server, to_editor } = editor::pass(line, relay);
                    editor.write(&to_editor).await?;
                    if connection.send_all(to_server).await.is_err() {
                        relay.disconnected();
                    }
                }
            }
        }
    }
}
