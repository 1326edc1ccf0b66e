fn forge(grant: pinhole_grant::Grant) -> pinhole_grant::OpenedGrant {
    pinhole_grant::OpenedGrant { grant }
}

fn main() {
    let _forge = forge;
}
