//! Which manifest a service has, and which takes the place of which.

use std::sync::Arc;

use pinhole_grant::UnixTime;
use pinhole_manifest::Digest;

use super::*;

fn github() -> ServiceId {
    ServiceId::parse("github").unwrap()
}

fn signed(manifest: &[u8]) -> Signed {
    Signed {
        service: github(),
        manifest: manifest.to_vec(),
        registry: SourceName::parse("acme.0011223344556677").unwrap(),
        modules: ModuleFiles::None,
        kept: Kept { expires: UnixTime::from_secs(0), earlier: Arc::new(Nothing) },
    }
}

#[derive(Debug)]
struct Nothing;

impl Earlier for Nothing {
    fn manifest(&self, _digest: Digest) -> Option<Vec<u8>> {
        None
    }
}

#[test]
fn every_manifest_of_the_binary_loads() {
    let catalog = Catalog::built_in().unwrap();
    assert_eq!(catalog.iter().count(), BUILT_IN.len());
    assert!(catalog.iter().all(|entry| entry.source == Source::BuiltIn));
}

#[test]
fn a_manifest_of_the_binary_that_is_not_as_built_is_not_taken() {
    let mut one = *BuiltIn::of("github").unwrap();
    assert!(one.service().is_some());
    one.sha256[0] ^= 1;
    assert!(one.service().is_none());
}

#[test]
fn a_signed_manifest_stands_for_the_one_of_the_binary_and_for_no_other() {
    let bytes = BuiltIn::of("github").unwrap().manifest;
    let mut catalog = Catalog::built_in().unwrap();
    catalog.add_signed(signed(bytes)).unwrap();
    assert_eq!(catalog.look(&github()).unwrap().source.name(), "acme.0011223344556677");
    assert!(matches!(catalog.add_signed(signed(bytes)), Err(CatalogError::Taken(_))));

    let mut catalog = Catalog::default();
    catalog.add(bytes, Source::UnsignedFile).unwrap();
    assert!(matches!(catalog.add_signed(signed(bytes)), Err(CatalogError::Taken(_))));
}

#[test]
fn a_signed_manifest_of_another_service_or_of_none_is_missing() {
    for bytes in [BuiltIn::of("stripe").unwrap().manifest, b"{}"] {
        let mut catalog = Catalog::default();
        catalog.add_signed(signed(bytes)).unwrap();
        assert!(matches!(catalog.look(&github()), Err(Missing::Invalid)));
    }
}
