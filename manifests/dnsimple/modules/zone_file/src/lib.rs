//! Computes `zone_file`: a zone's records as the text of a zone file. RFC 1035, section 5.
//!
//! Refuses a zone that changes while it is read. INVARIANT: a record is one line, whatever it holds; what no zone file has
//! is a comment, and never lost.

mod records;
mod text;

use pinhole_guest::{Error, Host, Pages, REQUESTS_A_CALL, Request, path};
use serde::{Deserialize, Serialize};

use records::{Line, Record};

#[derive(Debug, Deserialize)]
struct Args {
    account: u64,
    zone: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Page {
    data: Vec<Record>,
    pagination: Pagination,
}

#[derive(Debug, Deserialize)]
struct Pagination {
    current_page: u64,
    total_pages: u64,
    total_entries: usize,
}

#[derive(Debug, Serialize)]
struct Written {
    zone: String,
    records: usize,
    comments: usize,
    zone_file: String,
}

fn zone_file(host: &dyn Host, args: Args) -> Result<Written, Error> {
    let Args { account, zone, kind } = args;
    let records = all(host, account, &zone, kind.as_deref())?;
    let mut lines: Vec<Line> = records.iter().map(Line::of).collect();
    // The first record of a zone file is its SOA.
    lines.sort_by(|a, b| a.place().cmp(&b.place()));
    let mut zone_file = format!("$ORIGIN {}\n", text::absolute(&zone));
    if let Some(kind) = &kind {
        zone_file.push_str(&text::comment(&format!("only the records of the type {kind}")));
    } else if !lines.iter().any(Line::is_start) {
        zone_file.push_str(&text::comment("the zone has no SOA record here"));
    }
    for line in &lines {
        zone_file.push_str(line.text());
    }
    let comments = lines.iter().filter(|line| line.is_comment()).count();
    Ok(Written { zone, records: lines.len() - comments, comments, zone_file })
}

fn all(host: &dyn Host, account: u64, zone: &str, kind: Option<&str>) -> Result<Vec<Record>, Error> {
    let first = Request::get(path!("/v2/{}/zones/{}/records", account, zone))
        .query_if("type", kind)
        .query("sort", "id:asc")
        .query("per_page", 100);
    let pages = Pages::following(host, first, |last, answer| {
        let Pagination { current_page, total_pages, .. } = answer.json::<Page>()?.pagination;
        let more = current_page < total_pages;
        Ok(more.then(|| last.clone().set_query("page", current_page.saturating_add(1))))
    });
    let (mut records, mut entries) = (Vec::new(), 0);
    for page in pages.at_most(REQUESTS_A_CALL, "ask for one `type` of record at a time") {
        let page: Page = page?.json()?;
        records.extend(page.data);
        entries = page.pagination.total_entries;
    }
    if records.len() != entries {
        return Err(Error::new("the zone changed while it was read: ask again"));
    }
    Ok(records)
}

pinhole_guest::export! { "zone_file" => zone_file }

#[cfg(test)]
mod tests;
