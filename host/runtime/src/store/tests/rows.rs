//! Rows, before they are in any store.

use pinhole_grant::{KeyKind, MintRequest, Scope, mint, open};
use pinhole_manifest::{Access, Digest};

use super::{HOUR, NOW, connection, credential, grant_id, key, member, rng, service, somebody_else};
use crate::store::{GrantRow, StoreError, Table};

#[test]
fn a_grant_is_held_against_what_it_seals() {
    let (member_key, bot_key) = (key(KeyKind::Member, 1), key(KeyKind::Bot, 2));
    let credential = credential(7, "work");
    let scope = Scope::new(Access::Read, NOW, NOW.plus_secs(HOUR));
    let request = MintRequest::new(bot_key.public().clone(), Digest::of(b"a manifest"), scope);
    let sealed = mint(&request, &credential, &member_key, NOW, &mut rng(9)).unwrap();
    let row = GrantRow::new(sealed, &request, &credential, member());
    let opened = open(&row.sealed, &bot_key, &[member_key.public().clone()], NOW).unwrap();
    row.check(opened.grant()).unwrap();
    let changed = [
        GrantRow { id: grant_id(1), ..row.clone() },
        GrantRow { member: somebody_else(), ..row.clone() },
        GrantRow { bot: member(), ..row.clone() },
        GrantRow { connection: connection(9, "x").id, ..row.clone() },
        GrantRow { service: service("linear"), ..row.clone() },
        GrantRow { access: Access::Write, ..row.clone() },
        GrantRow { expires_at: NOW, ..row.clone() },
    ];
    for row in changed {
        assert!(
            matches!(row.check(opened.grant()), Err(StoreError::Tampered { table: Table::Grants, .. })),
            "{row:?}"
        );
    }
}
