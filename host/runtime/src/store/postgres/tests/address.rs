//! Addresses: what is private in them shows nowhere, and no password goes over a network that others can read.

use super::{PostgresAddress, PostgresStore};
use crate::store::{AddressError, ServerError, StoreError};

fn parsed(url: &str) -> PostgresAddress {
    PostgresAddress::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
}

#[test]
fn a_password_is_shown_nowhere() {
    let here = ["localhost", "127.0.0.1", "[::1]", "localhost:1"];
    for host in here.into_iter().chain(["db.example.org"]) {
        let address = parsed(&format!("postgres://wren:Se%40cret@{host}/pinhole?options=-c%20a%3DSe%40cret"));
        assert!(address.has_password());
        assert!(![format!("{address}"), format!("{address:?}")].iter().any(|shown| shown.contains("cret")));
    }
    assert!(!parsed("postgres://wren@/pinhole?host=/run/postgresql").has_password());
    // Nobody listens there.
    let error = PostgresStore::open(&parsed("postgres://wren:Secret@127.0.0.1:1/pinhole")).unwrap_err();
    assert!(matches!(error, StoreError::Server(ServerError::Unreachable { .. })));
    let mut shown = format!("{error:?}{error}{}", error.hint());
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(&error);
    while let Some(error) = cause {
        shown = format!("{shown}{error:?}{error}");
        cause = error.source();
    }
    assert!(!shown.contains("Secret") && shown.contains("127.0.0.1:1/pinhole"), "{shown}");
}

#[test]
fn a_text_that_is_no_address_is_not_repeated() {
    let texts = [
        "",
        "host=localhost user=wren password=Secret",
        "mysql://wren:Secret@localhost/pinhole",
        "postgres://wren:Secret@localhost:x/pinhole",
        "postgres://wren:Secret@localhost/pinhole?sslmode=verify-full",
        "postgres://wren:Secret@localhost/pinhole?unknown=Secret",
        "postgres://wren:Secret@/pinhole",
        "postgres://localhost/pinhole?password=Secret",
    ];
    for text in texts {
        let error = PostgresAddress::parse(text).unwrap_err();
        assert!(!format!("{error}{error:?}{}", error.hint()).contains("cret"), "{text}: {error}");
    }
}

#[test]
fn the_way_to_another_machine_is_encrypted() {
    use tokio_postgres::config::SslMode;
    let mode = |url: &str| parsed(url).config().get_ssl_mode();
    for here in ["localhost", "127.0.0.9", "[::1]"] {
        assert_eq!(mode(&format!("postgres://wren@{here}/p")), SslMode::Disable, "{here}");
        assert_eq!(mode(&format!("postgres://wren@{here}/p?sslmode=require")), SslMode::Require, "{here}");
    }
    assert_eq!(mode("postgres://wren@/p?host=/run/postgresql"), SslMode::Disable);
    let elsewhere = ["db.example.org", "10.0.0.1", "localhost.example.org", "localhost,db.example.org"];
    for elsewhere in elsewhere {
        assert_eq!(mode(&format!("postgres://wren@{elsewhere}/p")), SslMode::Require, "{elsewhere}");
        assert_eq!(mode(&format!("postgres://wren@{elsewhere}/p?sslmode=prefer")), SslMode::Require);
        let refused = PostgresAddress::parse(&format!("postgres://wren@{elsewhere}/p?sslmode=disable"));
        assert!(matches!(refused, Err(AddressError::NotEncrypted { .. })), "{elsewhere}");
    }
    // What is dialled counts, whatever it is called.
    assert_eq!(mode("postgres://wren@localhost/p?hostaddr=10.0.0.1"), SslMode::Require);
    assert_eq!(mode("postgres://wren@db.example.org/p?hostaddr=127.0.0.1"), SslMode::Disable);
}

#[test]
fn what_is_no_certificate_is_none() {
    let address = parsed("postgres://wren@db.example.org/p");
    for pem in ["", "text", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let refused = address.clone().trusting(pem.as_bytes());
        assert!(matches!(refused, Err(AddressError::NoCertificate)), "{pem}");
    }
}
