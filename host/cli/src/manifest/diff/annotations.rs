//! Changes as annotations of a pull request: GitHub's workflow commands, a line each.

use std::path::Path;

use pinhole_manifest::diff::{Change, Direction, Place, places};

use super::{Compared, Unread};
use crate::manifest::{annotation, data, property};

pub(super) fn changes(services: &[Compared]) -> Vec<String> {
    services.iter().flat_map(service).collect()
}

pub(super) fn unread(unread: &[Unread]) -> Vec<String> {
    unread
        .iter()
        .flat_map(|one| one.diagnostics.iter().map(|fault| annotation(&one.file.path, fault)))
        .collect()
}

fn service(service: &Compared) -> Vec<String> {
    let Some(file) = service.file() else { return Vec::new() };
    let changes = service.comparison.changes();
    // What is gone is shown at the nearest place around where it was.
    let found = places(&file.bytes, changes.iter().map(Change::pointer));
    let mut lines = Vec::new();
    if let Some(says) = service.comparison.version().says() {
        let place = places(&file.bytes, ["/version"]);
        let message = format!("{}: {says}", service.service);
        lines.extend(place.first().map(|place| line("error", &file.path, *place, "version", &message)));
    }
    for (change, place) in changes.iter().zip(found) {
        let level = match change.direction() {
            Direction::Widens | Direction::Unproven => "warning",
            Direction::Narrows | Direction::Neutral => "notice",
        };
        let op = change.op().map_or_else(String::new, |op| format!(".{op}"));
        let message = format!("{}{op}: {}: {}", service.service, change.direction().as_str(), change.says());
        lines.push(line(level, &file.path, place, change.kind().as_str(), &message));
    }
    lines
}

fn line(level: &str, path: &Path, place: Place, title: &str, message: &str) -> String {
    format!(
        "::{level} file={},line={},col={},title={}::{}",
        property(&path.display().to_string()),
        place.line,
        place.column,
        property(title),
        data(message),
    )
}
