//! Where a browser brings the person back to who said yes at a service: one path on loopback, for one answer.
//!
//! It does not know what an answer is: whoever waits says of each request whether it is the one. What is not it, whoever
//! sends it, neither ends the wait nor learns anything. INVARIANT: it listens on 127.0.0.1 alone, answers to loopback names
//! alone, and nothing of a request is shown or logged. RFC 8252, sections 7.3 and 8.3.

#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use http::header::{CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderValue, Method, StatusCode};
use pinhole_runtime::clock::Timer;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

use crate::http::{Draining, Front, HttpLimits, HttpSettings, ListenError, PageHeaders, keep_private, serve};

/// The one path.
pub const PATH: &str = "/callback";
/// How long the last page may take to reach the browser.
const DRAIN: Duration = Duration::from_secs(2);
/// Most requests that wait to be looked at.
const WAITING_MAX: usize = 8;

const CLOSE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Pinhole</title>\
    <p>You can close this page.</p></html>\n";
const STRAY: &str = "this is not the answer that is waited for\n";

/// A listener for one answer.
#[derive(Debug)]
pub struct Callback {
    listener: TcpListener,
    bound: SocketAddr,
}

/// Why no answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// It took too long.
    #[error("nobody came back from the service's page in time")]
    TooLate,
    /// The listener ended.
    #[error("the listener on this machine ended")]
    Ended,
}

type Asked = (Zeroizing<String>, oneshot::Sender<StatusCode>);

impl Callback {
    /// Listens on this port of 127.0.0.1; 0 is any that is free. Some services take one redirect alone, port and all.
    pub async fn listen(port: u16) -> Result<Self, ListenError> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = HttpSettings::default().listen(wanted).await?;
        let bound =
            listener.local_addr().map_err(|source| ListenError::Failed { address: wanted, source })?;
        Ok(Self { listener, bound })
    }

    /// The redirect URI of this listener, exactly as it is to be sent.
    pub fn redirect(&self) -> String {
        format!("http://{}{PATH}", self.bound)
    }

    /// Waits for so long at most. `judge` is handed the query of each request at the path, and says `None` of one that is not
    /// the answer. The browser sees the same page whatever the answer is.
    pub async fn answer<T>(
        self,
        time: Duration,
        timer: Arc<dyn Timer>,
        judge: impl Fn(&str) -> Option<T>,
    ) -> Result<T, NoAnswer> {
        let (asked, mut queries) = mpsc::channel::<Asked>(WAITING_MAX);
        let limits = HttpLimits { drain: DRAIN, connections: 32, ..HttpLimits::default() };
        let settings = Arc::new(HttpSettings::default().with_limits(limits));
        let routes = Router::new().route(PATH, on(MethodFilter::GET, back)).with_state(asked);
        let headers = PageHeaders { sent: &[], seen: &[] };
        let routes = Front::new(settings, self.bound).before(routes, PATH, headers);
        let stop = CancellationToken::new();
        // Whoever stops waiting ends the listener.
        let _stopping = stop.clone().drop_guard();
        let draining =
            Draining { stop: stop.clone(), cut: CancellationToken::new(), tasks: TaskTracker::new() };
        let serving = tokio::spawn(serve(self.listener, routes, limits, Arc::clone(&timer), draining));
        let judged = async {
            while let Some((query, reply)) = queries.recv().await {
                let answer = judge(&query);
                let status = if answer.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
                // A browser that went away meanwhile has brought its answer all the same.
                if reply.send(status).is_err() {
                    tracing::debug!("a browser did not wait for its page");
                }
                if let Some(answer) = answer {
                    return Ok(answer);
                }
            }
            Err(NoAnswer::Ended)
        };
        let answer = tokio::select! {
            answer = judged => answer,
            () = timer.wait(time) => Err(NoAnswer::TooLate),
        };
        // What comes from now on finds nobody.
        queries.close();
        stop.cancel();
        if let Err(error) = serving.await {
            tracing::debug!(%error, "the listener did not end as it should");
        }
        answer
    }
}

/// A request at the path. A prefetch or a look (HEAD) is none.
async fn back(
    method: Method,
    State(asked): State<mpsc::Sender<Asked>>,
    RawQuery(query): RawQuery,
) -> Response {
    let (reply, status) = oneshot::channel();
    let query = Zeroizing::new(query.unwrap_or_default());
    let taken = method == Method::GET && asked.send((query, reply)).await.is_ok();
    let status = if taken { status.await.ok() } else { None };
    page(status.unwrap_or(StatusCode::BAD_REQUEST))
}

fn page(status: StatusCode) -> Response {
    let (kind, text) = match status {
        StatusCode::OK => ("text/html; charset=utf-8", CLOSE),
        _ => ("text/plain; charset=utf-8", STRAY),
    };
    let mut page = Response::new(text.into());
    *page.status_mut() = status;
    let headers = page.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    keep_private(headers);
    // The address holds a code.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    page
}
