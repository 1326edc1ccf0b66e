//! Its constructor is the spine's.

fn main() {
    let host = pinhole_manifest::ApiHost::parse("api.github.com").unwrap();
    let _permit = pinhole_runtime::net::Permit::new(host);
}
