//! Subscribers: any number of WebSockets in one thread, each delta timed when it is read.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;

use crate::Failure;
use crate::clock::{now_ns, times};
use crate::http;

/// The sockets of all subscribers.
pub(crate) struct Subscribers {
    poll: OwnedFd,
    sockets: Vec<Socket>,
    chunk: Vec<u8>,
    /// Latency of each delta, in nanoseconds.
    pub(crate) latencies: Vec<u64>,
    /// Number of acknowledgements that came.
    acks: usize,
}

struct Socket {
    stream: File,
    /// The beginning of a message that is not complete.
    rest: Vec<u8>,
}

impl Subscribers {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Subscribers {
            poll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            sockets: Vec::new(),
            chunk: vec![0; 256 << 10],
            latencies: Vec::new(),
            acks: 0,
        })
    }

    /// Adds a subscriber of a session, from its newest event on.
    pub(crate) fn join(&mut self, address: &str, token: &str, session: &str) -> Result<(), Failure> {
        let stream = http::upgrade(address, token)?;
        rustix::io::ioctl_fionbio(&stream, true)?;
        let place = self.sockets.len() as u64;
        epoll::add(&self.poll, &stream, epoll::EventData::new_u64(place), epoll::EventFlags::IN)?;
        let mut socket = Socket { stream, rest: Vec::new() };
        socket.send(0x1, format!(r#"{{"id":1,"type":"subscribe","session":"{session}"}}"#).as_bytes())?;
        self.sockets.push(socket);
        let acks = self.acks + 1;
        self.until(Duration::from_secs(30), |subscribers| subscribers.acks >= acks)
    }

    pub(crate) fn count(&self) -> usize {
        self.sockets.len()
    }

    /// Reads until this number of deltas has come.
    pub(crate) fn read_deltas(&mut self, deltas: usize, patience: Duration) -> Result<(), Failure> {
        let before = self.latencies.len();
        let done = self.until(patience, |subscribers| subscribers.latencies.len() - before >= deltas);
        done.map_err(|error| {
            format!("{} of {deltas} deltas came: {error}", self.latencies.len() - before).into()
        })
    }

    /// Reads pending messages and answers pings: the server closes a connection that does not answer.
    pub(crate) fn answer_pings(&mut self) -> Result<(), Failure> {
        self.read_ready(Duration::ZERO)
    }

    /// Reads until this time.
    pub(crate) fn read_until_time(&mut self, end_ns: u64) -> Result<(), Failure> {
        self.until(Duration::from_secs(600), |_| now_ns() >= end_ns)
    }

    fn until(&mut self, patience: Duration, enough: impl Fn(&Subscribers) -> bool) -> Result<(), Failure> {
        let end = now_ns() + u64::try_from(patience.as_nanos())?;
        while !enough(self) {
            if now_ns() > end {
                return Err("nothing came in time".into());
            }
            self.read_ready(Duration::from_secs(1))?;
        }
        Ok(())
    }

    /// Reads the sockets that have data, and waits for data at most this long.
    fn read_ready(&mut self, wait: Duration) -> Result<(), Failure> {
        let mut ready = [const { std::mem::MaybeUninit::uninit() }; 64];
        let wait = Timespec::try_from(wait)?;
        let (ready, _) = epoll::wait(&self.poll, &mut ready, Some(&wait))?;
        for event in ready {
            let place = usize::try_from(event.data.u64())?;
            self.read(place)?;
        }
        Ok(())
    }

    fn read(&mut self, place: usize) -> Result<(), Failure> {
        let socket = &mut self.sockets[place];
        let count = match socket.stream.read(&mut self.chunk) {
            Ok(0) => return Err("the server has closed a socket".into()),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let now = now_ns();
        socket.rest.extend_from_slice(&self.chunk[..count]);
        let mut used = 0;
        while let Some((code, payload, length)) = frame(&socket.rest[used..]) {
            match code {
                0x1 if payload.starts_with(br#"{"type":"event""#) => {
                    // Other events repeat the text once it is complete.
                    let is_delta = memchr::memmem::find(payload, br#""event":{"TextChunk":"#).is_some();
                    let times = is_delta.then(|| times(payload)).into_iter().flatten();
                    self.latencies.extend(times.map(|written| now.saturating_sub(written)));
                }
                0x1 if memchr::memmem::find(payload, br#""type":"ack""#).is_some() => self.acks += 1,
                0x1 => return Err(String::from_utf8_lossy(payload).into()),
                0x8 => return Err(format!("the server closes with {payload:?}").into()),
                0x9 => {
                    let payload = payload.to_vec();
                    send(&mut socket.stream, 0xA, &payload)?;
                }
                _ => {}
            }
            used += length;
        }
        socket.rest.drain(..used);
        Ok(())
    }
}

impl Socket {
    fn send(&mut self, code: u8, payload: &[u8]) -> Result<(), Failure> {
        send(&mut self.stream, code, payload)
    }
}

/// Sends a message. The protocol requires a mask, and accepts one of zeros.
fn send(stream: &mut File, code: u8, payload: &[u8]) -> Result<(), Failure> {
    let length = u16::try_from(payload.len())?;
    let mut frame = vec![0x80 | code];
    if length < 126 {
        frame.push(0x80 | u8::try_from(length)?);
    } else {
        frame.push(0x80 | 126);
        frame.extend_from_slice(&length.to_be_bytes());
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(payload);
    Ok(stream.write_all(&frame)?)
}

/// The opcode, the payload and the length of the first message, if it is complete.
fn frame(bytes: &[u8]) -> Option<(u8, &[u8], usize)> {
    let (&code, &short) = (bytes.first()?, bytes.get(1)?);
    let (head, length) = match short & 0x7F {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
        short => (2, usize::from(short)),
    };
    Some((code & 0x0F, bytes.get(head..head + length)?, head + length))
}
