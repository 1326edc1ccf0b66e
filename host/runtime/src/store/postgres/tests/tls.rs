//! The way to a server that is asked for encryption: its certificate is verified, and nothing is sent without.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::harness::Postgres;
use super::{PostgresAddress, PostgresStore};
use crate::store::tests::{grant_id, uses};
use crate::store::{ServerError, Store as _, StoreError};

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

#[test]
fn a_server_that_cannot_prove_its_name_is_told_nothing() {
    let (ours, theirs) = (authority(), authority());
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &ours).unwrap().pem();
    let test = "a_server_that_cannot_prove_its_name";
    let Some(server) = Postgres::start_encrypted(test, [&certificate, &key.serialize_pem()]) else { return };
    let name = server.database();
    let name = name.split(['/', '?']).nth(3).unwrap();
    let address = |host: &str| {
        let url = format!("postgres://pinhole:Secret@{host}:{}/{name}?sslmode=require", server.port());
        PostgresAddress::parse(&url).unwrap()
    };
    let refused = |address: &PostgresAddress| {
        let error = PostgresStore::open(address).unwrap_err();
        assert!(matches!(error, StoreError::Server(ServerError::Unreachable { .. })), "{error:?}");
    };
    let believed = address("localhost").trusting(ours.pem().as_bytes()).unwrap();
    let store = PostgresStore::open(&believed).unwrap();
    store.spend(&grant_id(1), uses(1)).unwrap();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE application_name = 'pinhole'";
    assert_eq!(server.sql(name, encrypted).trim_end(), "t");
    // No public CA knows it, another is not asked, and the name is another.
    refused(&address("localhost"));
    refused(&address("localhost").trusting(theirs.pem().as_bytes()).unwrap());
    refused(&address("127.0.0.1").trusting(ours.pem().as_bytes()).unwrap());
    // A server that offers none is not spoken to in the clear.
    server.sql("postgres", "ALTER SYSTEM SET ssl = off");
    server.stop();
    server.start_again();
    refused(&believed);
}
