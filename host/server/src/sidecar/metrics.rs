//! What is counted, and the text that says it (Prometheus, text format 0.0.4).
//!
//! INVARIANT: every value of a label is one of a list that is fixed or made of this host's manifests: nothing that a client sends
//! makes a new line, and no id is in one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::queue::Standing;

/// The upper bounds of the histogram, in milliseconds.
const BOUNDS_MS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000, 20_000];

/// Which part of the sidecar a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Route {
    Run,
    Explain,
    Research,
    ResearchCall,
    ResearchEnd,
    Services,
    Tools,
    Receipts,
    Health,
    Metrics,
    OpenApi,
    Other,
}

impl Route {
    /// By the path of a request.
    pub(super) fn of(path: &str) -> Self {
        match path {
            "/v1/run" => Self::Run,
            "/v1/explain" => Self::Explain,
            "/v1/research" => Self::Research,
            "/v1/services" => Self::Services,
            "/v1/tools" => Self::Tools,
            "/v1/receipts" => Self::Receipts,
            "/healthz" => Self::Health,
            "/metrics" => Self::Metrics,
            "/openapi.json" => Self::OpenApi,
            _ => match path.strip_prefix("/v1/research/").map(|rest| rest.split_once('/')) {
                Some(None) => Self::ResearchEnd,
                Some(Some((_id, "call"))) => Self::ResearchCall,
                _ => Self::Other,
            },
        }
    }

    /// Its name.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Explain => "explain",
            Self::Research => "research",
            Self::ResearchCall => "research_call",
            Self::ResearchEnd => "research_end",
            Self::Services => "services",
            Self::Tools => "tools",
            Self::Receipts => "receipts",
            Self::Health => "healthz",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
            Self::Other => "other",
        }
    }
}

/// All counts.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    in_flight: u64,
    /// By route and status; no status where the client went away first.
    requests: BTreeMap<(Route, Option<u16>), u64>,
    times: BTreeMap<Route, Histogram>,
    refusals: BTreeMap<&'static str, u64>,
    rotated: u64,
}

#[derive(Debug, Default)]
struct Histogram {
    /// How many took no longer than each bound, but longer than the one before.
    buckets: [u64; BOUNDS_MS.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    /// A request has come.
    pub(super) fn begun(&self) {
        let mut counts = self.held();
        counts.in_flight = counts.in_flight.saturating_add(1);
    }

    /// It is over.
    pub(super) fn ended(&self, route: Route, status: Option<u16>, taken: Duration) {
        let mut counts = self.held();
        counts.in_flight = counts.in_flight.saturating_sub(1);
        let requests = counts.requests.entry((route, status)).or_default();
        *requests = requests.saturating_add(1);
        counts.times.entry(route).or_default().add(taken);
    }

    /// Something was refused, with one of the codes that there are.
    pub(super) fn refusal(&self, code: &'static str) {
        let mut counts = self.held();
        let refusals = counts.refusals.entry(code).or_default();
        *refusals = refusals.saturating_add(1);
    }

    /// A call brought a renewed key back, for its member.
    pub(super) fn rotated(&self) {
        let mut counts = self.held();
        counts.rotated = counts.rotated.saturating_add(1);
    }

    /// All of it as text. `queues` is how services stand now.
    pub(super) fn text(&self, queues: &[Standing]) -> String {
        let mut text = Text::default();
        let counts = self.held();
        text.family("pinhole_requests_in_flight", "gauge", "Requests that are being answered.");
        text.line("pinhole_requests_in_flight", "", counts.in_flight);
        text.family("pinhole_requests_total", "counter", "Requests, by route and status of the answer.");
        for ((route, status), count) in &counts.requests {
            let status = status.map_or_else(|| "gone".to_owned(), |status| status.to_string());
            let labels = format!("route=\"{}\",code=\"{status}\"", route.as_str());
            text.line("pinhole_requests_total", &labels, count);
        }
        let name = "pinhole_request_duration_seconds";
        text.family(name, "histogram", "How long requests took, their waiting included.");
        for (route, times) in &counts.times {
            times.write(&mut text, name, route.as_str());
        }
        text.family("pinhole_refusals_total", "counter", "What was refused, by code.");
        for (code, count) in &counts.refusals {
            text.line("pinhole_refusals_total", &format!("code=\"{code}\""), count);
        }
        text.family("pinhole_rotated_total", "counter", "Outcomes that brought a renewed key back.");
        text.line("pinhole_rotated_total", "", counts.rotated);
        drop(counts);
        text.family("pinhole_calls_running", "gauge", "Calls that run, by service.");
        for standing in queues {
            text.line("pinhole_calls_running", &of(standing), standing.running);
        }
        text.family("pinhole_calls_waiting", "gauge", "Calls that wait for their turn, by service.");
        for standing in queues {
            text.line("pinhole_calls_waiting", &of(standing), standing.waiting);
        }
        text.0
    }

    /// Each change is one step, so what a thread left behind when it panicked is whole.
    fn held(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A service that this host knows, or the word for all others.
fn of(standing: &Standing) -> String {
    let service = standing.lane.as_ref().map_or("unknown", |service| service.as_str());
    format!("service=\"{service}\"")
}

impl Histogram {
    fn add(&mut self, taken: Duration) {
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(taken);
        let at = BOUNDS_MS.iter().position(|bound| taken <= Duration::from_millis(*bound));
        if let Some(bucket) = at.and_then(|at| self.buckets.get_mut(at)) {
            *bucket = bucket.saturating_add(1);
        }
    }

    fn write(&self, text: &mut Text, name: &str, route: &str) {
        let mut below = 0_u64;
        for (bound, count) in BOUNDS_MS.iter().zip(&self.buckets) {
            below = below.saturating_add(*count);
            let seconds = Duration::from_millis(*bound).as_secs_f64();
            text.line(&format!("{name}_bucket"), &format!("route=\"{route}\",le=\"{seconds}\""), below);
        }
        text.line(&format!("{name}_bucket"), &format!("route=\"{route}\",le=\"+Inf\""), self.count);
        text.line(&format!("{name}_sum"), &format!("route=\"{route}\""), self.sum.as_secs_f64());
        text.line(&format!("{name}_count"), &format!("route=\"{route}\""), self.count);
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a text does not fail.
        write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n").unwrap_or_default();
    }

    fn line(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        writeln!(self.0, "{name}{labels} {value}").unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use pinhole_manifest::ServiceId;

    use super::*;

    #[test]
    fn buckets_add_up_and_every_line_is_of_its_family() {
        let metrics = Metrics::default();
        for ms in [1, 2, 3, 100, 60_000] {
            metrics.begun();
            metrics.ended(Route::Run, Some(200), Duration::from_millis(ms));
        }
        metrics.begun();
        metrics.ended(Route::of("/whatever"), None, Duration::ZERO);
        metrics.begun();
        metrics.refusal("busy");
        metrics.rotated();
        let github = Some(ServiceId::parse("github").unwrap());
        let text = metrics.text(&[
            Standing { lane: None, running: 1, waiting: 0 },
            Standing { lane: github, running: 2, waiting: 3 },
        ]);
        for line in [
            "pinhole_requests_in_flight 1",
            "pinhole_requests_total{route=\"run\",code=\"200\"} 5",
            "pinhole_requests_total{route=\"other\",code=\"gone\"} 1",
            "pinhole_request_duration_seconds_bucket{route=\"run\",le=\"0.001\"} 1",
            "pinhole_request_duration_seconds_bucket{route=\"run\",le=\"0.005\"} 3",
            "pinhole_request_duration_seconds_bucket{route=\"run\",le=\"0.1\"} 4",
            "pinhole_request_duration_seconds_bucket{route=\"run\",le=\"20\"} 4",
            "pinhole_request_duration_seconds_bucket{route=\"run\",le=\"+Inf\"} 5",
            "pinhole_request_duration_seconds_count{route=\"run\"} 5",
            "pinhole_request_duration_seconds_sum{route=\"run\"} 60.106",
            "pinhole_refusals_total{code=\"busy\"} 1",
            "pinhole_rotated_total 1",
            "pinhole_calls_running{service=\"unknown\"} 1",
            "pinhole_calls_waiting{service=\"github\"} 3",
        ] {
            assert!(text.lines().any(|said| said == line), "{line}\n{text}");
        }
        let mut family = "";
        for line in text.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(said) => family = said.split(' ').next().unwrap(),
                None => assert!(line.starts_with("# HELP") || line.starts_with(family), "{line}"),
            }
        }
    }
}
