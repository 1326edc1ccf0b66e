//! What surrounds every request: its id, its line in the log, its place in the counts.
//!
//! INVARIANT: one line a request, whatever becomes of it, also where its client goes away first; and in it only what this file
//! names: an id, a method, a route, names of services and ops, a code, times. Never an arg, a grant, a token or a header's text.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method};
use pinhole_runtime::net::Sent;

use super::answer::Told;
use super::door::Door;
use super::metrics::Route;

/// What the lines of requests are logged as.
pub const LOG_TARGET: &str = "pinhole::sidecar";

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id that is taken from a client.
const ID_MAX: usize = 64;
const ID_BYTES: usize = 9;

/// Surrounds a request.
pub(super) async fn asked(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let id = given_id(request.headers()).map_or_else(|| made_id(&door), str::to_owned);
    let method = method(request.method());
    let route = Route::of(request.uri().path());
    let line = Line::begin(&door, id.clone(), method, route);
    let mut answer = next.run(request).await;
    line.end(&answer);
    if let Ok(id) = HeaderValue::try_from(id) {
        answer.headers_mut().insert(REQUEST_ID, id);
    }
    answer
}

/// A request that is not over yet.
struct Line<'d> {
    door: &'d Door,
    id: String,
    method: &'static str,
    route: Route,
    begun: Instant,
    ended: Option<(u16, Told)>,
}

impl<'d> Line<'d> {
    fn begin(door: &'d Door, id: String, method: &'static str, route: Route) -> Self {
        door.metrics.begun();
        Self { door, id, method, route, begun: door.timer.now(), ended: None }
    }

    fn end(mut self, answer: &Response) {
        let told = answer.extensions().get::<Told>().cloned().unwrap_or_default();
        self.ended = Some((answer.status().as_u16(), told));
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let taken = self.door.timer.now().saturating_duration_since(self.begun);
        let (status, told) = match self.ended.take() {
            Some((status, told)) => (Some(status), told),
            None => (None, Told::default()),
        };
        self.door.metrics.ended(self.route, status, taken);
        if let Some(code) = told.code {
            self.door.metrics.refusal(code);
        }
        let Self { id, method, route, .. } = self;
        let ms = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
        let status = status.map_or_else(|| "gone".to_owned(), |status| status.to_string());
        let named = |name: Option<String>| name.unwrap_or_else(|| "-".to_owned());
        tracing::info!(
            target: LOG_TARGET,
            request = %id, method, route = route.as_str(), status = %status, ms,
            service = %named(told.service.map(|service| service.to_string())),
            op = %named(told.op.map(|op| op.to_string())),
            code = told.code.unwrap_or("-"),
            sent = told.sent.map_or("-", sent),
            "asked"
        );
    }
}

fn sent(sent: Sent) -> &'static str {
    match sent {
        Sent::No => "no",
        Sent::Maybe => "maybe",
        Sent::Yes => "yes",
    }
}

fn method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// A client's own id, where it is a plain word.
fn given_id(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(REQUEST_ID).iter();
    let (Some(one), None) = (all.next(), all.next()) else { return None };
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let text = one.to_str().ok()?;
    ((1..=ID_MAX).contains(&text.len()) && text.bytes().all(plain)).then_some(text)
}

fn made_id(door: &Door) -> String {
    let mut bytes = [0; ID_BYTES];
    // An id of zeroes says the same as one that nobody could draw.
    door.executor.entropy.fill(&mut bytes).unwrap_or_default();
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_where_it_is_one_plain_word() {
        let id = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(REQUEST_ID, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            given_id(&headers).map(str::to_owned)
        };
        assert_eq!(id(&["a.B-7_c"]).as_deref(), Some("a.B-7_c"));
        for bad in [&[][..], &["a", "b"], &[""], &["a b"], &["a\"b"], &["é"], &[&"a".repeat(65)]] {
            assert_eq!(id(bad), None, "{bad:?}");
        }
    }
}
