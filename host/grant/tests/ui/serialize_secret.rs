fn main() {
    let secret = pinhole_grant::Secret::new("token".to_owned()).unwrap();
    let _json = serde_json::to_string(&secret);
}
