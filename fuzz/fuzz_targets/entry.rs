//! Any bytes decode to an entry or to an error; the typed entry writes back the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidings_protocol::entry::{Entry, EntryRef};
use tidings_protocol::json::{Raw, Wire as _, same_json};

fuzz_target!(|data: &[u8]| {
    let _ = Entry::decode_lossy(data);
    let Ok(entry) = EntryRef::decode(data) else { return };
    let _ =
        (entry.name(), entry.uuid(), entry.parent_uuid(), entry.timestamp(), entry.usage(), entry.dialect());
    let mut line = String::new();
    entry.body().write(&mut line);
    let again = Raw::parse(&line).expect("what we write is JSON");
    assert!(same_json(entry.json(), again), "{}\n{line}", entry.json());
});
