//! The four roles of a registry. TUF specification 1.0, section 2.1.

use std::fmt;

use tough::schema::RoleType;

/// A role of the registry, by the file that its keys sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleName {
    /// Says who signs what. Its keys are kept offline.
    Root,
    /// Says which manifests and modules there are. Maintainers sign it.
    Targets,
    /// Says which version of the targets is the current one.
    Snapshot,
    /// Says, often anew, which snapshot is the current one.
    Timestamp,
}

impl RoleName {
    /// All of them, in TUF's order.
    pub const ALL: [Self; 4] = [Self::Root, Self::Targets, Self::Snapshot, Self::Timestamp];

    /// Its name in metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Targets => "targets",
            Self::Snapshot => "snapshot",
            Self::Timestamp => "timestamp",
        }
    }

    /// Reads the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// The name of its file, without a version.
    pub fn file(self) -> &'static str {
        match self {
            Self::Root => "root.json",
            Self::Targets => "targets.json",
            Self::Snapshot => "snapshot.json",
            Self::Timestamp => "timestamp.json",
        }
    }

    /// Most bytes of its file that a host takes.
    pub fn bytes_max(self) -> u64 {
        match self {
            Self::Root => 512 << 10,
            Self::Targets => 8 << 20,
            Self::Snapshot => 1 << 20,
            Self::Timestamp => 16 << 10,
        }
    }

    pub(crate) fn to_tuf(self) -> RoleType {
        match self {
            Self::Root => RoleType::Root,
            Self::Targets => RoleType::Targets,
            Self::Snapshot => RoleType::Snapshot,
            Self::Timestamp => RoleType::Timestamp,
        }
    }

    pub(crate) fn of(role: RoleType) -> Self {
        match role {
            RoleType::Root => Self::Root,
            RoleType::Timestamp => Self::Timestamp,
            RoleType::Snapshot => Self::Snapshot,
            RoleType::Targets | RoleType::DelegatedTargets => Self::Targets,
        }
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
