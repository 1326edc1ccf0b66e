fn main() {
    let secret = pinhole_grant::Secret::new("token".to_owned()).unwrap();
    println!("{secret}");
}
