//! A permit is not copied.

use pinhole_runtime::net::Permit;

fn copy(permit: &Permit) -> Permit {
    Permit::clone(permit)
}

fn main() {}
