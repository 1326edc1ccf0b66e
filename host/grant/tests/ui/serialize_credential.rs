fn leak(credential: &pinhole_grant::Credential) -> String {
    serde_json::to_string(credential).unwrap()
}

fn main() {
    let _leak = leak;
}
