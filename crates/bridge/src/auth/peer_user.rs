//! The user of the process at the other end of a loopback connection.

use std::net::SocketAddr;

/// True if the client of a loopback connection runs as the user of this process. False if that cannot be
/// determined.
#[cfg(target_os = "linux")]
pub(super) fn is_own(remote: SocketAddr, local: SocketAddr) -> bool {
    let own = rustix::process::geteuid().as_raw();
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|path| {
        fs_err::read_to_string(path).is_ok_and(|table| table::user_of(&table, remote, local) == Some(own))
    })
}

/// Other systems do not tell the user of a TCP connection.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_own(_remote: SocketAddr, _local: SocketAddr) -> bool {
    false
}

/// The kernel's table of TCP sockets.
#[cfg(target_os = "linux")]
mod table {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    /// The state of an open connection. Closed ones are listed as sockets of root for a while.
    const ESTABLISHED: &str = "01";

    /// The user id of the socket that is bound to `client` and connected to `server`.
    pub(super) fn user_of(table: &str, client: SocketAddr, server: SocketAddr) -> Option<u32> {
        let ends = (canonical(client), canonical(server));
        table.lines().skip(1).find_map(|line| {
            let mut columns = line.split_whitespace().skip(1);
            let (own, other) = (address(columns.next()?)?, address(columns.next()?)?);
            let is_open = columns.next()? == ESTABLISHED;
            let user = columns.nth(3)?.parse().ok()?;
            (is_open && (own, other) == ends).then_some(user)
        })
    }

    fn canonical(address: SocketAddr) -> (IpAddr, u16) {
        (address.ip().to_canonical(), address.port())
    }

    /// Parses `0100007F:1E25`: words of 32 bits in the byte order of the machine, and the port.
    fn address(text: &str) -> Option<(IpAddr, u16)> {
        let (digits, port) = text.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        if !digits.is_ascii() || !matches!(digits.len(), 8 | 32) {
            return None;
        }
        let mut bytes = Vec::with_capacity(16);
        for word in digits.as_bytes().chunks(8) {
            let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
            bytes.extend(word.to_ne_bytes());
        }
        let address = match <[u8; 4]>::try_from(bytes.as_slice()) {
            Ok(four) => Ipv4Addr::from(four).into(),
            Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?).into(),
        };
        Some((IpAddr::to_canonical(&address), port))
    }

    #[cfg(all(test, target_endian = "little"))]
    mod tests {
        use super::*;

        const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1E25 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   1: 0100007F:C350 0100007F:1E25 01 00000000:00000000 00:00000000 00000000  1001        0 2 1
   2: 0100007F:1E25 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 3 1
   3: 0100007F:C351 0100007F:1E25 06 00000000:00000000 03:00000F00 00000000     0        0 0 3
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1E25 01 00000000:00000000 00:00000000 00000000  1002        0 4 1
   5: 00000000000000000000000001000000:C353 00000000000000000000000001000000:1E25 01 00000000:00000000 00:00000000 00000000  1003        0 5 1
   6: short
";

        #[test]
        fn k21_the_user_of_a_connection_is_that_of_its_client_and_unknown_otherwise() {
            let cases = [
                ("127.0.0.1:50000", "127.0.0.1:7717", Some(1001)),
                ("127.0.0.1:7717", "127.0.0.1:50000", Some(1000)),
                ("127.0.0.1:50001", "127.0.0.1:7717", None),
                ("127.0.0.1:50002", "127.0.0.1:7717", Some(1002)),
                ("[::ffff:127.0.0.1]:50002", "[::ffff:127.0.0.1]:7717", Some(1002)),
                ("[::1]:50003", "[::1]:7717", Some(1003)),
                ("127.0.0.1:50000", "127.0.0.1:7718", None),
                ("127.0.0.2:50000", "127.0.0.1:7717", None),
            ];
            for (client, server, user) in cases {
                let found = user_of(TABLE, client.parse().unwrap(), server.parse().unwrap());
                assert_eq!(found, user, "{client} to {server}");
            }
            assert_eq!(user_of("", ([127, 0, 0, 1], 1).into(), ([127, 0, 0, 1], 2).into()), None);
        }
    }
}
