//! Exchanges the one-time code of `tidings pair` for a credential of this program.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::env;

use tidings_remote::{Error, RemoteServer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut arguments = env::args().skip(1);
    let (Some(address), Some(code)) = (arguments.next(), arguments.next()) else {
        println!("usage: pair_a_device ADDRESS CODE");
        return Ok(());
    };
    let paired = RemoteServer::pair(&address, &code, "an example").await?;
    // It is shown once: a program stores it in a file that only its user may read.
    let token = paired.token.unwrap_or_default();
    let server = RemoteServer::at(&address, &token)?;
    let caller = server.meta().await?.you;
    println!("{} may {}", caller.name, caller.scopes.join(", "));
    Ok(())
}
