//! `pinhole registry verify`: what is in a registry's folder, and what is wrong with it.

use pinhole_manifest::visible::visible;
use pinhole_registry::author::{Audit, Fault, FaultKind};
use serde_json::json;

use super::args::FolderFlags;
use super::{maintain, now};
use crate::end::End;
use crate::out;

pub(super) fn verify(flags: &FolderFlags) -> anyhow::Result<End> {
    let audit = maintain::opened(&flags.folder)?.verify(now()?);
    if flags.json {
        out::json(&document(&audit))?;
    } else {
        show(&audit);
    }
    Ok(if audit.faults.iter().all(is_left_over) { End::Done } else { End::Invalid })
}

/// What a killed `publish` has left is in nobody's way.
fn is_left_over(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Unnamed)
}

fn show(audit: &Audit) {
    for (role, version, expires) in &audit.roles {
        out::line(format_args!("{role} {version}, good until {expires}"));
    }
    for (role, seats) in &audit.seats {
        out::line(format_args!("{role}: {} of these sign", seats.threshold()));
        seats.keys().for_each(|key| out::line(format_args!("  {}", key.id())));
    }
    for (service, version, digest) in &audit.services {
        out::line(format_args!("  {service}@{version} {digest}"));
    }
    for standing in &audit.pending {
        out::line(format_args!("waits: {standing}"));
    }
    let (left_over, faults): (Vec<&Fault>, Vec<&Fault>) =
        audit.faults.iter().partition(|fault| is_left_over(fault));
    let said = |fault: &Fault| format!("{}: {}", visible(&fault.file), visible(&fault.kind.to_string()));
    for fault in left_over {
        out::line(format_args!("left over: {}", said(fault)));
    }
    for fault in &faults {
        out::line(format_args!("FAULT {}", said(fault)));
    }
    match faults.len() {
        0 => out::line("everything is as it should be"),
        1 => out::line("1 fault"),
        more => out::line(format_args!("{more} faults")),
    }
}

fn document(audit: &Audit) -> serde_json::Value {
    json!({
        "roles": audit.roles.iter().map(|(role, version, expires)| json!({
            "role": role.as_str(), "version": version, "expires": expires.to_string(),
        })).collect::<Vec<_>>(),
        "seats": audit.seats.iter().map(|(role, seats)| json!({
            "role": role.as_str(),
            "threshold": seats.threshold(),
            "keys": seats.keys().map(|key| key.id().to_string()).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "services": audit.services.iter().map(|(service, version, digest)| json!({
            "service": service, "version": version.to_string(), "digest": digest,
        })).collect::<Vec<_>>(),
        "pending": audit.pending.iter().map(|standing| json!({
            "role": standing.role.as_str(),
            "root": standing.root,
            "threshold": standing.threshold,
            "signed": standing.signed.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "missing": standing.missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "faults": audit.faults.iter().map(|fault| json!({
            "file": fault.file, "fault": fault.kind.to_string(), "left_over": is_left_over(fault),
        })).collect::<Vec<_>>(),
    })
}
