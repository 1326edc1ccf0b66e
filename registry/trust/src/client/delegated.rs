//! The search for a target through roles that the targets delegate to (TUF specification 5.6.7), for any repository.
//!
//! Refuses a role whose name is none of a plain file, and a search through too many. A registry of manifests has none of
//! this. INVARIANT: a role's word counts only for names that every delegation on the way to it covers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tough::TargetName;
use tough::schema::{DelegatedRole, Delegations, PathSet, Target, Targets};

use super::refresh::Refresh;
use super::refused::{Refused, Signers};
use super::role::Document;
use super::signatures::counted;
use super::trusted::Trusted;
use crate::RoleName;

/// Most roles that one search looks into.
const ROLES_MAX: usize = 32;

/// Delegated roles that were verified once, by name.
pub(super) type Kept = BTreeMap<String, Document<Targets>>;

/// Looks for a target: in the targets first, then through delegations, depth first, in their order.
pub(super) async fn find(
    refresh: Refresh<'_>,
    trusted: &Trusted,
    kept: &mut Kept,
    name: &str,
) -> Result<Target, Refused> {
    let missing = || Refused::NoTarget { name: name.chars().take(200).collect() };
    let target = TargetName::new(name).map_err(|_unsafe| missing())?;
    let top = trusted.targets.as_ref().ok_or(Refused::Incomplete)?;
    if let Some(found) = in_role(top, name) {
        return Ok(found);
    }
    let mut to_visit = Vec::new();
    let mut visited = BTreeSet::new();
    push(&mut to_visit, top, &target);
    while let Some((role, by)) = to_visit.pop() {
        if visited.len() == ROLES_MAX {
            break;
        }
        if !visited.insert(role.clone()) {
            continue;
        }
        let document = load(refresh, trusted, kept.get(&role), &role, &by).await?;
        let found = in_role(&document, name);
        if found.is_none() {
            push(&mut to_visit, &document, &target);
        }
        kept.insert(role, document);
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(missing())
}

fn in_role(role: &Document<Targets>, name: &str) -> Option<Target> {
    role.role.signed.targets.iter().find(|(target, _)| target.raw() == name).map(|(_, target)| target.clone())
}

/// Puts the roles that a role delegates this name to on top, so that the first is the next. A terminating one ends the
/// search everywhere else.
fn push(to_visit: &mut Vec<(String, Delegations)>, by: &Document<Targets>, target: &TargetName) {
    let Some(delegations) = &by.role.signed.delegations else { return };
    let mut children = Vec::new();
    for role in delegations.roles.iter().filter(|role| covers(role, target)) {
        children.push((role.name.clone(), delegations.clone()));
        if role.terminating {
            to_visit.clear();
            break;
        }
    }
    to_visit.extend(children.into_iter().rev());
}

/// Whether a delegation is for that name. The library lets `*` go over slashes; where a pattern has as many of them as the
/// name, it cannot.
fn covers(role: &DelegatedRole, target: &TargetName) -> bool {
    let slashes = |text: &str| text.matches('/').count();
    let paths = match &role.paths {
        PathSet::Paths(paths) => {
            let same = paths.iter().filter(|path| slashes(path.value()) == slashes(target.raw()));
            PathSet::Paths(same.cloned().collect())
        }
        prefixes @ PathSet::PathHashPrefixes(_) => prefixes.clone(),
    };
    let alone = DelegatedRole { paths, targets: None, ..role.clone() };
    Delegations { keys: HashMap::new(), roles: vec![alone] }.target_is_delegated(target)
}

async fn load(
    refresh: Refresh<'_>,
    trusted: &Trusted,
    have: Option<&Document<Targets>>,
    name: &str,
    by: &Delegations,
) -> Result<Document<Targets>, Refused> {
    let role = RoleName::Targets;
    let signed = |document: &Document<Targets>| {
        by.verify_role(&counted(&by.keys, &document.role), name).map_err(|source| Refused::NotSigned {
            role,
            by: Signers::Trusted,
            source: Box::new(source),
        })
    };
    let snapshot = trusted.snapshot.as_ref().ok_or(Refused::Incomplete)?;
    let listed = snapshot.role.signed.meta.get(&format!("{name}.json"));
    let listed = listed.ok_or_else(|| Refused::NoLongerListed { file: name.chars().take(64).collect() })?;
    if name.contains('/') {
        return Err(Refused::Path(super::fetch::NotAPath::clipped(name)));
    }
    let usable = have.filter(|have| have.is_listed(listed) && signed(have).is_ok());
    let document = if let Some(have) = usable {
        have.clone()
    } else {
        let document = refresh.listed(&trusted.root, listed, role, &format!("{name}.json")).await?;
        signed(&document)?;
        refresh.right_version(&document, listed, role)?;
        document
    };
    refresh.current(&document, role)?;
    Ok(document)
}
