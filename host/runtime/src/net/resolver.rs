//! From the pinned name to the addresses that are dialled, through the guard.
//!
//! Refuses every name but the pinned one and every answer that the guard refuses. INVARIANT: what [`resolve`] returns is
//! exactly what the guard saw, or exactly what the operator said. DESIGN, "Pinned client".
//!
//! [`resolve`]: reqwest::dns::Resolve::resolve

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use pinhole_manifest::ApiHost;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::guard::{self, Refused};

/// The one port that is dialled.
pub(super) const PORT: u16 = 443;

/// The addresses of a name, or why there are none.
pub type Looking = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Asks for the addresses of a name. A trait for embedders with a resolver of their own, and for tests. It is not trusted:
/// whatever it answers passes the same guard as the system's answers do.
pub trait Lookup: Send + Sync {
    /// The addresses of `name`, which is absolute, without a dot at its end.
    fn lookup(&self, name: &str) -> Looking;
}

/// The system's resolver.
pub(super) struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> Looking {
        // The dot keeps the search list of the local network out of it: `api.example.com.corp` is another name.
        let absolute = format!("{name}.");
        Box::pin(async move {
            Ok(tokio::net::lookup_host((absolute, PORT)).await?.map(|socket| socket.ip()).collect())
        })
    }
}

/// Where a host's connections go.
#[derive(Clone)]
pub(super) enum Route {
    /// Exactly here: the operator said so.
    Override(SocketAddr),
    /// To any address of a guarded answer, on [`PORT`].
    Lookup(Arc<dyn Lookup>),
}

/// Why a name gave nothing to dial.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResolveError {
    #[error("asked for another name than the pinned one")]
    NotPinned,
    #[error("the name could not be looked up")]
    Lookup(#[source] io::Error),
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The resolver of one pinned host.
pub(super) struct PinnedResolver {
    pub(super) host: ApiHost,
    pub(super) route: Route,
}

impl Resolve for PinnedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let asked = name.as_str() == self.host.as_str();
        let (host, route) = (self.host.clone(), self.route.clone());
        Box::pin(async move {
            if !asked {
                return Err(ResolveError::NotPinned.into());
            }
            Ok(addresses(&host, &route).await?)
        })
    }
}

async fn addresses(host: &ApiHost, route: &Route) -> Result<Addrs, ResolveError> {
    let lookup = match route {
        Route::Override(socket) => return Ok(Box::new(std::iter::once(*socket))),
        Route::Lookup(lookup) => lookup,
    };
    let answer = lookup.lookup(host.as_str()).await.map_err(ResolveError::Lookup)?;
    guard::check_answer(&answer)?;
    Ok(Box::new(answer.into_iter().map(|address| SocketAddr::new(address, PORT))))
}
