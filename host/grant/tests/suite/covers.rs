//! What an opened grant covers, decision by decision.

use std::collections::BTreeMap;

use pinhole_grant::{Caution, Credential, MintRequest, ScopeError, Succession, Target, Where, mint};
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::{Access, ApiHost, ArgName, Digest, ServiceId};
use serde_json::json;

use crate::common::{
    NOW, github, host, manifest, member, minted, oauth_parts, op, ops, read_scope, request, rng, write_scope,
};
use crate::mint::action;
use crate::open::{approval, open_at};

struct Call {
    service: ServiceId,
    op: &'static str,
    access: Access,
    manifest: Digest,
    host: ApiHost,
    succession: Succession,
}

fn read_call() -> Call {
    Call {
        service: github(),
        op: "list_issues",
        access: Access::Read,
        manifest: manifest(),
        host: host(),
        succession: Succession::Reviewed,
    }
}

fn write_call() -> Call {
    Call { op: "create_issue", access: Access::Write, ..read_call() }
}

fn check(request: &MintRequest, call: &Call) -> Result<(), ScopeError> {
    let Call { service, op: name, access, manifest, host, succession } = call;
    let target = Target {
        service,
        op: &op(name),
        access: *access,
        manifest: *manifest,
        host,
        token_url: None,
        succession: *succession,
    };
    open_at(&minted(request), NOW).unwrap().check_op(&target)
}

#[test]
fn a_grant_covers_its_service_host_access_and_ops() {
    let read = request(read_scope());
    assert_eq!(check(&read, &read_call()), Ok(()));
    let other_service = ServiceId::parse("gitlab").unwrap();
    assert_eq!(check(&read, &Call { service: other_service, ..read_call() }), Err(ScopeError::WrongService));
    let other_host = ApiHost::parse("api.github.io").unwrap();
    assert_eq!(check(&read, &Call { host: other_host, ..read_call() }), Err(ScopeError::HostChanged));
    assert_eq!(check(&read, &write_call()), Err(ScopeError::ReadOnly));
    assert_eq!(check(&request(write_scope()), &write_call()), Ok(()));
    assert_eq!(check(&request(write_scope()), &read_call()), Ok(()));
    let listed = request(read_scope().with_ops(ops(&["get_repo"])));
    assert_eq!(check(&listed, &read_call()), Err(ScopeError::OutOfScope { op: op("list_issues") }));
    assert_eq!(check(&listed, &Call { op: "get_repo", ..read_call() }), Ok(()));
}

#[test]
fn a_later_manifest_is_covered_for_listed_reads_alone() {
    let later = Digest::of(b"a later manifest");
    let read = || Call { manifest: later, ..read_call() };
    let write = || Call { manifest: later, ..write_call() };
    assert_eq!(check(&request(read_scope()), &read()), Err(ScopeError::ManifestChanged));
    assert_eq!(check(&request(read_scope().with_ops(ops(&["list_issues"]))), &read()), Ok(()));
    let listed = request(write_scope().with_ops(ops(&["list_issues", "create_issue"])));
    assert_eq!(check(&listed, &write()), Err(ScopeError::ManifestChanged));
    assert_eq!(check(&listed, &read()), Ok(()));
    let unreviewed = Call { succession: Succession::Unreviewed, ..read() };
    assert_eq!(check(&listed, &unreviewed), Err(ScopeError::ManifestChanged));
    // What is proven to be no wider is covered as it was, and no further.
    for grant in [read_scope(), write_scope()] {
        assert_eq!(check(&request(grant), &Call { succession: Succession::Narrower, ..read() }), Ok(()));
    }
    assert_eq!(check(&listed, &Call { succession: Succession::Narrower, ..write() }), Ok(()));
    let unlisted = Call { succession: Succession::Narrower, op: "get_viewer", ..read() };
    assert_eq!(check(&listed, &unlisted), Err(ScopeError::OutOfScope { op: op("get_viewer") }));
    let owner = BTreeMap::from([(ArgName::parse("owner").unwrap(), vec![json!("me")])]);
    let narrowed = read_scope().with_ops(ops(&["list_issues"])).with_where(Where::new(owner).unwrap());
    assert_eq!(check(&request(narrowed.clone()), &read()), Err(ScopeError::ManifestChanged));
    assert_eq!(check(&request(narrowed), &read_call()), Ok(()));
}

#[test]
fn a_token_url_that_changed_is_a_host_that_changed() {
    let oauth = Credential::new(oauth_parts()).unwrap();
    let sealed = mint(&request(read_scope()), &oauth, &member(), NOW, &mut rng(6)).unwrap();
    let opened = open_at(sealed.as_bytes(), NOW).unwrap();
    let (service, op, host) = (github(), op("list_issues"), host());
    let elsewhere = HttpsUrl::parse("https://evil.com/token").unwrap();
    for (token_url, expected) in [
        (oauth.token_url(), Ok(())),
        (Some(&elsewhere), Err(ScopeError::HostChanged)),
        (None, Err(ScopeError::HostChanged)),
    ] {
        let (access, manifest) = (Access::Read, manifest());
        let target = Target {
            service: &service,
            op: &op,
            access,
            manifest,
            host: &host,
            token_url,
            succession: Succession::Reviewed,
        };
        assert_eq!(opened.check_op(&target), expected);
    }
}

#[test]
fn an_approval_runs_the_one_action_and_no_other() {
    let other = serde_json::from_value(json!(Digest::of(b"another action"))).unwrap();
    let approval = open_at(&minted(&approval()), NOW).unwrap();
    for caution in [Caution::Ordinary, Caution::NeedsApproval] {
        assert_eq!(approval.check_approval(caution, action()), Ok(()));
        assert_eq!(approval.check_approval(caution, other), Err(ScopeError::WrongAction));
    }
    let plain = open_at(&minted(&request(write_scope())), NOW).unwrap();
    assert_eq!(plain.check_approval(Caution::Ordinary, action()), Ok(()));
    assert_eq!(plain.check_approval(Caution::NeedsApproval, action()), Err(ScopeError::NeedsApproval));
    assert_eq!(plain.check_use(2), Ok(()));
    assert_eq!(plain.check_use(3), Err(ScopeError::UsedUp));
    assert_eq!(plain.check_use(u32::MAX), Err(ScopeError::UsedUp));
}
