//! A permit's fields are its own.

fn main() {
    let host = pinhole_manifest::ApiHost::parse("api.github.com").unwrap();
    let _permit = pinhole_runtime::net::Permit { host };
}
