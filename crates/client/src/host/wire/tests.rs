//! Tests of the protocol of an agent host: versions 1 and 2, later versions and invalid bytes.

use super::*;

type Table<H> = Vec<(Message<H>, &'static str)>;

/// Version 1 of the protocol. A host of this version may run for weeks under bridges of later ones: these
/// bytes do not change. A later version adds kinds and keys, and a table of its own.
fn version_1() -> (Table<ToHost>, Table<FromHost>) {
    let attach = Attach {
        version: 1,
        secret: "s3".to_owned(),
        owner: "bridge".to_owned(),
        fence: 7,
        after: Some(12),
        lease_ms: Some(600_000),
    };
    let hello = Hello {
        version: 1,
        host: "h1".to_owned(),
        session: "k1".to_owned(),
        host_pid: 41,
        pid: Some(42),
        started: "2026-01-01T00:00:00Z".to_owned(),
        first: 10,
        next: 30,
        after: 12,
        lease_ms: 600_000,
        forgotten: 0,
    };
    let id = || "user:1".to_owned();
    let to_host = vec![
        (Message::with(ToHost::Start, "{}"), "{\"kind\":\"start\",\"bytes\":2}\n{}"),
        (
            Message::new(ToHost::Attach(attach)),
            "{\"kind\":\"attach\",\"version\":1,\"secret\":\"s3\",\"owner\":\"bridge\",\"fence\":7,\"after\":12,\"lease_ms\":600000}\n",
        ),
        (
            Message::with(ToHost::In { id: id() }, "{\"a\":1}"),
            "{\"kind\":\"in\",\"id\":\"user:1\",\"bytes\":7}\n{\"a\":1}",
        ),
        (Message::new(ToHost::Ack { offset: 30 }), "{\"kind\":\"ack\",\"offset\":30}\n"),
        (Message::new(ToHost::EndInput), "{\"kind\":\"end_input\"}\n"),
        (Message::new(ToHost::Terminate), "{\"kind\":\"terminate\"}\n"),
        (Message::new(ToHost::Kill), "{\"kind\":\"kill\"}\n"),
        (Message::new(ToHost::Pids), "{\"kind\":\"pids\"}\n"),
        (Message::new(ToHost::Ping), "{\"kind\":\"ping\"}\n"),
        (Message::new(ToHost::Bye), "{\"kind\":\"bye\"}\n"),
    ];
    let from_host = vec![
        (
            Message::new(FromHost::Hello(hello)),
            "{\"kind\":\"hello\",\"version\":1,\"host\":\"h1\",\"session\":\"k1\",\"host_pid\":41,\"pid\":42,\
             \"started\":\"2026-01-01T00:00:00Z\",\"first\":10,\"next\":30,\"after\":12,\"lease_ms\":600000,\"forgotten\":0}\n",
        ),
        (Message::with(FromHost::Initialize, "{}\n"), "{\"kind\":\"initialize\",\"bytes\":3}\n{}\n"),
        (Message::with(FromHost::Init, "{}\n"), "{\"kind\":\"init\",\"bytes\":3}\n{}\n"),
        (
            Message::with(FromHost::Open { end: 20 }, "{}\n"),
            "{\"kind\":\"open\",\"end\":20,\"bytes\":3}\n{}\n",
        ),
        (Message::new(FromHost::Ready), "{\"kind\":\"ready\"}\n"),
        (
            Message::with(FromHost::Out { end: 3 }, "\0\n\r"),
            "{\"kind\":\"out\",\"end\":3,\"bytes\":3}\n\0\n\r",
        ),
        (Message::with(FromHost::Stderr, "oh"), "{\"kind\":\"stderr\",\"bytes\":2}\noh"),
        (
            Message::new(FromHost::Wrote { id: id(), novelty: Novelty::New }),
            "{\"kind\":\"wrote\",\"id\":\"user:1\",\"novelty\":\"new\"}\n",
        ),
        (
            Message::new(FromHost::Wrote { id: id(), novelty: Novelty::Seen }),
            "{\"kind\":\"wrote\",\"id\":\"user:1\",\"novelty\":\"seen\"}\n",
        ),
        (
            Message::new(FromHost::Unwritten { id: id(), message: "no".to_owned() }),
            "{\"kind\":\"unwritten\",\"id\":\"user:1\",\"message\":\"no\"}\n",
        ),
        (
            Message::new(FromHost::exit(Exit::code(0), 30)),
            "{\"kind\":\"exit\",\"code\":0,\"signal\":null,\"end\":30}\n",
        ),
        (Message::new(FromHost::Pids { pids: vec![42, 43] }), "{\"kind\":\"pids\",\"pids\":[42,43]}\n"),
        (
            Message::new(FromHost::Pong { cli: CliState::Stopped }),
            "{\"kind\":\"pong\",\"cli\":\"stopped\"}\n",
        ),
        (
            Message::new(FromHost::Refused { reason: Refusal::NoSuchOffset, message: "no".to_owned() }),
            "{\"kind\":\"refused\",\"reason\":\"no_such_offset\",\"message\":\"no\"}\n",
        ),
        (
            Message::new(FromHost::Superseded { owner: "b".to_owned() }),
            "{\"kind\":\"superseded\",\"owner\":\"b\"}\n",
        ),
        (
            Message::new(FromHost::Failed {
                message: "no".to_owned(),
                hint: "try".to_owned(),
                cause: StartFailure::Spawn,
            }),
            "{\"kind\":\"failed\",\"message\":\"no\",\"hint\":\"try\"}\n",
        ),
    ];
    (to_host, from_host)
}

/// The kinds that version 2 adds.
fn version_2() -> (Table<ToHost>, Table<FromHost>) {
    let size = TerminalSize { rows: 24, cols: 80 };
    let view = View { version: 2, secret: "s3".to_owned(), role: TerminalRole::Keys, size: Some(size) };
    let to_host = vec![
        (
            Message::new(ToHost::View(view)),
            "{\"kind\":\"view\",\"version\":2,\"secret\":\"s3\",\"role\":\"keys\",\"size\":{\"rows\":24,\"cols\":80}}\n",
        ),
        (Message::with(ToHost::Keys, "\x1b[A\0"), "{\"kind\":\"keys\",\"bytes\":4}\n\x1b[A\0"),
        (
            Message::new(ToHost::Resize { size: Some(size) }),
            "{\"kind\":\"resize\",\"size\":{\"rows\":24,\"cols\":80}}\n",
        ),
        (Message::new(ToHost::Resize { size: None }), "{\"kind\":\"resize\",\"size\":null}\n"),
        (Message::with(ToHost::Prompt, "one\ntwo"), "{\"kind\":\"prompt\",\"bytes\":7}\none\ntwo"),
        (Message::new(ToHost::Interrupt), "{\"kind\":\"interrupt\"}\n"),
        (Message::new(ToHost::Continue), "{\"kind\":\"continue\"}\n"),
    ];
    let from_host = vec![
        (Message::with(FromHost::Screen, "\x1b[m"), "{\"kind\":\"screen\",\"bytes\":3}\n\x1b[m"),
        (Message::new(FromHost::Size(size)), "{\"kind\":\"size\",\"rows\":24,\"cols\":80}\n"),
        (
            Message::new(FromHost::Typed { outcome: TypingOutcome::NoInputLine }),
            "{\"kind\":\"typed\",\"outcome\":\"no_input_line\"}\n",
        ),
        (Message::new(FromHost::Suspended), "{\"kind\":\"suspended\"}\n"),
    ];
    (to_host, from_host)
}

async fn read_all<H: Head>(bytes: &[u8]) -> Vec<Message<H>> {
    let mut reader = Reader::new(bytes, 1000);
    let mut all = Vec::new();
    while let Some(message) = reader.next().await.unwrap() {
        all.push(message);
    }
    all
}

#[tokio::test]
async fn each_version_is_written_and_read_as_ever() {
    let ((mut to_host, mut from_host), (added_to, added_from)) = (version_1(), version_2());
    to_host.extend(added_to);
    from_host.extend(added_from);
    for (message, bytes) in &to_host {
        assert_eq!(String::from_utf8_lossy(&message.encode()), *bytes);
    }
    for (message, bytes) in &from_host {
        assert_eq!(String::from_utf8_lossy(&message.encode()), *bytes);
    }
    let text: String = to_host.iter().map(|(_, bytes)| *bytes).collect();
    let messages: Vec<_> = to_host.into_iter().map(|(message, _)| message).collect();
    assert_eq!(read_all::<ToHost>(text.as_bytes()).await, messages);
    let text: String = from_host.iter().map(|(_, bytes)| *bytes).collect();
    let messages: Vec<_> = from_host.into_iter().map(|(message, _)| message).collect();
    assert_eq!(read_all::<FromHost>(text.as_bytes()).await, messages);
}

/// The fast path writes the same as the general one, and other spellings are read as well.
#[tokio::test]
async fn the_fast_path_equals_the_general_one() {
    for (end, bytes) in [(0, ""), (3, "\0\n\r"), (u64::MAX, "{}")] {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        encode_out(end, bytes.as_bytes(), &mut short);
        encode(&FromHost::Out { end }, bytes.as_bytes(), &mut long);
        let message = Message::with(FromHost::Out { end }, bytes);
        assert_eq!(read_all::<FromHost>(&short).await, std::slice::from_ref(&message));
        assert_eq!(read_all::<FromHost>(&long).await, [message]);
        if !bytes.is_empty() {
            assert_eq!(short, long);
        }
    }
    let text = "{\"bytes\":2, \"end\":7, \"kind\":\"out\"}\nab{\"kind\":\"out\",\"end\":9,\"why\":1,\"bytes\":2}\ncd";
    let expected = [(7, "ab"), (9, "cd")].map(|(end, bytes)| Message::with(FromHost::Out { end }, bytes));
    assert_eq!(read_all::<FromHost>(text.as_bytes()).await, expected);
    for head in
        ["{\"kind\":\"out\",\"end\":-1,\"bytes\":1}\n", "{\"kind\":\"out\",\"end\":1,\"bytes\":1001}\nx"]
    {
        assert!(Reader::new(head.as_bytes(), 1000).next::<FromHost>().await.is_err(), "{head}");
    }
}

/// Kinds of a later version are skipped with their bytes, and keys of a later version are ignored.
#[tokio::test]
async fn messages_of_a_later_version_are_skipped() {
    let text = "{\"kind\":\"song\",\"bytes\":4}\nla\nl{\"kind\":\"ack\",\"offset\":1,\"why\":[]}\n\
                {\"kind\":\"dance\"}\n{\"kind\":\"bye\"}\n";
    let heads: Vec<_> =
        read_all::<ToHost>(text.as_bytes()).await.into_iter().map(|message| message.head).collect();
    assert_eq!(heads, [ToHost::Unknown, ToHost::Ack { offset: 1 }, ToHost::Unknown, ToHost::Bye]);
    let text = "{\"kind\":\"refused\",\"reason\":\"tired\",\"message\":\"\"}\n{\"kind\":\"pong\",\"cli\":\"asleep\"}\n";
    let heads: Vec<_> =
        read_all::<FromHost>(text.as_bytes()).await.into_iter().map(|message| message.head).collect();
    let refused = FromHost::Refused { reason: Refusal::Unknown, message: String::new() };
    assert_eq!(heads, [refused, FromHost::Pong { cli: CliState::Unknown }]);
}

/// Invalid input ends the connection, and costs no memory.
#[tokio::test]
async fn invalid_input_is_an_error() {
    let long = vec![b'x'; 100_000];
    for bytes in [
        b"hello\n".as_slice(),
        b"{\"kind\":\"in\",\"id\":\"a\",\"bytes\":1001}\n",
        b"{\"kind\":\"in\",\"id\":\"a\",\"bytes\":9}\nshort",
        b"{\"kind\":\"in\"}\n",
        b"{\"kind\":\"bye\"}",
        &long,
    ] {
        let result = Reader::new(bytes, 1000).next::<ToHost>().await;
        assert!(result.is_err(), "{result:?}");
    }
}
