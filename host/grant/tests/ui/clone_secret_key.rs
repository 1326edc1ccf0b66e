fn copy(key: &pinhole_grant::SecretKey) -> pinhole_grant::SecretKey {
    Clone::clone(key)
}

fn main() {
    let _copy = copy;
}
