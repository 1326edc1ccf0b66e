//! The host of a service's tokens has no name any more: nothing is sent, and the pair is as good afterwards as it was before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pinhole_runtime::net::{Looking, Lookup, NetSettings, PinnedClient, Sent};
use pinhole_runtime::outcome::Code;
use pinhole_tests::{HOUR, NOW};

use crate::common::is;
use crate::renewals::{granted, run, staged};

/// A resolver that knows no name, and counts who asks.
#[derive(Debug, Clone, Default)]
struct Nameless(Arc<AtomicUsize>);

impl Lookup for Nameless {
    fn lookup(&self, name: &str) -> Looking {
        assert_eq!(name, "api.thing.dev");
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

#[tokio::test]
async fn a_token_host_without_a_name_costs_no_pair_however_long_that_lasts() {
    let (mut stage, provider) = staged().await;
    let names = Nameless::default();
    stage.executor.wire =
        Arc::new(PinnedClient::with_lookup(NetSettings::default(), Arc::new(names.clone())).unwrap());
    let grant = granted(&stage, &provider, Some(0));
    let grant = grant.scoped(|scope| scope.expires_at = NOW.plus_secs(48 * HOUR)).seal();
    for hour in 0..12 {
        stage.clock.set(2 * HOUR * hour);
        let outcome = run(&stage, &grant).await;
        is(&outcome, Code::RenewalFailed, Sent::No);
        let asked = names.0.load(Ordering::Relaxed);
        // The wait is not over: nobody is asked.
        let wait = outcome.refusal().unwrap().retry_after.unwrap();
        is(&run(&stage, &grant).await, Code::RenewalFailed, Sent::No);
        assert_eq!(names.0.load(Ordering::Relaxed), asked);
        assert!((1..=3600).contains(&wait), "{wait}");
    }
    assert!(names.0.load(Ordering::Relaxed) >= 12);
    assert_eq!((stage.standin.connections(), provider.refreshes(), provider.dead_families()), (0, 0, 0));
}
