//! Computes `count_releases`: how many releases a GitHub repository has had in each year, drafts and previews apart.

use std::collections::BTreeMap;

use pinhole_guest::{Error, Host, Pages, Request, info, path};
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
struct Args {
    owner: String,
    repo: String,
}

/// A release as GitHub lists it; what else it has is not read.
#[derive(Debug, Deserialize)]
struct Release {
    draft: bool,
    prerelease: bool,
    published_at: Option<String>,
}

#[derive(Debug, Serialize)]
struct Counted {
    total: usize,
    previews: usize,
    years: Vec<Year>,
}

#[derive(Debug, Serialize)]
struct Year {
    year: String,
    releases: usize,
}

fn count_releases(host: &dyn Host, args: Args) -> Result<Counted, Error> {
    let first = Request::get(path!("/repos/{}/{}/releases", args.owner, args.repo)).query("per_page", 100);
    let (mut previews, mut years) = (0, BTreeMap::new());
    for page in Pages::by_link(host, first).at_most(20, "this repository has too many releases to count") {
        let releases: Vec<Release> = page?.json()?;
        info!(host, "a page of {} releases", releases.len());
        for release in releases.iter().filter(|release| !release.draft) {
            let Some(year) = release.published_at.as_deref().and_then(|time| time.get(..4)) else { continue };
            if release.prerelease {
                previews += 1;
            } else {
                *years.entry(year.to_owned()).or_insert(0) += 1;
            }
        }
    }
    let years: Vec<Year> = years.into_iter().map(|(year, releases)| Year { year, releases }).collect();
    Ok(Counted { total: years.iter().map(|year| year.releases).sum(), previews, years })
}

pinhole_guest::export! { "count_releases" => count_releases }

#[cfg(test)]
mod tests {
    use pinhole_guest::recorded::{Recorded, check_cases};
    use pinhole_guest::{Error, Request, Response, path};

    use super::run;

    #[test]
    fn every_recorded_case_holds() {
        check_cases(concat!(env!("CARGO_MANIFEST_DIR"), "/cases"), "count_releases", run);
    }

    #[test]
    fn a_repository_that_is_not_there_is_an_error() {
        let request = Request::get(path!("/repos/{}/{}/releases", "octo", "gone")).query("per_page", 100);
        let service = Recorded::new().on(request, Response::new(404));
        let result = run(&service, "count_releases", r#"{"owner": "octo", "repo": "gone"}"#);
        assert_eq!(result, Err(Error::Status { status: 404, said: None }));
    }
}
