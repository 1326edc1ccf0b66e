//! Who is at a door, and how far they reach.
//!
//! INVARIANT: a reach only ever narrows. What is outside of it neither shows nor runs.

use std::collections::BTreeSet;

use pinhole_grant::PrincipalId;
use pinhole_manifest::{Access, ServiceId};

/// Who makes calls: the holder of a bearer token, or whoever started this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    id: Option<PrincipalId>,
    reach: Reach,
}

impl Principal {
    /// Whoever started this process: its stdin and stdout are theirs.
    pub fn host() -> Self {
        Self { id: None, reach: Reach::default() }
    }

    /// The holder of a token.
    pub fn holder(id: PrincipalId, reach: Reach) -> Self {
        Self { id: Some(id), reach }
    }

    /// What tells them from others; `None` for the host itself.
    pub fn id(&self) -> Option<PrincipalId> {
        self.id
    }

    /// How far they reach.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }
}

/// Which ops somebody may see and call, of those that a connection's cap allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    reads: bool,
    writes: bool,
    services: Option<BTreeSet<ServiceId>>,
}

/// Everything that the connections allow.
impl Default for Reach {
    fn default() -> Self {
        Self { reads: true, writes: true, services: None }
    }
}

impl Reach {
    /// Only ops of one of these accesses.
    #[must_use]
    pub fn only(self, accesses: &[Access]) -> Self {
        Self {
            reads: self.reads && accesses.contains(&Access::Read),
            writes: self.writes && accesses.contains(&Access::Write),
            ..self
        }
    }

    /// Only ops of these services.
    #[must_use]
    pub fn of(self, services: impl IntoIterator<Item = ServiceId>) -> Self {
        let mut services: BTreeSet<ServiceId> = services.into_iter().collect();
        if let Some(before) = self.services {
            services.retain(|service| before.contains(service));
        }
        Self { services: Some(services), ..self }
    }

    /// Whether ops of this access of this service are within it.
    pub fn covers(&self, service: &ServiceId, access: Access) -> bool {
        self.covers_access(access) && self.services.as_ref().is_none_or(|services| services.contains(service))
    }

    /// Whether ops of this access of any service are within it.
    pub fn covers_access(&self, access: Access) -> bool {
        match access {
            Access::Read => self.reads,
            Access::Write => self.writes,
        }
    }

    /// Whether nothing at all is within it.
    pub fn is_nothing(&self) -> bool {
        !(self.reads || self.writes) || self.services.as_ref().is_some_and(BTreeSet::is_empty)
    }

    /// What both cover.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let accesses: Vec<Access> =
            [Access::Read, Access::Write].into_iter().filter(|access| other.covers_access(*access)).collect();
        let narrowed = self.only(&accesses);
        match &other.services {
            None => narrowed,
            Some(services) => narrowed.of(services.iter().cloned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reach_only_narrows() {
        let [github, stripe] = ["github", "stripe"].map(|id| ServiceId::parse(id).unwrap());
        let reads = Reach::default().only(&[Access::Read]);
        assert!(reads.covers(&github, Access::Read) && !reads.covers(&github, Access::Write));
        let again = reads.clone().only(&[Access::Read, Access::Write]);
        assert_eq!(again, reads);
        let both = Reach::default().of([github.clone(), stripe.clone()]);
        let one = both.of([stripe.clone()]);
        assert!(one.covers(&stripe, Access::Write) && !one.covers(&github, Access::Read));
        assert!(!one.clone().of([github.clone()]).covers(&github, Access::Read));
        let and = one.and(&reads);
        assert!(and.covers(&stripe, Access::Read) && !and.covers(&stripe, Access::Write));
        assert!(!and.covers(&github, Access::Read));
        assert!(!Reach::default().only(&[]).covers_access(Access::Read));
        assert!(Reach::default().only(&[]).is_nothing() && and.clone().of([github]).is_nothing());
        assert!(!and.is_nothing() && !Reach::default().is_nothing());
    }
}
