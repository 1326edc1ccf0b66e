fn main() {
    let secret = pinhole_grant::Secret::new("token".to_owned()).unwrap();
    let _copy: pinhole_grant::Secret = secret.clone();
}
