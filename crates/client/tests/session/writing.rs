//! Written lines are whole, valid, and in the right order.

use serde_json::{Value, json};
use tidings::control::{ControlRequest, ControlStyle, Interrupt};
use tidings::json::Json;
use tidings::messages::{ContentBlock, Message, Priority};
use tidings::transport::{Link, Outgoing, Transport};
use tidings::{ErrorKind, Options, Prompt};

use crate::session::cli::session;

/// F33: many tasks send at once, half of them give up in the middle, and every line arrives whole.
#[tokio::test]
async fn f33_lines_never_mix_whoever_gives_up() {
    let (client, mut cli) = session(Options::new()).await;
    let reading = tokio::spawn(async move {
        let mut lines = 0;
        while let Some(line) = cli.peer.line().await {
            let frame: Value = serde_json::from_str(&line).expect("a whole line");
            let text = frame["message"]["content"].as_str().expect("a prompt");
            assert!(text.chars().all(|letter| text.starts_with(letter)), "{text}");
            lines += 1;
        }
        lines
    });
    let sending: Vec<_> = (0..64_usize)
        .map(|task| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut whole = 0;
                // All abandoned lines may have been sent, and together they must fit into the queue.
                for round in 0..60_usize {
                    let letter = char::from(b'a' + u8::try_from(task % 26).unwrap());
                    let text = letter.to_string().repeat(1 + (task * 31 + round * 7919) % 4096);
                    let send = client.send(text);
                    if round % 2 == 0 {
                        drop(send.await.unwrap());
                        whole += 1;
                    } else {
                        drop(tokio::time::timeout(std::time::Duration::ZERO, send).await);
                    }
                }
                whole
            })
        })
        .collect();
    let mut whole = 0;
    for task in sending {
        whole += task.await.unwrap();
    }
    client.end_input();
    let lines = reading.await.unwrap();
    assert!(lines >= whole && whole == 1920, "{lines} lines, {whole} were waited for");
}

/// F23: a prompt is data, whatever it looks like.
#[tokio::test(start_paused = true)]
async fn f23_a_prompt_arrives_as_it_was_written() {
    let (client, mut cli) = session(Options::new()).await;
    for text in ["a\n$(touch pwn); x@y", "\u{2028}\u{0}\u{1b}[2J", "\"quotes\" and \\ and \r\n", "/clear"] {
        drop(client.send(text).await.unwrap());
        assert_eq!(cli.receives("user").await["message"]["content"], text);
    }
}

/// Prompts can be blocks, and have options.
#[tokio::test(start_paused = true)]
async fn prompts_have_options() {
    let (client, mut cli) = session(Options::new()).await;
    let blocks = vec![ContentBlock::Text { text: "look".to_owned() }];
    let prompt = Prompt::from(blocks).priority(Priority::NOW).without_answer().verbatim().uuid("u-1");
    let turn = client.send(prompt).await.unwrap();
    let heard = cli.receives("user").await;
    assert_eq!(turn.uuid(), "u-1");
    let expected = json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "look"}]},
        "uuid": "u-1", "priority": "now", "shouldQuery": false, "client_composed": true, "parent_tool_use_id": null});
    assert_eq!(heard, expected);
    let (client, mut cli) = session(Options::new().verbatim_prompts()).await;
    drop(client.send("@file").await.unwrap());
    assert_eq!(cli.receives("user").await["client_composed"], true);
}

/// JSON over several lines is sent as one line.
#[tokio::test(start_paused = true)]
async fn json_over_several_lines_goes_out_as_one() {
    let (client, mut cli) = session(Options::new()).await;
    let settings = Json::parse("{\n  \"a\": \"b\\n c\"\r\n}").unwrap();
    let play = async {
        let request = cli.receives_request("apply_flag_settings").await;
        assert_eq!(request["request"]["settings"], json!({"a": "b\n c"}));
        cli.answers(&request, json!({})).await;
    };
    let (applied, ()) = tokio::join!(client.apply_settings(settings), play);
    applied.unwrap();
}

/// A transport like a process: it refuses control frames in the flat style.
#[derive(Debug)]
struct Strict(tidings::transport::memory::Memory);

#[derive(Debug)]
struct StrictOutgoing(Box<dyn Outgoing>);

impl Outgoing for StrictOutgoing {
    fn send<'a>(
        &'a mut self,
        line: &'a str,
    ) -> std::pin::Pin<Box<dyn Future<Output = std::io::Result<()>> + Send + 'a>> {
        self.0.send(line)
    }

    fn end(&mut self) -> std::pin::Pin<Box<dyn Future<Output = std::io::Result<()>> + Send + '_>> {
        self.0.end()
    }
}

impl Transport for Strict {
    fn open(
        self: Box<Self>,
        launch: tidings::options::Launch,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Link, tidings::Error>> + Send + 'static>> {
        Box::pin(async move {
            let mut link = Box::new(self.0).open(launch).await?;
            link.outgoing = Box::new(StrictOutgoing(link.outgoing));
            Ok(link)
        })
    }
}

/// A control frame in the flat style would crash the real CLI, so it is refused before it is sent.
#[tokio::test(start_paused = true)]
async fn flat_control_frames_are_refused_where_they_would_crash_the_cli() {
    let flat = Message::ControlRequest {
        request_id: "r".to_owned(),
        request: ControlRequest::new(Interrupt::default()).in_style(ControlStyle::Flat),
    };
    let (client, mut cli) = session(Options::new()).await;
    client.send_message(&flat).await.unwrap();
    assert_eq!(cli.receives("control_request").await["subtype"], "interrupt");

    let (memory, mut cli) = crate::session::cli::pair();
    let (client, ()) =
        tokio::join!(tidings::Client::connect_over(Strict(memory), Options::new()), cli.initializes());
    let error = client.unwrap().send_message(&flat).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("flat style"), "{error}");
}
