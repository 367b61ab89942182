//! A Messages API for the real CLI: it streams the workload that the last prompt requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::Failure;
use crate::workload::Workload;

/// Serves on a free port until the program ends. Returns the address.
pub(crate) fn start() -> Result<String, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A CLI that was killed leaves its connections open.
            std::thread::spawn(move || drop(serve(&stream)));
        }
    });
    Ok(address)
}

/// Serves one connection.
fn serve(stream: &TcpStream) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = request(&mut reader)? {
        if !path.starts_with("POST /v1/messages") {
            whole(stream, "")?;
            continue;
        }
        let asked: Value = serde_json::from_str(&body)?;
        if asked["stream"] == true {
            return stream_workload(stream, &asked["model"], Workload::asked(&asked["messages"].to_string()));
        }
        let content = json!([{"type": "text", "text": "ok"}]);
        whole(stream, &message(&asked["model"], &content, &json!("end_turn")).to_string())?;
    }
    Ok(())
}

/// The first line and the body of the next request. None at the end of the connection.
fn request(reader: &mut BufReader<&TcpStream>) -> Result<Option<(String, String)>, Failure> {
    let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((first, String::from_utf8(body)?)))
}

fn whole(mut stream: &TcpStream, body: &str) -> Result<(), Failure> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
    Ok(stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes())?)
}

fn message(model: &Value, content: &Value, stop_reason: &Value) -> Value {
    json!({
        "id": format!("msg_{}", crate::clock::now_ns()), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

fn stream_workload(mut stream: &TcpStream, model: &Value, workload: Workload) -> Result<(), Failure> {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    let mut event = |event: Value| {
        let text = format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
        Ok::<(), Failure>(stream.write_all(text.as_bytes())?)
    };
    event(json!({"type": "message_start", "message": message(model, &json!([]), &Value::Null)}))?;
    event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}))?;
    workload.run(|text| {
        let delta = json!({"type": "text_delta", "text": text});
        event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    })?;
    event(json!({"type": "content_block_stop", "index": 0}))?;
    let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
    event(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 10}}))?;
    event(json!({"type": "message_stop"}))
}
