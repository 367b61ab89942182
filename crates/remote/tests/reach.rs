//! Ways to a server: an address, the socket in a data folder, a pairing code.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;

use tidings_bridge::server::TlsFiles;
use tidings_remote::api::{Code, NewDevice};
use tidings_remote::{ErrorKind, RemoteServer, Retry};

use crate::test_server::TestServer;

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_on_this_machine_is_reached_over_its_socket() {
    let builder = TestServer::builder().session("/").serve().only_unix_socket();
    let data = builder.data();
    let error = RemoteServer::local(&data).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotRunning, Code::Unavailable));
    let server = builder.start().await;
    until_ready(&server).await;
    let remote = RemoteServer::local(&data).unwrap();
    assert!(remote.is_local());
    assert_eq!(remote.sessions().await.unwrap().len(), 1);
    assert!(!format!("{remote:?}").contains("tidings_"), "the token is hidden");
}

/// Waits until the server answers.
async fn until_ready(server: &TestServer) {
    let path = server.socket_path();
    crate::test_server::until(async || path.exists(), |exists| *exists).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pairing_code_becomes_a_credential_that_can_be_revoked() {
    let server = TestServer::builder().session("/").serve().admin_device().start().await;
    let address = server.url("");
    let admin = RemoteServer::at(&address, &server.admin).unwrap();
    let device = NewDevice { scopes: Some(vec!["read".to_owned()]), ..NewDevice::default() };
    let code = admin.pairing_code(&device).await.unwrap().code;
    let paired = RemoteServer::pair(&address, &code, "a bot").await.unwrap();
    let again = RemoteServer::pair(&address, &code, "a bot").await.unwrap_err();
    assert!(matches!(again.kind(), ErrorKind::Refused(_)), "{again:?}");
    let bot = RemoteServer::at(&address, &paired.token.unwrap()).unwrap();
    assert_eq!(bot.meta().await.unwrap().you.scopes, ["read"]);
    assert!(admin.devices().await.unwrap().iter().any(|device| device.name == "a bot"));
    let mut events = bot.session(1).events(None);
    events.next().await.unwrap();
    admin.revoke(&paired.device.id).await.unwrap();
    let error = loop {
        if let Err(error) = events.next().await {
            break error;
        }
    };
    assert_eq!((error.code(), error.retry()), (Code::Unauthorized, Retry::Never));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_reported_at_once() {
    let error = RemoteServer::at("http://127.0.0.1:1", "none").unwrap().meta().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error:?}");
    let error = RemoteServer::at("box.example", "none").unwrap().meta().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
}

/// The credential and the body are for one server.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let target = elsewhere.local_addr().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let head = BufReader::new(stream.try_clone().unwrap()).lines();
        head.map_while(Result::ok).find(String::is_empty).unwrap();
        let head = "HTTP/1.1 307 Temporary Redirect\r\nConnection: close\r\nContent-Length: 0";
        write!(stream, "{head}\r\nLocation: http://{target}/v1/meta\r\n\r\n").unwrap();
    });
    let error = RemoteServer::at(&address, "none").unwrap().meta().await.unwrap_err();
    answering.join().unwrap();
    assert_eq!((error.kind(), error.retry()), (ErrorKind::Response, Retry::Never), "{error:?}");
    assert!(elsewhere.accept().is_err());
}

#[cfg(feature = "tls")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_not_trusted_is_named_as_the_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bridge/tests/served/certificates");
    let tls = TlsFiles { certificate: folder.join("first.pem"), key: folder.join("first.key") };
    let server = TestServer::builder().session("/").serve().tls(tls).start().await;
    let address = format!("https://127.0.0.1:{}", server.address.port());
    let error = RemoteServer::at(&address, "none").unwrap().meta().await.unwrap_err();
    assert_eq!((error.kind(), error.retry()), (ErrorKind::Untrusted, Retry::Never), "{error:?}");
    let hint = error.hint();
    assert!(hint.contains("SSL_CERT_FILE"), "{hint}");
}
