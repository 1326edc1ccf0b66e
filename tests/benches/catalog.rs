//! What the manifests of the binary cost at start-up: all of them held against the digests of the build, and one or all read.

use criterion::{Criterion, criterion_group, criterion_main};
use pinhole_manifest::ServiceId;
use pinhole_runtime::catalog::{BUILT_IN, Catalog};

fn catalog(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("catalog");
    group.bench_function("held against the build", |timer| timer.iter(|| Catalog::built_in().unwrap()));
    let github = ServiceId::parse("github").unwrap();
    group.bench_function("and one read", |timer| {
        timer.iter(|| Catalog::built_in().unwrap().look(&github).unwrap().manifest.digest());
    });
    group.bench_function("and all read", |timer| {
        timer.iter(|| assert_eq!(Catalog::built_in().unwrap().iter().count(), BUILT_IN.len()));
    });
    group.finish();
}

criterion_group!(benches, catalog);
criterion_main!(benches);
