//! Whose processes are at the other ends of connections. Cookies know no ports: another user's server on this machine, which
//! the member's browser is led to, is sent hers. So another user is not answered at all, whatever she shows.
//!
//! Linux says whose each socket is; elsewhere the cookie alone stands between users. The superuser, who can read this
//! process anyway, is let in: what forwards ports runs under that name. INVARIANT: where the system has a table of sockets, who
//! does not stand in it with an open socket and a name is another. proc(5), `/proc/net/tcp`.

#[cfg(any(target_os = "linux", test))]
use std::collections::HashMap;
use std::net::SocketAddr;

/// Who is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The user of this process, or one who cannot be told.
    Own,
    /// Another user of this machine, or nobody any more.
    Other,
}

/// Who has each of the sockets at `from` that are connected to `here`, in their order, by one look at the system's tables.
/// Blocks for a moment.
#[cfg(target_os = "linux")]
pub(super) fn of(from: &[SocketAddr], here: SocketAddr) -> Vec<Neighbour> {
    let own = rustix::process::geteuid().as_raw();
    tables().map_or_else(|| vec![Neighbour::Own; from.len()], |tables| among(&tables, from, here, own))
}

/// The same where the system does not say.
#[cfg(not(target_os = "linux"))]
pub(super) fn of(from: &[SocketAddr], _here: SocketAddr) -> Vec<Neighbour> {
    vec![Neighbour::Own; from.len()]
}

/// All rows that the system has; `None` where it has no such thing.
#[cfg(target_os = "linux")]
fn tables() -> Option<String> {
    match std::fs::read_to_string("/proc/net/tcp") {
        // A system without version 6 has no second one.
        Ok(first) => Some(first + &std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        // It is there and cannot be read: nobody can be named.
        Err(_) => Some(String::new()),
    }
}

/// The state of a connection that neither side has ended.
#[cfg(any(target_os = "linux", test))]
const ESTABLISHED: &str = "01";

/// The same by these rows, for a process of the user `own`.
#[cfg(any(target_os = "linux", test))]
fn among(tables: &str, from: &[SocketAddr], here: SocketAddr, own: u32) -> Vec<Neighbour> {
    let here = forms(here);
    let mut sockets = HashMap::new();
    for line in tables.lines() {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (Some(local), Some(remote)) = (columns.next(), columns.next()) else { continue };
        if here.iter().flatten().any(|here| here == remote) {
            let trusted = is_trusted(columns, own);
            // Of two rows for one socket, neither may be another's.
            sockets.entry(local).and_modify(|all| *all &= trusted).or_insert(trusted);
        }
    }
    let of = |from: &SocketAddr| {
        let from = forms(*from);
        let mut rows = from.iter().flatten().filter_map(|from| sockets.get(from.as_str())).peekable();
        let known = rows.peek().is_some();
        if known && rows.all(|trusted| *trusted) { Neighbour::Own } else { Neighbour::Other }
    };
    from.iter().map(of).collect()
}

/// Whether a row's columns, from its state on, are of an open socket of `own` or the superuser. A socket that was closed has no
/// inode, and 0 for its user, whosever it was.
#[cfg(any(target_os = "linux", test))]
fn is_trusted<'a>(mut columns: impl Iterator<Item = &'a str>, own: u32) -> bool {
    let state = columns.next();
    let user = columns.nth(3).and_then(|user| user.parse::<u32>().ok());
    let inode = columns.nth(1).and_then(|inode| inode.parse::<u64>().ok());
    let is_open = state == Some(ESTABLISHED) && inode.is_some_and(|inode| inode != 0);
    is_open && user.is_some_and(|user| user == own || user == 0)
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
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1267 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1 0 100 0 0 10 0
   1: 0100007F:1267 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 43 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1267 01 00000000:00000000 00:00000000 00000000 65534        0 42 1 0 20 4 30 10 -1
   3: 0000000000000000FFFF00000100007F:C351 0000000000000000FFFF00000100007F:1267 01 00000000:00000000 00:00000000 00000000  1001        0 44 1 0 20 4 30 10 -1
   4: 0100007F:C353 0100007F:1267 01 00000000:00000000 00:00000000 00000000     0        0 45 1 0 20 4 30 10 -1
   5: 0100007F:C354 0100007F:1267 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
   6: 0100007F:C355 0100007F:1267 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   7: 0100007F:C356 0100007F:1267 05 00000000:00000000 00:00000000 00000000  1001        0 46 1 0 20 4 30 10 -1
   8: 0100007F:C357 0100007F:1267 01 00000000:00000000 00:00000000 00000000  1001        0 0 1 0 20 4 30 10 -1
   9: 0100007F:C358 0100007F:1267 01 00000000:00000000 00:00000000 00000000
  10: 0100007F:C359 0100007F:1267 01 00000000:00000000 00:00000000 00000000  1001        0 47 1 0 20 4 30 10 -1
  11: 0100007F:C359 0100007F:1267 01 00000000:00000000 00:00000000 00000000 65534        0 48 1 0 20 4 30 10 -1
";

    fn at_port(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    /// By the table, for a process of the user 1001.
    fn by_table(from: SocketAddr, here: SocketAddr) -> Neighbour {
        among(TABLE, &[from], here, 1001).into_iter().next().unwrap_or(Neighbour::Other)
    }

    #[test]
    fn a_socket_is_found_by_both_its_ends() {
        let here = at_port(0x1267);
        assert_eq!(by_table(at_port(50_001), here), Neighbour::Own);
        assert_eq!(by_table(at_port(50_000), here), Neighbour::Other);
        assert_eq!(by_table(at_port(50_002), here), Neighbour::Other);
        assert_eq!(by_table(at_port(50_001), at_port(80)), Neighbour::Other);
        assert_eq!(by_table(SocketAddr::from(([127, 0, 0, 2], 50_001)), here), Neighbour::Other);
        let many = among(TABLE, &[at_port(50_000), at_port(50_001)], here, 65534);
        assert_eq!(many, [Neighbour::Own, Neighbour::Other]);
    }

    #[test]
    fn only_an_open_socket_has_a_user() {
        let here = at_port(0x1267);
        assert_eq!(by_table(at_port(0xC353), here), Neighbour::Own, "the superuser's");
        for (port, why) in [
            (0xC354, "closed, its other end not yet"),
            (0xC355, "closed at both ends"),
            (0xC356, "half closed"),
            (0xC357, "without an inode"),
            (0xC358, "a row that breaks off"),
            (0xC359, "two rows, one of another"),
        ] {
            assert_eq!(by_table(at_port(port), here), Neighbour::Other, "{why}");
        }
    }

    #[test]
    fn who_has_closed_is_another() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let here = listener.local_addr().unwrap();
        let stream = TcpStream::connect(here).unwrap();
        let (_held, from) = listener.accept().unwrap();
        assert_eq!(of(&[from], here), [Neighbour::Own]);
        drop(stream);
        assert_eq!(of(&[from], here), [Neighbour::Other]);
    }

    #[test]
    fn who_is_in_no_table_is_another() {
        assert_eq!(of(&[at_port(1)], at_port(1)), [Neighbour::Other]);
    }
}
