//! A record as DNSimple lists it, and the line that it becomes.
//!
//! DNSimple has a name without the zone, a priority of its own, and host names without the dot at their end.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

use crate::text::{Word, absolute, comment, is_name, owner, strings, words};

/// A record; what else it has is not read.
#[derive(Debug, Deserialize)]
pub(crate) struct Record {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    content: String,
    ttl: u32,
    priority: Option<u16>,
    #[serde(default)]
    regions: Option<Vec<String>>,
}

/// A record's line, with its end.
#[derive(Debug)]
pub(crate) struct Line {
    name: String,
    kind: String,
    text: String,
    comment: bool,
}

impl Line {
    /// The line of a record, or the comment that stands for it.
    pub(crate) fn of(record: &Record) -> Self {
        let (name, kind) = (record.name.clone(), record.kind.clone());
        let regions = record.regions.iter().flatten().filter(|region| *region != "global");
        let regions: Vec<&str> = regions.map(String::as_str).collect();
        let head = format!("{}\t{}\tIN\t{kind}\t", owner(&name), record.ttl);
        match data(record).filter(|_| is_name(&name)) {
            Some(data) if regions.is_empty() => {
                Self { name, kind, text: format!("{head}{data}\n"), comment: false }
            }
            // Other servers would answer with it everywhere.
            Some(data) => {
                let text = comment(&format!("only in {}: {head}{data}", regions.join(", ")));
                Self { name, kind, text, comment: true }
            }
            None => {
                let priority = record.priority.map(|priority| format!("{priority} ")).unwrap_or_default();
                let text = comment(&format!("not in a zone file: {head}{priority}{}", record.content));
                Self { name, kind, text, comment: true }
            }
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_comment(&self) -> bool {
        self.comment
    }

    /// Whether it is the zone's own SOA.
    pub(crate) fn is_start(&self) -> bool {
        self.kind == "SOA" && self.name.is_empty() && !self.comment
    }

    /// The SOA first, then the zone's own name servers, then by name, type and text.
    pub(crate) fn place(&self) -> impl Ord {
        let servers = self.kind == "NS" && self.name.is_empty();
        (!self.is_start(), !servers, self.name.clone(), self.kind.clone(), self.text.clone())
    }
}

/// A record's data as a zone file has it; nothing for what is none of DNS, or is not in the form that its type has.
fn data(record: &Record) -> Option<String> {
    if matches!(record.kind.as_str(), "TXT" | "SPF") {
        return Some(strings(&record.content));
    }
    let all = words(&record.content)?;
    let plain: Vec<&str> = all.iter().map(Word::as_str).collect();
    Some(match (record.kind.as_str(), plain.as_slice()) {
        ("A", [address]) => address.parse::<Ipv4Addr>().ok()?.to_string(),
        ("AAAA", [address]) => address.parse::<Ipv6Addr>().ok()?.to_string(),
        ("CNAME" | "NS" | "PTR", [host]) => host_name(host)?,
        ("MX", [host]) => format!("{} {}", record.priority?, host_name(host)?),
        ("SRV", [weight, port, host]) => {
            format!("{} {} {} {}", record.priority?, number(weight)?, number(port)?, host_name(host)?)
        }
        ("SOA", [server, mail, numbers @ ..]) if numbers.len() == 5 => {
            let numbers: Option<Vec<&str>> = numbers.iter().map(|text| number(text)).collect();
            format!("{} {} {}", host_name(server)?, host_name(mail)?, numbers?.join(" "))
        }
        ("CAA" | "DNSKEY" | "DS" | "HINFO" | "NAPTR" | "SSHFP", [_, ..]) => {
            let written: Vec<String> = all.iter().map(Word::written).collect();
            written.join(" ")
        }
        _ => return None,
    })
}

/// A host's name as a zone file has it; the root is one for services that are not there.
fn host_name(text: &str) -> Option<String> {
    (!text.is_empty() && is_name(text)).then(|| absolute(text))
}

fn number(text: &str) -> Option<&str> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    (digits && text.parse::<u32>().is_ok()).then_some(text)
}
