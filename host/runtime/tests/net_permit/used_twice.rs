//! One permit, one exchange.

use pinhole_runtime::net::{Outgoing, Permit, PinnedClient, Wire, WireLimits};

fn twice(client: &PinnedClient, permit: Permit, requests: [Outgoing; 2], limits: WireLimits) {
    let [first, second] = requests;
    drop(client.exchange(permit, first, limits));
    drop(client.exchange(permit, second, limits));
}

fn main() {}
