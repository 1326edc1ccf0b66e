//! Whose process is at the other end of a connection. Cookies know no ports: another user's server on this machine, which the
//! member's browser is led to, is sent hers. So another user is not answered at all, whatever she shows.
//!
//! Linux says whose each socket is; elsewhere the cookie alone stands between users. The superuser, who can read this
//! process anyway, is let in: what forwards ports runs under that name. proc(5), `/proc/net/tcp`.

use std::net::SocketAddr;

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The user of this process, or one who cannot be told.
    Own,
    /// Another user of this machine.
    Other,
}

/// Who has the socket at `from` that is connected to `here`. Reads the system's table: blocks for a moment.
#[cfg(target_os = "linux")]
pub(super) fn at(from: SocketAddr, here: SocketAddr) -> Neighbour {
    let tables: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    if tables.is_empty() {
        return Neighbour::Own;
    }
    let own = rustix::process::geteuid().as_raw();
    match tables.iter().find_map(|table| user_of(table, from, here)) {
        Some(user) if user == own || user == 0 => Neighbour::Own,
        Some(_) | None => Neighbour::Other,
    }
}

/// The same where the system does not say.
#[cfg(not(target_os = "linux"))]
pub(super) fn at(_from: SocketAddr, _here: SocketAddr) -> Neighbour {
    Neighbour::Own
}

/// The user of the socket at `from` that is connected to `here`, by a table of the system's.
#[cfg(any(target_os = "linux", test))]
fn user_of(table: &str, from: SocketAddr, here: SocketAddr) -> Option<u32> {
    let (from, here) = (forms(from)?, forms(here)?);
    table.lines().find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (local, remote) = (columns.next()?, columns.next()?);
        let is_it = from.iter().zip(&here).any(|(from, here)| local == from && remote == here);
        if is_it { columns.nth(4)?.parse().ok() } else { None }
    })
}

/// An address of version 4 as the tables have it: as itself, and mapped into version 6. Words are in the machine's order.
#[cfg(any(target_os = "linux", test))]
fn forms(address: SocketAddr) -> Option<[String; 2]> {
    let SocketAddr::V4(address) = address else { return None };
    let (word, port) = (u32::from_ne_bytes(address.ip().octets()), address.port());
    let mapped = u32::from_ne_bytes([0, 0, 0xff, 0xff]);
    Some([format!("{word:08X}:{port:04X}"), format!("{:016X}{mapped:08X}{word:08X}:{port:04X}", 0)])
}

#[cfg(all(test, target_os = "linux", target_endian = "little"))]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1267 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1 0 100 0 0 10 0
   1: 0100007F:1267 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 43 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1267 01 00000000:00000000 00:00000000 00000000 65534        0 42 1 0 20 4 30 10 -1
   3: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:1267 01 00000000:00000000 00:00000000 00000000  1001        0 44 1 0 20 4 30 10 -1
";

    fn at_port(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn a_socket_is_found_by_both_its_ends() {
        let here = at_port(0x1267);
        assert_eq!(user_of(TABLE, at_port(50_000), here), Some(65534));
        assert_eq!(user_of(TABLE, at_port(50_001), here), Some(1001));
        assert_eq!(user_of(TABLE, at_port(50_002), here), None);
        assert_eq!(user_of(TABLE, at_port(50_000), at_port(80)), None);
        assert_eq!(user_of(TABLE, SocketAddr::from(([127, 0, 0, 2], 50_000)), here), None);
    }

    #[test]
    fn who_is_in_no_table_is_another() {
        assert_eq!(at(at_port(1), at_port(1)), Neighbour::Other);
    }
}
