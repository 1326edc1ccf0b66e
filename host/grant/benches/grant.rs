//! What a grant costs: to mint, to open, and to be refused. DESIGN, "Measures to hold": opening under 200 µs.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up has nothing to say")]

use criterion::{Criterion, criterion_group, criterion_main};
use pinhole_grant::{
    Account, Credential, CredentialId, CredentialKind, CredentialParts, Dial, KeyKind, Label, MintRequest,
    Scope, Secret, SecretKey, SourceName, UnixTime, mint, open,
};
use pinhole_manifest::{Access, ApiHost, Digest, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

fn grants(criterion: &mut Criterion) {
    let mut rng = StdRng::seed_from_u64(1);
    let now = UnixTime::from_secs(1_800_000_000);
    let member = SecretKey::generate(KeyKind::Member, &mut rng);
    let bot = SecretKey::generate(KeyKind::Bot, &mut rng);
    let other = SecretKey::generate(KeyKind::Bot, &mut rng);
    let credential = Credential::new(CredentialParts {
        id: CredentialId::random(&mut rng),
        service: ServiceId::parse("github").unwrap(),
        label: Label::parse("work").unwrap(),
        account: Account::parse("octocat").unwrap(),
        host: ApiHost::parse("api.github.com").unwrap(),
        token_url: None,
        registry: SourceName::parse("compiled-in").unwrap(),
        kind: CredentialKind::Pat,
        secret: Secret::new("ghp_0123456789abcdefghijklmnopqrstuvwxyz".to_owned()).unwrap(),
        refresh: None,
        expires_at: None,
        renewer: None,
        cap: Access::Read,
        dial: Dial::Real,
    })
    .unwrap();
    let scope = Scope::new(Access::Read, now, now.plus_secs(3600));
    let request = MintRequest::new(bot.public().clone(), Digest::of(b"manifest"), scope)
        .returning_to(member.public().clone());
    let issuers = [member.public().clone()];
    let sealed = mint(&request, &credential, &member, now, &mut rng).unwrap();

    let mut group = criterion.benchmark_group("grant");
    group.bench_function("mint", |bencher| {
        bencher.iter(|| mint(&request, &credential, &member, now, &mut rng).unwrap());
    });
    group.bench_function("open", |bencher| {
        bencher.iter(|| open(sealed.as_bytes(), &bot, &issuers, now).unwrap());
    });
    group.bench_function("refuse another bot's", |bencher| {
        bencher.iter(|| open(sealed.as_bytes(), &other, &issuers, now).unwrap_err());
    });
    group.finish();
}

criterion_group!(benches, grants);
criterion_main!(benches);
