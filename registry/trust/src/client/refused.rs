//! Why metadata or a target of a registry is not taken over: each attack that TUF knows has a variant of its own.

use jiff::Timestamp as Time;
use pinhole_manifest::visible::visible;

use super::fetch::{FetchError, NotAPath};
use super::role::Malformed;
use crate::RoleName;

/// Whose signatures are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signers {
    /// The keys of the root that is trusted.
    Trusted,
    /// The keys of the new root itself.
    Own,
}

/// Why what a registry offers is refused. What is trusted stays.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// A file could not be had.
    #[error("`{file}` could not be fetched")]
    NotFetched {
        /// Where it is in the registry.
        file: String,
        /// Why.
        source: FetchError,
    },
    /// A file has more bytes than it may have.
    #[error("`{file}` has more than {at_most} bytes")]
    TooLarge {
        /// Where it is in the registry.
        file: String,
        /// Most bytes of it.
        at_most: u64,
    },
    /// A file has not the length that is signed.
    #[error("`{file}` has {found} bytes and not the {expected} that are signed")]
    WrongLength {
        /// Its name.
        file: String,
        /// The signed length, in bytes.
        expected: u64,
        /// Its length, in bytes.
        found: u64,
    },
    /// A file has not the hash that is signed.
    #[error("`{file}` has not the hash that is signed")]
    WrongHash {
        /// Its name.
        file: String,
    },
    /// A file has not the form that it must have.
    #[error("the registry's {role} is malformed")]
    Malformed {
        /// Its role.
        role: RoleName,
        /// What is wrong.
        source: Malformed,
    },
    /// Too few of the right keys have signed.
    #[error("the registry's {role} is not signed by enough of the keys that must sign it")]
    NotSigned {
        /// Its role.
        role: RoleName,
        /// Whose signatures are missing.
        by: Signers,
        /// How many there are.
        source: Box<tough::schema::Error>,
    },
    /// A file has two signatures under one key id.
    #[error("the registry's {role} has two signatures of one key")]
    SignedTwice {
        /// Its role.
        role: RoleName,
    },
    /// A file is not of the version that was to come, or that is listed.
    #[error("the registry's {role} is version {found}, where version {expected} belongs")]
    OtherVersion {
        /// Its role.
        role: RoleName,
        /// The version that was to come.
        expected: u64,
        /// The version that it has.
        found: u64,
    },
    /// More new roots than one refresh takes over.
    #[error("the registry has more than {max} new roots at once; run it again to go on", max = super::refresh::ROOT_UPDATES_MAX)]
    TooManyRoots,
    /// The registry offers what is older than what is trusted.
    #[error("the registry offers {role} version {offered}, older than version {trusted} that is trusted")]
    Rollback {
        /// The role.
        role: RoleName,
        /// The version that is trusted.
        trusted: u64,
        /// The version that is offered.
        offered: u64,
    },
    /// A role that the trusted snapshot lists is not listed any more.
    #[error("the registry's snapshot no longer lists `{file}`", file = visible(.file))]
    NoLongerListed {
        /// The file.
        file: String,
    },
    /// Two texts under one version.
    #[error("the registry says two different things under {role} version {version}")]
    Equivocation {
        /// The role.
        role: RoleName,
        /// The version.
        version: u64,
    },
    /// A role has expired: nobody has signed anew, or somebody keeps the new from this host.
    #[error(
        "the registry's {role} has expired ({since}); ask its maintainer, and look at this machine's clock"
    )]
    Expired {
        /// The role.
        role: RoleName,
        /// When.
        since: Time,
    },
    /// The registry delegates, which a registry of manifests does not.
    #[error("the registry delegates targets to other keys, which a registry of manifests must not")]
    Delegations,
    /// A target's name is none that a registry of manifests has.
    #[error("the registry has a target `{name}`: {source}", name = visible(.name))]
    TargetName {
        /// The name.
        name: String,
        /// What it should be.
        source: crate::names::NotHeld,
    },
    /// The registry has more targets than are taken.
    #[error("the registry has more than {at_most} targets")]
    TooManyTargets {
        /// Most targets of a registry.
        at_most: usize,
    },
    /// There is no such target.
    #[error("the registry has no target `{name}`", name = visible(.name))]
    NoTarget {
        /// The name.
        name: String,
    },
    /// A name leads out of the registry.
    #[error(transparent)]
    Path(#[from] NotAPath),
    /// There is no metadata to go on from.
    #[error("nothing of the registry is trusted yet but its root; sync it first")]
    Incomplete,
}
