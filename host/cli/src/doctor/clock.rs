//! The machine's clock, against the latest time that was ever seen here and against the day this program was made.

use pinhole_grant::UnixTime;
use pinhole_grant::scope::SKEW_SECS;
use pinhole_runtime::clock::{Clock as _, SystemClock};

use super::database::Database;
use super::finding::Findings;
use crate::out;

/// No clock that is right stands before this: 2026-11-01, when there was no such program.
const FLOOR: UnixTime = UnixTime::from_secs(1_793_491_200);

/// How a clock stands.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    Right,
    /// Before this program was made.
    Early,
    /// So much that it was later already.
    Behind(UnixTime),
}

pub(super) fn look(database: &Database, findings: &mut Findings) {
    let latest = match database {
        Database::There(store, _) => store.latest().unwrap_or_else(|error| {
            findings.store("clock", error);
            None
        }),
        Database::Shared(_) | Database::None | Database::Unusable => None,
    };
    let now = SystemClock.now();
    let shown = out::moment(now);
    match standing(now, latest) {
        Standing::Right => findings.ok("clock", shown),
        Standing::Early => {
            let hint = "set the clock right: without it grants do not open, and certificates do not hold";
            findings.wrong("clock", format!("it stands at {shown}, before this program was made"), hint);
        }
        Standing::Behind(latest) => {
            let found = format!("it stands at {shown}, and it has been {} here already", out::moment(latest));
            findings.wrong("clock", found, BEHIND);
        }
    }
}

const BEHIND: &str = "set the clock right; if it is right now and once ran ahead, grants look expired until then: while \
    nothing runs, `sqlite3 pinhole.db \"DELETE FROM clock\"` in the home of the database, knowing that what expired in \
    between opens again";

fn standing(now: UnixTime, latest: Option<UnixTime>) -> Standing {
    match latest {
        _ if now < FLOOR => Standing::Early,
        Some(latest) if now.plus_secs(SKEW_SECS) < latest => Standing::Behind(latest),
        _ => Standing::Right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_right_up_to_a_minute_behind_and_never_before_the_program() {
        let at = |seconds| FLOOR.plus_secs(seconds);
        assert_eq!(out::moment(FLOOR), "2026-11-01 00:00:00 UTC");
        assert_eq!(standing(at(0), None), Standing::Right);
        assert_eq!(standing(at(0), Some(at(-9))), Standing::Right);
        assert_eq!(standing(at(-1), None), Standing::Early);
        assert_eq!(standing(UnixTime::from_secs(0), Some(at(9))), Standing::Early);
        assert_eq!(standing(at(0), Some(at(60))), Standing::Right);
        assert_eq!(standing(at(0), Some(at(61))), Standing::Behind(at(61)));
    }
}
