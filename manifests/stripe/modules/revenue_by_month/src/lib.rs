//! Computes `revenue_by_month`: what was charged and refunded, by month and currency. No charge, refund or customer leaves.
//!
//! Refuses to give a part for the whole. INVARIANT: amounts are integers in the smallest unit of their currency, added
//! exactly or not at all; they are never floats.

use std::collections::BTreeMap;

use pinhole_guest::{Error, Host, Pages, REQUESTS_A_CALL, Request, time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What to narrow.
const NARROW: &str = "ask for fewer months, `from` and `to`";

#[derive(Debug, Deserialize)]
struct Args {
    from: String,
    to: Option<String>,
    currency: Option<String>,
}

#[derive(Debug, Deserialize)]
struct List<T> {
    data: Vec<T>,
    has_more: bool,
}

/// A charge; who paid it is not read.
#[derive(Debug, Deserialize)]
struct Charge {
    status: String,
    amount_captured: i64,
    currency: String,
    created: i64,
}

#[derive(Debug, Deserialize)]
struct Refund {
    status: Option<String>,
    amount: i64,
    currency: String,
    created: i64,
}

#[derive(Debug, Serialize)]
struct Revenue {
    months: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    month: String,
    currency: String,
    charges: u64,
    charged: i64,
    refunds: u64,
    refunded: i64,
    refunds_pending: i64,
    net: i64,
}

#[derive(Debug, Default)]
struct Sums {
    charges: u64,
    charged: i64,
    refunds: u64,
    refunded: i64,
    pending: i64,
}

fn revenue_by_month(host: &dyn Host, args: Args) -> Result<Revenue, Error> {
    let Args { from, to, currency } = args;
    let to = to.unwrap_or_else(|| time::month(host.now()));
    let (since, before) = (start(&from)?, start(&month_after(&to)?)?);
    if since >= before {
        return Err(Error::new(format!(
            "there is no month from {from} to {to}: let `from` come before `to`"
        )));
    }
    let wanted = |other: &str| currency.as_deref().is_none_or(|currency| currency == other);
    let mut sums: BTreeMap<(String, String), Sums> = BTreeMap::new();

    let mut requests = 0;
    let charges = all::<Charge>(host, between(Request::get("/v1/charges"), since, before), &mut requests);
    for charge in charges? {
        if charge.status != "succeeded" || charge.amount_captured == 0 || !wanted(&charge.currency) {
            continue;
        }
        let sums = sums.entry((time::month(charge.created), charge.currency)).or_default();
        sums.charges += 1;
        sums.charged = sum(sums.charged, charge.amount_captured)?;
    }
    let refunds = all::<Refund>(host, between(Request::get("/v1/refunds"), since, before), &mut requests);
    for refund in refunds? {
        if !wanted(&refund.currency) {
            continue;
        }
        let (month, status) = (time::month(refund.created), refund.status.unwrap_or_default());
        // A refund that failed or was canceled has given nothing back.
        if !["succeeded", "pending", "requires_action"].contains(&status.as_str()) {
            continue;
        }
        let sums = sums.entry((month, refund.currency)).or_default();
        if status == "succeeded" {
            sums.refunds += 1;
            sums.refunded = sum(sums.refunded, refund.amount)?;
        } else {
            sums.pending = sum(sums.pending, refund.amount)?;
        }
    }
    let row = |((month, currency), sums): (_, Sums)| {
        let Sums { charges, charged, refunds, refunded, pending } = sums;
        let net = sum(charged, -refunded)?;
        Ok(Row { month, currency, charges, charged, refunds, refunded, refunds_pending: pending, net })
    };
    Ok(Revenue { months: sums.into_iter().map(row).collect::<Result<_, Error>>()? })
}

fn between(request: Request, since: i64, before: i64) -> Request {
    request.query("created[gte]", since).query("created[lt]", before).query("limit", 100)
}

/// Every element of a list, of which each page goes on behind the last id of the one before.
fn all<T: DeserializeOwned>(host: &dyn Host, first: Request, requests: &mut usize) -> Result<Vec<T>, Error> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    let left = REQUESTS_A_CALL.saturating_sub(*requests);
    let pages = Pages::following(host, first, |last, answer| {
        let List { data, has_more } = answer.json::<List<Id>>()?;
        match data.last() {
            Some(Id { id }) if has_more => Ok(Some(last.clone().set_query("starting_after", id))),
            None if has_more => Err(Error::new("a page of Stripe's is empty and says that there is more")),
            _ => Ok(None),
        }
    });
    let mut elements = Vec::new();
    for page in pages.at_most(left, NARROW) {
        elements.extend(page.map_err(too_many)?.json::<List<T>>()?.data);
        *requests += 1;
    }
    Ok(elements)
}

/// Says it of both lists, for they share what a call has.
fn too_many(error: Error) -> Error {
    match error {
        Error::TooManyPages { narrow, .. } => Error::new(format!(
            "the charges and refunds are more than {REQUESTS_A_CALL} pages, which is all that one call reads: {narrow}"
        )),
        other => other,
    }
}

fn sum(a: i64, b: i64) -> Result<i64, Error> {
    a.checked_add(b).ok_or_else(|| Error::new("the amounts are too large to be added"))
}

/// The first second of a month such as `2026-01`.
fn start(month: &str) -> Result<i64, Error> {
    time::parse(&format!("{month}-01")).ok_or_else(|| Error::new(format!("there is no month `{month}`")))
}

fn month_after(month: &str) -> Result<String, Error> {
    // No month has more than 31 days, and none has so few that this leads past the next.
    Ok(time::month(start(month)?.saturating_add(31 * time::DAY)))
}

pinhole_guest::export! { "revenue_by_month" => revenue_by_month }

#[cfg(test)]
mod tests;
