//! Computes `pipeline_summary`: how many deals are in each stage of each pipeline, and their amounts by currency. No deal
//! leaves.
//!
//! Refuses to give a part for the whole. INVARIANT: amounts are decimals, added exactly or not at all; they are never floats.

mod decimal;

use std::collections::BTreeMap;

use pinhole_guest::{Error, Host, Pages, Request, time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use decimal::Decimal;

/// Most deals of a search, all its pages together: HubSpot gives no more.
const DEALS_MAX: u64 = 10_000;
const PAGES_MAX: usize = 50;
const NARROW: &str = "name a `pipeline`, or a shorter time from `closing_from` to `closing_before`";

#[derive(Debug, Deserialize)]
struct Args {
    pipeline: Option<String>,
    closing_from: Option<String>,
    closing_before: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Pipelines {
    results: Vec<Pipeline>,
}

#[derive(Debug, Deserialize)]
struct Pipeline {
    id: String,
    label: String,
    #[serde(default, rename = "displayOrder")]
    place: i64,
    stages: Vec<Stage>,
}

#[derive(Debug, Deserialize)]
struct Stage {
    id: String,
    label: String,
    #[serde(default, rename = "displayOrder")]
    place: i64,
    #[serde(default)]
    metadata: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Page {
    total: u64,
    results: Vec<Deal>,
}

#[derive(Debug, Deserialize)]
struct Deal {
    id: String,
    properties: Properties,
}

/// What is read of a deal. HubSpot gives every property as a text.
#[derive(Debug, Deserialize)]
struct Properties {
    amount: Option<String>,
    deal_currency_code: Option<String>,
    dealstage: Option<String>,
    pipeline: Option<String>,
}

/// By pipeline and stage.
type ByStage = BTreeMap<(String, String), Sums>;

#[derive(Debug, Default)]
struct Sums {
    deals: u64,
    without_amount: u64,
    /// By currency; none for the account's own.
    totals: BTreeMap<Option<String>, (u64, Decimal)>,
}

#[derive(Debug, Serialize)]
struct Summary {
    deals: u64,
    pipelines: Vec<PipelineRow>,
}

#[derive(Debug, Serialize)]
struct PipelineRow {
    id: String,
    label: Option<String>,
    stages: Vec<StageRow>,
}

#[derive(Debug, Serialize)]
struct StageRow {
    id: String,
    label: Option<String>,
    closed: Option<bool>,
    deals: u64,
    without_amount: u64,
    totals: Vec<Total>,
}

#[derive(Debug, Serialize)]
struct Total {
    currency: Option<String>,
    deals: u64,
    amount: String,
}

fn pipeline_summary(host: &dyn Host, args: Args) -> Result<Summary, Error> {
    let search = search(&args)?;
    let Args { pipeline: named, .. } = args;
    let pipelines = pipelines(host, named.as_deref())?;
    let (deals, mut sums) = sums(host, search)?;
    let unnamed = sums.values().any(|sums| sums.totals.contains_key(&None));
    let own = if unnamed { own_currency(host)? } else { None };
    let mut rows = Vec::new();
    for Pipeline { id: pipeline, label, mut stages, .. } in pipelines {
        stages.sort_by_key(|stage| stage.place);
        let stage = |stage: Stage| {
            let closed = stage.metadata.get("isClosed").and_then(flag);
            let sums = sums.remove(&(pipeline.clone(), stage.id.clone())).unwrap_or_default();
            row(stage.id, Some(stage.label), closed, sums, own.as_deref())
        };
        let stages = stages.into_iter().map(stage).collect::<Result<_, Error>>()?;
        rows.push(PipelineRow { id: pipeline, label: Some(label), stages });
    }
    // Deals may be in a stage or a pipeline that is gone.
    for ((pipeline, stage), sums) in sums {
        let stage = row(stage, None, None, sums, own.as_deref())?;
        match rows.iter_mut().find(|row| row.id == pipeline) {
            Some(row) => row.stages.push(stage),
            None => rows.push(PipelineRow { id: pipeline, label: None, stages: vec![stage] }),
        }
    }
    Ok(Summary { deals, pipelines: rows })
}

/// The search for the deals. Of each it asks for what is added, and for nothing that names it.
fn search(args: &Args) -> Result<Request, Error> {
    let mut filters = Vec::new();
    if let Some(pipeline) = &args.pipeline {
        filters.push(json!({"propertyName": "pipeline", "operator": "EQ", "value": pipeline}));
    }
    for (date, operator) in [(&args.closing_from, "GTE"), (&args.closing_before, "LT")] {
        if let Some(date) = date {
            let seconds = time::parse(date);
            let seconds = seconds.ok_or_else(|| Error::new(format!("there is no day `{date}`")))?;
            let value = seconds.saturating_mul(1000).to_string();
            filters.push(json!({"propertyName": "closedate", "operator": operator, "value": value}));
        }
    }
    if filters.is_empty() {
        filters.push(json!({"propertyName": "hs_object_id", "operator": "HAS_PROPERTY"}));
    }
    Ok(Request::post("/crm/objects/2026-03/deals/search").json(&json!({
        "filterGroups": [{"filters": filters}],
        "sorts": ["createdate"],
        "properties": ["amount", "deal_currency_code", "dealstage", "pipeline"],
        "after": "0",
        "limit": 200,
    })))
}

/// The pipelines, in their order; the named one alone, if one is.
fn pipelines(host: &dyn Host, named: Option<&str>) -> Result<Vec<Pipeline>, Error> {
    let answer = Request::get("/crm/pipelines/2026-03/deals").send(host)?.error_for_status()?;
    let Pipelines { results: mut pipelines } = answer.json()?;
    if let Some(named) = named {
        pipelines.retain(|pipeline| pipeline.id == named);
        if pipelines.is_empty() {
            return Err(Error::new(format!("there is no pipeline `{named}`: leave it out to see them all")));
        }
    }
    pipelines.sort_by_key(|pipeline| pipeline.place);
    Ok(pipelines)
}

/// How many deals there are, and what they add up to by pipeline and stage.
fn sums(host: &dyn Host, first: Request) -> Result<(u64, ByStage), Error> {
    let mut sums = ByStage::new();
    let (mut deals, mut total) = (0, 0);
    let pages = Pages::by_cursor_in_body(host, first, "/paging/next/after", "after");
    for page in pages.at_most(PAGES_MAX, NARROW) {
        let page: Page = page?.json()?;
        total = page.total;
        if total > DEALS_MAX {
            return Err(Error::new(format!(
                "there are {total} deals, and a search gives {DEALS_MAX}: {NARROW}"
            )));
        }
        for Deal { id, properties } in page.results {
            deals += 1;
            let stage = (properties.pipeline.unwrap_or_default(), properties.dealstage.unwrap_or_default());
            let sums = sums.entry(stage).or_default();
            sums.deals += 1;
            let Some(amount) = properties.amount.filter(|amount| !amount.is_empty()) else {
                sums.without_amount += 1;
                continue;
            };
            let currency = properties.deal_currency_code.filter(|currency| !currency.is_empty());
            let (count, sum) = sums.totals.entry(currency).or_default();
            *count += 1;
            let amount = Decimal::parse(&amount);
            let added = amount.and_then(|amount| sum.plus(amount));
            *sum = added
                .ok_or_else(|| Error::new(format!("the amount of deal {id} cannot be added exactly")))?;
        }
    }
    if deals != total {
        return Err(Error::new("the deals changed while they were read: ask again"));
    }
    Ok((deals, sums))
}

/// The currency of deals that name none.
fn own_currency(host: &dyn Host) -> Result<Option<String>, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Account {
        company_currency: Option<String>,
    }
    let answer = Request::get("/account-info/2026-03/details").send(host)?.error_for_status()?;
    Ok(answer.json::<Account>()?.company_currency)
}

fn row(
    id: String,
    label: Option<String>,
    closed: Option<bool>,
    sums: Sums,
    own: Option<&str>,
) -> Result<StageRow, Error> {
    let Sums { deals, without_amount, totals: found } = sums;
    // Some deals name the account's currency, and some leave it out.
    let mut by_currency: BTreeMap<Option<String>, (u64, Decimal)> = BTreeMap::new();
    for (currency, (count, part)) in found {
        let (deals, sum) = by_currency.entry(currency.or_else(|| own.map(str::to_owned))).or_default();
        *deals += count;
        let added = sum.plus(part);
        *sum =
            added.ok_or_else(|| Error::new(format!("the amounts of stage {id} cannot be added exactly")))?;
    }
    let total =
        |(currency, (deals, sum)): (_, (u64, Decimal))| Total { currency, deals, amount: sum.to_string() };
    let totals = by_currency.into_iter().map(total).collect();
    Ok(StageRow { id, label, closed, deals, without_amount, totals })
}

/// HubSpot writes flags of a stage as texts.
fn flag(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.parse().ok())
}

pinhole_guest::export! { "pipeline_summary" => pipeline_summary }

#[cfg(test)]
mod tests;
