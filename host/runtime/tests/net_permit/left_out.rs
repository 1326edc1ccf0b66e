//! Nothing is sent without one.

use pinhole_runtime::net::{Outgoing, PinnedClient, Wire, WireLimits};

fn send(client: &PinnedClient, request: Outgoing, limits: WireLimits) {
    drop(client.exchange(request, limits));
}

fn main() {}
