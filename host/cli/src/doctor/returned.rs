//! Pairs that the bot has renewed and the member has not taken in: those that wait for her, and those that wait for nothing.

use pinhole_runtime::store::ReturnedRow;

use super::database::Database;
use super::finding::Findings;
use super::keys::{Keys, Member};

pub(super) fn look(keys: &Keys, database: &Database, findings: &mut Findings) {
    let (Some(desk), Member::There(member)) = (database.desk(), &keys.member) else { return };
    // What cannot be read of the connections is said where they are looked at.
    let Ok(rows) = desk.connections(member.id()) else { return };
    let returned = match desk.returned(member.id()) {
        Ok(returned) => returned,
        Err(error) => return findings.store("renewed keys", error),
    };
    let waits = |pair: &&ReturnedRow| {
        rows.iter().any(|row| row.id == pair.connection && row.generation < pair.generation)
    };
    let waiting = returned.iter().filter(waits).count();
    let stale = returned.len().saturating_sub(waiting);
    if waiting > 0 {
        let found = format!("{waiting} wait to be taken in, which happens once the member's key is used");
        findings.ok("renewed keys", found);
    }
    if stale > 0 {
        let found = format!("{stale} are of connections that are gone, or no newer than what she has");
        findings.warning("renewed keys", found, "`pinhole connections renew` forgets them");
    }
}
