fn leak(key: &pinhole_grant::SecretKey) -> String {
    serde_json::to_string(key).unwrap()
}

fn main() {
    let _leak = leak;
}
