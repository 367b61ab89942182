//! A bridge for tests that kill it: `mortal_bridge FOLDER STORE FENCE` reads the output of a host's CLI from
//! the offset at which the file STORE ends, appends it to the file, and acknowledges it. The tests kill it at
//! any moment and check the file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../tests/host/raw.rs"]
mod raw;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(store), Some(fence)) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("mortal_bridge FOLDER STORE FENCE".into());
    };
    let mut file = OpenOptions::new().append(true).create(true).open(&store)?;
    let mut stored = file.metadata()?.len();
    let mut bridge = raw::Raw::attach(&PathBuf::from(folder), "mortal", fence.parse()?, Some(stored));
    loop {
        let (head, bytes) = bridge.next();
        match head["kind"].as_str() {
            Some("out") => {
                file.write_all(&bytes)?;
                stored += bytes.len() as u64;
                bridge.send(&format!(r#"{{"kind":"ack","offset":{stored}}}"#), b"");
            }
            Some("exit") => return Ok(()),
            _ => {}
        }
    }
}
